//! Running picks: shows progress on stderr, and stops on a signal.

use crate::app::failure_tally::FailureTally;
use crate::app::pick::run::{self, PickEvent, PickSession};
use crate::app::pick::{PickAnswers, PickPlan, PickProgress};
use crate::cli::command::CommandFailure;
use crate::cli::output::{self, ProgressPace, clean};
use crate::cli::signals::{self, RunEnd};
use crate::client::RunControl;
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::judge::JudgeEnsemble;
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use anyhow::anyhow;
use std::collections::BTreeMap;
use tokio::sync::{mpsc, watch};

/// Spending of the project on picks, as shown by `status`.
async fn spend_on_picks(store: &Store) -> Result<Spend, StoreError> {
    store.read(|db| db.spend_on(CallPurpose::Pick)).await
}

/// Asks the plan's questions, stores the answers, and shows progress on stderr. The first signal
/// stops it in order, the second one immediately. Also returns the project's spending on picks.
pub(super) fn watch(
    plan: &PickPlan,
    ensemble: &JudgeEnsemble,
    control: RunControl,
    store: &Store,
    answers: &mut PickAnswers,
) -> Result<(RunEnd, Spend), CommandFailure> {
    let runtime = signals::runtime()?;
    let result = runtime.block_on(async {
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (steer, control) = watch::channel(control);
        let mut stops = signals::stops()?;
        let picking = PickSession {
            store: store.clone(),
            ensemble: ensemble.clone(),
            control,
        };
        let run = tokio::spawn(run::run(picking, plan.tasks.clone(), events_to));
        let (mut ended, mut counts) = (RunEnd::default(), PickProgress::of(plan));
        let mut failures: BTreeMap<String, FailureTally> = BTreeMap::new();
        let mut failed = None;
        let mut pace = ProgressPace::new();
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    None => break,
                    Some(PickEvent::Recorded { record, last, failure }) => {
                        counts.count(&record, last);
                        if let Some((cause, message)) = failure.filter(|_| last) {
                            let judge = failures.entry(record.judge.clone()).or_default();
                            judge.add_words(cause, &message);
                        }
                        answers.add(&record);
                        if pace.is_due() {
                            counts.spent = spend_on_picks(store).await?;
                            output::message(&counts.to_string());
                        }
                    }
                    Some(PickEvent::Again(line)) => tracing::warn!("{}", sanitize::line(&line)),
                    Some(PickEvent::Stopped { seat, why }) => {
                        let name = ensemble.get(seat).map_or("", |judge| &judge.spec().name);
                        output::message(&format!("{} stopped: {}", clean(name), clean(&why)));
                    }
                    Some(PickEvent::BudgetReached) => ended.budget_reached = true,
                    Some(PickEvent::Failed(error)) => failed = Some(error),
                },
                Some(()) = stops.recv() => {
                    ended.interrupted = true;
                    steer.send_modify(RunControl::stop);
                    output::message(&signals::stopping(&steer.borrow()));
                }
            }
        }
        run.await
            .map_err(|error| anyhow!("the run ended unexpectedly: {error}"))??;
        if let Some(error) = failed {
            return Err(error.into());
        }
        counts.spent = spend_on_picks(store).await?;
        output::message(&counts.to_string());
        for (judge, tally) in &failures {
            for line in tally.lines() {
                output::message(&format!("{}: {line}", clean(judge)));
            }
        }
        Ok((ended, counts.spent))
    });
    runtime.shutdown_background();
    result
}
