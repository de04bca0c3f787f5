//! Prices and starts runs.

use super::Runner;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::annotate::{RunError, RunHandle, RunRequest};
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::judge::JudgeEnsemble;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::tui::message::Msg;
use crate::tui::model::run::RunScope;

/// The usual request, for one query.
fn of_query(usual: &RunRequest, query: QueryKey) -> RunRequest {
    RunRequest {
        queries: Some(vec![query]),
        ..usual.clone()
    }
}

impl Runner {
    /// The judges and the request of a run.
    fn request(&self, scope: &RunScope) -> (JudgeEnsemble, RunRequest) {
        let (all, usual) = (&self.ensemble, &self.options.request);
        match scope {
            RunScope::Project => (all.clone(), usual.clone()),
            RunScope::Query(query) => (all.clone(), of_query(usual, *query)),
            RunScope::Retry(query) => {
                let request = query.map_or_else(|| usual.clone(), |query| of_query(usual, query));
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

    pub(super) fn estimate(&self, scope: &RunScope) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let (ensemble, request) = self.request(scope);
        tokio::task::spawn_blocking(move || {
            let msg = match CostEstimate::of_project(&store, &ensemble, &request) {
                Ok(estimate) => Msg::Estimated(estimate),
                Err(error) => Msg::Failed(error.to_string()),
            };
            drop(results.blocking_send(msg));
        });
    }

    /// Prices a question about a pair; judges that a person has dropped are not asked.
    pub(super) fn price_pair(&self, query: QueryKey, pair: Pair, control: RunControl) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let usual = self.options.request.clone();
        let ensemble: JudgeEnsemble = (0..)
            .zip(&self.ensemble)
            .filter(|(at, _)| !control.dropped.contains(*at))
            .map(|(_, judge)| judge.clone())
            .collect();
        tokio::task::spawn_blocking(move || {
            let priced = PricedQuestion::of(&store, (query, pair), &ensemble, &usual);
            let priced = priced.map(Box::new).map_err(|error| error.to_string());
            drop(results.blocking_send(Msg::PairPriced(query, pair, priced)));
        });
    }

    pub(super) fn start(&mut self, scope: &RunScope, control: RunControl) {
        let (ensemble, request) = self.request(scope);
        let run = RunHandle::start(self.store.clone(), ensemble, request, control);
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
            // Reported on the screen if there is one, or else by whoever waits for the end.
            let told = results.send(Msg::Ended(end)).await.is_ok();
            wrong.filter(|_| !told)
        }));
    }
}
