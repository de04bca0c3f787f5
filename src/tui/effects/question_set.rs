//! Prices and asks picks, and the questions of features.

use super::Runner;
use crate::app::annotate::batch::prepared::PreparedBatches;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::pick::prepared::PreparedPicks;
use crate::app::question_set::{
    PreparedQuestions, QuestionSession, QuestionSet, QuestionSetOutcome, QuestionSetProgress,
};
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::judge_set::JudgeSet;
use crate::judge::{JudgeEnsemble, OFFLINE};
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::TuiOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Interval between progress reports.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Determines the remaining questions of a set.
pub(crate) fn prepare(
    store: &Store,
    ensemble: &JudgeEnsemble,
    options: &TuiOptions,
    set: &QuestionSet,
) -> Result<Box<dyn PreparedQuestions>, AppError> {
    let configuration = JudgeConfiguration {
        project: store.path(),
        config: &options.config,
        insecure_http: false,
        consent: &options.config.permissions,
    };
    let seed = options.request.seed;
    match set {
        QuestionSet::Picks(way) => {
            // The sample makes no paid calls, whatever keys are set.
            let judges: &[String] = if options.sample.is_some() {
                &[OFFLINE.to_owned()]
            } else {
                &[]
            };
            let picks = PreparedPicks::of_project(store, configuration, judges, *way, seed)?;
            Ok(Box::new(picks))
        }
        QuestionSet::Batches(step) => {
            let request = &options.request;
            let batches = PreparedBatches::of_project(store, ensemble, request, *step)?;
            Ok(Box::new(batches))
        }
        QuestionSet::Added(questions, judges) => {
            questions.prepare(store, &configuration, judges, seed)
        }
        QuestionSet::Given(questions) => questions.prepare(store, &configuration, &[], seed),
    }
}

/// Asks the questions while holding the project's lock, making no more calls than were priced.
async fn ask(
    store: &Store,
    (ensemble, options): (JudgeEnsemble, TuiOptions),
    (set, calls): (QuestionSet, usize),
    control: watch::Receiver<RunControl>,
    results: &mpsc::Sender<Msg>,
) -> Result<QuestionSetOutcome, AppError> {
    let project = store.clone();
    let prepared = tokio::task::spawn_blocking(move || {
        let lock = RunLock::take(project.path()).map_err(AppError::failed)?;
        let prepared = prepare(&project, &ensemble, &options, &set)?;
        let now = prepared.price().calls;
        if now > calls {
            Err(invalid!(
                "{now} calls are needed now, but {calls} were confirmed; no judge was asked"
            ))
        } else {
            Ok((lock, prepared))
        }
    });
    let (lock, prepared) = prepared.await.map_err(AppError::failed)??;
    let mut told: Option<Instant> = None;
    let tell = |progress: &QuestionSetProgress| {
        if told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            told = Some(Instant::now());
            drop(results.try_send(Msg::QuestionsProgress(*progress)));
        }
    };
    let session = QuestionSession {
        store,
        lock: Arc::new(lock),
        control,
        tell: Box::new(tell),
    };
    prepared.run(session).await
}

impl Runner {
    pub(super) fn ask_questions(&mut self, set: QuestionSet, calls: usize, control: RunControl) {
        let (store, results) = (self.bench.store().clone(), self.results.clone());
        let judges = (self.bench.ensemble().clone(), self.bench.options().clone());
        let control = RunControl {
            paused: false,
            cancelled: false,
            dropped: JudgeSet::EMPTY,
            ..control
        };
        let (steer, control) = watch::channel(control);
        self.asking = Some(steer);
        let told = tokio::spawn(async move {
            let result = ask(&store, judges, (set, calls), control, &results).await;
            let wrong = result.as_ref().err().map(ToString::to_string);
            let told = results.send(Msg::QuestionsEnded(result)).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }

    pub(super) fn stop_questions(&self) {
        if let Some(steer) = &self.asking {
            steer.send_modify(RunControl::stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Effect;

    #[tokio::test]
    async fn a_budget_that_is_changed_holds_for_questions_and_a_run_that_are_going_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("project.db")).unwrap();
        let (results, _told) = mpsc::channel(1);
        let mut runner = Runner::new(store.clone(), Vec::new(), TuiOptions::default(), results);
        let dropped = RunControl {
            dropped: JudgeSet::one(1),
            ..RunControl::default()
        };
        let (picking, picks) = watch::channel(RunControl::default());
        let (control, run) = watch::channel(dropped);
        (runner.asking, runner.control) = (Some(picking), Some(control));
        runner.carry_out(Effect::KeepBudget(Some(2.5)), RunControl::default());
        let limited = |control| RunControl {
            budget_usd: Some(2.5),
            ..control
        };
        assert_eq!(*picks.borrow(), limited(RunControl::default()));
        assert_eq!(*run.borrow(), limited(dropped));
        runner.finish(std::future::pending(), &mut |_| {}).await;
        let kept = store.read(|db| db.project_budget()).await.unwrap();
        assert_eq!(kept, Some(Some(2.5)), "and it stays in the project");
    }
}
