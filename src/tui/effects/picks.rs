//! Picks are priced and asked for.

use super::Runner;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::pick::prepared::{PickOutcome, PreparedPicks};
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::adjudication::PickMode;
use crate::judge::OFFLINE;
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::TuiOptions;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// How often it is told how far picks are.
const TELL_EVERY: Duration = Duration::from_millis(100);

fn prepare(store: &Store, options: &TuiOptions, way: PickMode) -> Result<PreparedPicks, AppError> {
    let configuration = JudgeConfiguration {
        project: store.path(),
        config: &options.config,
        insecure_http: false,
    };
    // The sample costs nothing, whatever keys are set.
    let judges: &[String] = if options.sample {
        &[OFFLINE.to_owned()]
    } else {
        &[]
    };
    PreparedPicks::of_project(store, configuration, judges, way, options.request.seed)
}

/// Asks, with the lock of the project held, for no more than was priced.
async fn ask(
    store: &Store,
    options: TuiOptions,
    (way, calls): (PickMode, usize),
    control: watch::Receiver<RunControl>,
    results: &mpsc::Sender<Msg>,
) -> Result<PickOutcome, AppError> {
    let project = store.clone();
    let prepared = tokio::task::spawn_blocking(move || {
        let lock = RunLock::take(project.path()).map_err(AppError::failed)?;
        let prepared = prepare(&project, &options, way)?;
        let now = prepared.price().calls;
        match now > calls {
            true => Err(invalid!(
                "there are {now} calls to make now, and {calls} were agreed to; nobody was asked"
            )),
            false => Ok((lock, prepared)),
        }
    });
    let (_lock, prepared) = prepared.await.map_err(AppError::failed)??;
    let mut told: Option<Instant> = None;
    let tell = |progress: &crate::app::pick::PickProgress| {
        if told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            told = Some(Instant::now());
            drop(results.try_send(Msg::PickProgress(progress.clone())));
        }
    };
    prepared.run(store, control, tell).await
}

impl Runner {
    pub(super) fn price_picks(&self, way: PickMode, generation: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let options = self.options.clone();
        tokio::task::spawn_blocking(move || {
            let price = prepare(&store, &options, way).map(|prepared| prepared.price());
            let price = price.map_err(|error| error.to_string());
            drop(results.blocking_send(Msg::PicksPriced(generation, way, price)));
        });
    }

    pub(super) fn pick(&mut self, way: PickMode, calls: usize, control: RunControl) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let options = self.options.clone();
        let control = RunControl {
            paused: false,
            cancelled: false,
            dropped: 0,
            ..control
        };
        let (steer, control) = watch::channel(control);
        self.picking = Some(steer);
        let told = tokio::spawn(async move {
            let result = ask(&store, options, (way, calls), control, &results).await;
            let result = result.map_err(|error| error.to_string());
            let wrong = result.as_ref().err().cloned();
            let told = results.send(Msg::PicksEnded(result)).await.is_ok();
            wrong.filter(|_| !told)
        });
        self.writes.push(told);
    }

    pub(super) fn stop_picks(&self) {
        if let Some(steer) = &self.picking {
            steer.send_modify(RunControl::stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Effect;

    #[tokio::test]
    async fn a_budget_that_is_changed_holds_for_picks_and_a_run_that_are_going_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("project.db")).unwrap();
        let (results, _told) = mpsc::channel(1);
        let mut runner = Runner::new(store.clone(), Vec::new(), TuiOptions::default(), results);
        let dropped = RunControl {
            dropped: 2,
            ..RunControl::default()
        };
        let (picking, picks) = watch::channel(RunControl::default());
        let (control, run) = watch::channel(dropped);
        (runner.picking, runner.control) = (Some(picking), Some(control));
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
