//! Running links: shows cost and progress on stderr, and stops on a signal.

use crate::app::text_format::counted;
use crate::cli::command::{CommandFailure, CommandResult};
use crate::cli::output::{self, ProgressPace, clean};
use crate::cli::signals::{self, RunEnd};
use crate::cli::spending::usd;
use crate::client::RunControl;
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::scale::app::{LinkEstimate, LinkRun};
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use anyhow::anyhow;
use tokio::sync::{mpsc, watch};

/// How a link run ended.
#[derive(Default)]
pub(super) struct EndedLinks {
    /// Number of answers in this run, including those found in the project.
    pub(super) answered: usize,
    pub(super) unreadable: usize,
    /// Number of planned questions without an answer.
    pub(super) missing: usize,
    pub(super) spent: Spend,
    ended: RunEnd,
}

/// Spending of the project on rankings, anchors and links, as shown by `status`.
async fn spend_on_reranking(store: &Store) -> Result<Spend, StoreError> {
    store.read(|db| db.spend_on(CallPurpose::Reranking)).await
}

/// Describes the effort of a link run.
pub(super) fn describe_links(estimate: &LinkEstimate) -> String {
    let header = [
        ">calls expected",
        ">at most",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">expected",
        ">at most",
    ];
    let (expected, most) = (&estimate.expected, &estimate.most);
    let row = vec![
        format!("{:.0}", expected.calls),
        format!("{:.0}", most.calls),
        format!("{:.0}", expected.tokens_input),
        format!("{:.0}", expected.tokens_output),
        usd(expected.usd),
        usd(most.usd),
    ];
    format!(
        "{}, {} already there, {} to plan\n{}",
        counted(estimate.queries, "query"),
        counted(estimate.there, "link"),
        counted(estimate.planned, "link"),
        output::table(&header, &[row])
    )
}

/// Runs the links and shows progress on stderr. The first signal stops it in order, the second one
/// immediately.
pub(super) fn watch_links(
    run: LinkRun,
    control: RunControl,
    store: &Store,
) -> Result<EndedLinks, CommandFailure> {
    let runtime = signals::runtime()?;
    let result = runtime.block_on(async {
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (steer, control) = watch::channel(control);
        let mut stops = signals::stops()?;
        let before = spend_on_reranking(store).await?;
        let task = {
            let store = store.clone();
            tokio::spawn(async move { run.run(&store, control, events_to).await })
        };
        let mut ended = EndedLinks::default();
        let mut pace = ProgressPace::new();
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    None => break,
                    Some(RerankEvent::Linked { answered }) => {
                        if answered {
ended.answered += 1
} else {
ended.unreadable += 1
}
                        if pace.is_due() {
                            ended.spent = spend_on_reranking(store).await?.since(before);
                            output::message(&ended.describe());
                        }
                    }
                    Some(RerankEvent::Again(line)) => tracing::warn!("{}", sanitize::line(&line)),
                    Some(RerankEvent::Stopped { service, why }) => {
                        output::message(&format!("{} stopped: {}", clean(&service), clean(&why)));
                    }
                    Some(RerankEvent::Skipped { service, why }) => {
                        output::message(&format!("{} skips a query: {}", clean(&service), clean(&why)));
                    }
                    Some(RerankEvent::BudgetReached) => ended.ended.budget_reached = true,
                    // Links are not rankings, and spending is read from the project.
                    Some(RerankEvent::Ranked(_) | RerankEvent::Called(_)) => {}
                },
                Some(()) = stops.recv() => {
                    ended.ended.interrupted = true;
                    steer.send_modify(RunControl::stop);
                    output::message(&signals::stopping(&steer.borrow()));
                }
            }
        }
        ended.missing = task
            .await
            .map_err(|error| anyhow!("the run ended unexpectedly: {error}"))??;
        ended.spent = spend_on_reranking(store).await?.since(before);
        output::message(&ended.describe());
        Ok(ended)
    });
    runtime.shutdown_background();
    result
}

impl EndedLinks {
    fn describe(&self) -> String {
        format!(
            "{}, {} unreadable, spent {}",
            counted(self.answered, "answer"),
            self.unreadable,
            self.spent.words()
        )
    }

    /// Reports the remaining work, and returns the corresponding result.
    pub(super) fn finish(&self) -> CommandResult {
        let missing = counted(self.missing, "answer");
        if self.ended.interrupted && self.missing > 0 {
            output::message(&format!(
                "stopped; {missing} missing, and later rounds; run the same command again to resume"
            ));
            return Err(CommandFailure::interrupted());
        }
        output::message(&match (self.missing, self.unreadable) {
            (0, 0) => return Ok(()),
            (0, _) => format!(
                "{} could not be read: --retry-failed asks again",
                counted(self.unreadable, "answer")
            ),
            _ if self.ended.budget_reached => {
                format!(
                    "missing: {missing}, and later rounds; the budget is reached; continue with a \
                     larger --budget"
                )
            }
            _ => format!("missing: {missing}, and later rounds; run the same command again"),
        });
        Err(CommandFailure::incomplete())
    }
}
