//! Running links: shows cost and progress on stderr, and stops on a signal.

use crate::app::text_format::counted;
use crate::cli::command::{CommandFailure, CommandResult};
use crate::cli::output::{self, ProgressPace};
use crate::cli::signals::RunEnd;
use crate::client::RunControl;
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::watch_questions;
use crate::features::scale::app::{LinkEstimate, LinkRun};
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};

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
fn spend_on_reranking(store: &Store) -> Result<Spend, StoreError> {
    store.read_blocking(|db| db.spend_on(CallPurpose::Reranking))
}

/// Describes the effort of a link run.
pub(super) fn describe_links(estimate: &LinkEstimate) -> String {
    format!(
        "{}, {} already there, {} to plan\n{}",
        counted(estimate.queries, "query"),
        counted(estimate.there, "link"),
        counted(estimate.planned, "link"),
        volume_table(&estimate.expected, &estimate.most)
    )
}

/// Runs the links and shows progress on stderr.
pub(super) fn watch_links(
    run: LinkRun,
    control: RunControl,
    store: &Store,
) -> Result<EndedLinks, CommandFailure> {
    let before = spend_on_reranking(store)?;
    let mut ended = EndedLinks::default();
    let mut pace = ProgressPace::new();
    let asked = store.clone();
    let (end, missing) = watch_questions(
        control,
        |control, events| async move { run.run(&asked, control, events).await },
        |event| match event {
            RerankEvent::Linked { answered } => {
                if answered {
                    ended.answered += 1;
                } else {
                    ended.unreadable += 1;
                }
                if pace.is_due() {
                    output::message(&ended.describe());
                }
            }
            RerankEvent::Called(spend) => ended.spent += spend,
            _ => {}
        },
    )?;
    (ended.ended, ended.missing) = (end, missing);
    // Calls of an earlier run that was killed have been charged by now, too.
    ended.spent = spend_on_reranking(store)?.since(before);
    output::message(&ended.describe());
    Ok(ended)
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
