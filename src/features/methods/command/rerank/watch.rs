//! Asking questions: shows progress on stderr, and stops on a signal.

use crate::app::error::AppError;
use crate::app::text_format::counted;
use crate::cli::command::{CommandFailure, CommandResult};
use crate::cli::output::{self, ProgressPace, clean};
use crate::cli::signals::{self, RunEnd};
use crate::client::RunControl;
use crate::domain::number_words::count;
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::app::rerank::{RerankPlan, run};
use crate::store::Store;
use anyhow::anyhow;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Progress so far.
#[derive(Default)]
pub(super) struct Progress {
    done: usize,
    failed: usize,
    /// The calls made, each once, whatever number of rankings share its answer.
    pub(super) calls: usize,
    pub(super) spend: Spend,
}

/// Runs the plan and shows progress on stderr.
pub(super) fn watch(
    plan: &Arc<RerankPlan>,
    control: RunControl,
    store: &Store,
    noun: &str,
) -> Result<(RunEnd, Progress), CommandFailure> {
    if plan.rankings() == 0 {
        return Ok(<(RunEnd, Progress)>::default());
    }
    let (store, ranked) = (store.clone(), Arc::clone(plan));
    let mut progress = Progress::default();
    let mut pace = ProgressPace::new();
    let (ended, ()) = watch_questions(
        control,
        |control, events| async move { Ok(run::run(store, ranked, control, events).await?) },
        |event| match event {
            RerankEvent::Ranked(row) => {
                progress.done += 1;
                progress.failed += usize::from(row.failure.is_some());
                if pace.is_due() {
                    output::message(&progress.describe(plan, noun));
                }
            }
            RerankEvent::Called(spend) => {
                progress.calls += 1;
                progress.spend += spend;
            }
            _ => {}
        },
    )?;
    output::message(&progress.describe(plan, noun));
    Ok((ended, progress))
}

/// Asks on a task, and passes the events about answers and calls to `count`. The others are messages
/// on stderr. The first signal stops it in order, the second one immediately.
pub(crate) fn watch_questions<T, F>(
    control: RunControl,
    ask: impl FnOnce(watch::Receiver<RunControl>, mpsc::UnboundedSender<RerankEvent>) -> F,
    mut count: impl FnMut(RerankEvent),
) -> Result<(RunEnd, T), CommandFailure>
where
    T: Send + 'static,
    F: Future<Output = Result<T, AppError>> + Send + 'static,
{
    let runtime = signals::runtime()?;
    let result = runtime.block_on(async {
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (steer, control) = watch::channel(control);
        let mut stops = signals::stops()?;
        let asking = tokio::spawn(ask(control, events_to));
        let mut ended = RunEnd::default();
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    None => break,
                    Some(RerankEvent::Again(line)) => tracing::warn!("{}", sanitize::line(&line)),
                    Some(RerankEvent::Stopped { service, why }) => {
                        output::message(&format!("{} stopped: {}", clean(&service), clean(&why)));
                    }
                    Some(RerankEvent::Skipped { service, why }) => {
                        let service = clean(&service);
                        output::message(&format!("{service} skips a query: {}", clean(&why)));
                    }
                    Some(RerankEvent::BudgetReached) => ended.budget_reached = true,
                    Some(event) => count(event),
                },
                Some(()) = stops.recv() => {
                    ended.interrupted = true;
                    steer.send_modify(RunControl::stop);
                    output::message(&signals::stopping(&steer.borrow()));
                }
            }
        }
        let value = asking
            .await
            .map_err(|error| anyhow!("the run ended unexpectedly: {error}"))??;
        Ok((ended, value))
    });
    runtime.shutdown_background();
    result
}

/// How asking ended.
#[derive(Default)]
pub(crate) struct AnswersEnd {
    end: RunEnd,
    /// Number of calls.
    pub(crate) made: usize,
    pub(crate) spend: Spend,
    /// Questions without an answer.
    pub(crate) missing: usize,
}

impl AnswersEnd {
    /// Whether the budget allows no further call.
    pub(crate) fn is_budget_reached(&self) -> bool {
        self.end.budget_reached
    }

    /// Reports missing answers. An error if the user interrupted the calls.
    pub(crate) fn report(&self) -> CommandResult {
        if self.missing > 0 {
            output::message(&format!(
                "incomplete: {} missing; {}",
                counted(self.missing, "answer"),
                if self.end.budget_reached {
                    "the budget is reached; continue with a larger --budget"
                } else {
                    "run the same command again to continue"
                }
            ));
        }
        if self.end.interrupted {
            return Err(CommandFailure::interrupted());
        }
        Ok(())
    }
}

/// Asks as [`watch_questions`], and shows the number of calls on stderr. `missing` counts the
/// questions that are left without an answer.
pub(crate) fn watch_answers<T, F>(
    control: RunControl,
    calls: usize,
    ask: impl FnOnce(watch::Receiver<RunControl>, mpsc::UnboundedSender<RerankEvent>) -> F,
    missing: impl FnOnce(&T) -> usize,
) -> Result<(AnswersEnd, T), CommandFailure>
where
    T: Send + 'static,
    F: Future<Output = Result<T, AppError>> + Send + 'static,
{
    let (mut made, mut spend) = (0, Spend::default());
    let mut pace = ProgressPace::new();
    let progress = |made: usize, spend: Spend| {
        format!(
            "{made} of {} made, spent {}",
            counted(calls, "call"),
            spend.words()
        )
    };
    let (end, found) = watch_questions(control, ask, |event| {
        if let RerankEvent::Called(charge) = event {
            made += 1;
            spend += charge;
            if pace.is_due() {
                output::message(&progress(made, spend));
            }
        }
    })?;
    if calls > 0 {
        output::message(&progress(made, spend));
    }
    let missing = missing(&found);
    let end = AnswersEnd {
        end,
        made,
        spend,
        missing,
    };
    Ok((end, found))
}

impl Progress {
    fn describe(&self, plan: &RerankPlan, noun: &str) -> String {
        format!(
            "{} of {}: {} failed, {}, {}",
            count(self.done),
            counted(plan.rankings(), noun),
            count(self.failed),
            counted(self.calls, "call"),
            self.spend.words(),
        )
    }
}
