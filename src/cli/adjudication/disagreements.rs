//! What picks and labels differ on, as a list.

use crate::app::wording::counted;
use crate::cli::output::clean;
use crate::cli::command::{CommandResult};
use crate::cli::{output};
use crate::domain::adjudication::DisagreementRule;
use crate::domain::sanitise;
use crate::store::labels::{AdjudicationData, AdjudicationItem};
use serde_json::json;

/// Prints the disagreements that the annotator has not ruled on.
pub(super) fn print(
    rows: &AdjudicationData,
    rule: &DisagreementRule,
    annotator: &str,
    limit: usize,
    as_json: bool,
) -> CommandResult {
    let mut matters = rows.docket(rule, Some(annotator))?;
    let all = matters.len();
    matters.truncate(limit);
    if as_json {
        let row = |matter: &AdjudicationItem| {
            let dispute = &matter.dispute;
            json!({
                "query": matter.query_id,
                "document": matter.document,
                "outcome": outcome(matter),
                "against": dispute.against,
                "answers": dispute.answers,
                "impact_ndcg_at_10": dispute.impact,
                "control": matter.control_of > 0,
            })
        };
        return return output::json(&matters.iter().map(row).collect::<Vec<_>>());
    }
    if matters.is_empty() {
        output::text("nothing left to rule on\n");
    }
    let row = |(at, matter): (usize, &AdjudicationItem)| {
        let dispute = &matter.dispute;
        vec![
            (at + 1).to_string(),
            clean(matter.query_id.as_str()),
            clean(matter.document.as_str()),
            outcome(matter).to_owned(),
            format!("{} of {}", dispute.against, dispute.answers),
            format!("{:.4}", dispute.impact),
            (if matter.control_of > 0 { "control" } else { "" }).to_owned(),
        ]
    };
    let cells: Vec<Vec<String>> = matters.iter().enumerate().map(row).collect();
    let header = [
        ">",
        "query",
        "document",
        "outcome",
        ">answers against the label",
        ">NDCG@10 at stake",
        "",
    ];
    output::text(&output::table(&header, &cells))?;
    output::message(&format!(
        "{} of {}, {}: {}",
        matters.len(),
        counted(all, "disagreement"),
        rule.order,
        rule.order.words()
    ));
    Ok(())
}

fn outcome(matter: &AdjudicationItem) -> &'static str {
    match matter.dispute.positive {
        true => "label only",
        false => "pick only",
    }
}
