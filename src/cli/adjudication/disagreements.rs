//! What picks and labels differ on, as a list.

use super::super::{CommandResult, output};
use crate::app::adjudication::data::{AdjudicationData, AdjudicationItem};
use crate::domain::adjudication::DisagreementRule;
use crate::domain::sanitise;
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
        return Ok(output::json(&matters.iter().map(row).collect::<Vec<_>>())?);
    }
    if matters.is_empty() {
        output::text("nothing left to rule on\n")?;
        return Ok(());
    }
    let row = |(at, matter): (usize, &AdjudicationItem)| {
        let dispute = &matter.dispute;
        vec![
            (at + 1).to_string(),
            sanitise::line(matter.query_id.as_str()).into_owned(),
            sanitise::line(matter.document.as_str()).into_owned(),
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
        output::counted(all, "disagreement"),
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
