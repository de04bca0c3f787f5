//! What a run would need, said beforehand.

use super::super::choose_judges::{self, is_paid};
use super::super::import::pools;
use super::super::{CommandContext, CommandFailure};
use crate::app::annotate::RunRequest;
use crate::app::annotate::estimate::CostEstimate;
use crate::judge::{JudgeEnsemble, OFFLINE_LABEL, provider};
use std::path::Path;

/// What is to be judged, by whom, and how.
pub(super) struct CostPlan<'a> {
    pub(super) dataset: &'a Path,
    pub(super) skip_bad: bool,
    pub(super) ensemble: &'a JudgeEnsemble,
    pub(super) request: &'a RunRequest,
    /// In batches, at their price.
    pub(super) batch: bool,
}

impl CostPlan<'_> {
    /// Calls, tokens and dollars that the dataset would need.
    pub(super) fn estimate(
        &self,
        context: &CommandContext,
    ) -> Result<CostEstimate, CommandFailure> {
        let store = if context.project().exists() {
            Some(context.open()?)
        } else {
            None
        };
        let mut estimate = CostEstimate::new(self.ensemble);
        if self.batch {
            estimate = estimate.in_batches();
        }
        for pool in pools(self.dataset, self.skip_bad)? {
            estimate.add(&pool, self.ensemble, self.request, store.as_ref())?;
        }
        Ok(estimate)
    }

    /// Asks before money is spent, where there is somebody to ask; says what it will be either way.
    pub(super) fn confirm(
        &self,
        context: &CommandContext,
        yes: bool,
    ) -> Result<(), CommandFailure> {
        if !self.ensemble.iter().any(|judge| is_paid(judge.as_ref())) {
            return Ok(());
        }
        let estimate = self.estimate(context)?;
        if estimate.calls() == 0 {
            return Ok(());
        }
        choose_judges::confirm_spending(&words(&estimate), yes)
    }
}

/// The estimate as a table, with what it rests on.
pub(super) fn words(estimate: &CostEstimate) -> String {
    let most = if estimate.rounds { "at most " } else { "" };
    let mut text = format!(
        "{} queries, {most}{} battles, {} votes there already\n",
        estimate.queries, estimate.battles, estimate.already
    );
    text.push_str(&choose_judges::estimate_table(&estimate.judges));
    text.push_str(&format!(
        "total: {most}{} calls, {} expected, {} at most\n",
        estimate.calls(),
        choose_judges::usd(estimate.cost_usd()),
        choose_judges::usd(estimate.worst_usd())
    ));
    if estimate.pending > 0 {
        text.push_str(&format!(
            "{} more calls are being made by batches\n",
            estimate.pending
        ));
    }
    if estimate.batch {
        text.push_str(
            "at the price of batches, but for one call a judge, made at once to see that such calls work\n",
        );
    }
    if estimate.judges.iter().any(|judge| judge.offline) {
        text.push_str(&format!(
            "{OFFLINE_LABEL}; their tokens are words, and they cost nothing\n"
        ));
    }
    if estimate.judges.iter().any(|judge| !judge.offline) {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}
