//! What a run would need, said beforehand.

use crate::app::annotate::estimate::CostEstimate;
use crate::app::wording::counted;
use crate::cli::spending::{estimate_table, usd};
use crate::judge::{OFFLINE_LABEL, provider};

/// The estimate as a table, with what it rests on.
pub(super) fn describe(estimate: &CostEstimate) -> String {
    let most = if estimate.rounds { "at most " } else { "" };
    let mut text = format!(
        "{} queries, {most}{} battles, {} votes there already\n",
        estimate.queries, estimate.battles, estimate.already
    );
    text.push_str(&estimate_table(&estimate.judges));
    text.push_str(&format!(
        "total: {most}{} calls, {} expected, {} at most\n",
        estimate.calls(),
        usd(estimate.cost_usd()),
        usd(estimate.worst_usd())
    ));
    if estimate.probed > 0 {
        let pairs = counted(estimate.probed, "pair");
        text.push_str(&format!(
            "{pairs} are put to each language model in both orders, first of all (--probe 0 leaves that out)\n"
        ));
    }
    for judge in &estimate.changed {
        text.push_str(&format!("{judge}\n"));
    }
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
