//! Starts runs.

use super::Runner;
use crate::app::annotate::{RunError, RunHandle, RunRequest};
use crate::client::RunControl;
use crate::judge::JudgeEnsemble;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::tui::message::Msg;
use crate::tui::model::run::RunScope;

/// The usual request, for these queries.
fn of_queries(usual: &RunRequest, queries: Vec<QueryKey>) -> RunRequest {
    RunRequest {
        queries: Some(queries),
        ..usual.clone()
    }
}

/// The judges and the request of a run.
pub(crate) fn run_request(
    scope: &RunScope,
    all: &JudgeEnsemble,
    usual: &RunRequest,
) -> (JudgeEnsemble, RunRequest) {
    match scope {
        RunScope::Project => (all.clone(), usual.clone()),
        RunScope::Query(query) => (all.clone(), of_queries(usual, vec![*query])),
        RunScope::Queries(queries) => (all.clone(), of_queries(usual, queries.clone())),
        RunScope::Retry(query) => {
            let request = match query {
                Some(query) => of_queries(usual, vec![*query]),
                None => usual.clone(),
            };
            let selection = CallSelection::FreshAndFailed;
            let request = RunRequest {
                selection,
                ..request
            };
            (all.clone(), request)
        }
        RunScope::Pair(question) => (question.ensemble(all), question.request(usual)),
    }
}

impl Runner {
    pub(super) fn start(&mut self, scope: &RunScope, control: RunControl) {
        let (ensemble, usual) = (self.bench.ensemble(), &self.bench.options().request);
        let (ensemble, request) = run_request(scope, ensemble, usual);
        let run = RunHandle::start(self.bench.store().clone(), ensemble, request, control);
        self.control = Some(run.control);
        let (mut progress, results) = (run.progress, self.results.clone());
        self.end = Some(tokio::spawn(async move {
            while progress.changed().await.is_ok() {
                let now = progress.borrow_and_update().clone();
                // Nobody is watching any more, but the run continues to its end.
                if results.send(Msg::Progress(now)).await.is_err() {
                    break;
                }
            }
            let end = match run.end.await {
                Ok(end) => end,
                Err(error) => Err(RunError::Crashed(error.to_string())),
            };
            let wrong = end.as_ref().err().map(ToString::to_string);
            // Reported on the screen if there is one, otherwise by the code that waits for the end.
            let told = results.send(Msg::Ended(end)).await.is_ok();
            wrong.filter(|_| !told)
        }));
    }
}
