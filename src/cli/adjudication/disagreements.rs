//! Lists the disagreements between picks and labels.

use crate::app::adjudication::data::{AdjudicationData, AdjudicationItem};
use crate::app::text_format::counted;
use crate::cli::command::CommandResult;
use crate::cli::output::{self, clean};
use crate::domain::adjudication::DisagreementRule;
use crate::store::printed_items::PrintedDocument;
use crate::store::{Store, StoreError};
use serde_json::json;

/// Prints the disagreements that the annotator has not ruled on.
pub(super) fn print(
    store: &Store,
    data: &AdjudicationData,
    rule: &DisagreementRule,
    annotator: &str,
    limit: usize,
    as_json: bool,
) -> CommandResult {
    let mut items = data.open_items(rule, Some(annotator))?;
    let all = items.len();
    items.truncate(limit);
    let ids = name_items(store, annotator, &items)?;
    if as_json {
        let row = |(at, item): (usize, &AdjudicationItem)| {
            let dispute = &item.dispute;
            json!({
                "item": ids.get(at),
                "query": item.query_id,
                "document": item.document,
                "outcome": outcome(item),
                "against": dispute.against,
                "answers": dispute.answers,
                (format!("impact_ndcg_at_{}", data.top)): dispute.impact,
                "control": item.control_of > 0,
                "drawn_of": Some(item.control_of).filter(|of| *of > 0),
            })
        };
        return output::json(&items.iter().enumerate().map(row).collect::<Vec<_>>());
    }
    if items.is_empty() {
        return output::text("nothing left to rule on\n");
    }
    let row = |(at, item): (usize, &AdjudicationItem)| {
        let dispute = &item.dispute;
        vec![
            (at + 1).to_string(),
            clean(item.query_id.as_str()),
            clean(item.document.as_str()),
            outcome(item).to_owned(),
            format!("{} of {}", dispute.against, dispute.answers),
            format!("{:.4}", dispute.impact),
            (if item.control_of > 0 { "control" } else { "" }).to_owned(),
            ids.get(at).cloned().unwrap_or_default(),
        ]
    };
    let cells: Vec<Vec<String>> = items.iter().enumerate().map(row).collect();
    let stake = format!(">NDCG@{} at stake", data.top);
    let header = [
        ">",
        "query",
        "document",
        "outcome",
        ">answers against the label",
        &stake,
        "",
        "item",
    ];
    output::text(&output::table(&header, &cells))?;
    output::message(&format!(
        "{} of {}, {}: {}",
        items.len(),
        counted(all, "disagreement"),
        rule.order,
        rule.order.words()
    ));
    Ok(())
}

/// The IDs that `overrule rule --item` accepts; empty if the project is read-only.
fn name_items(
    store: &Store,
    annotator: &str,
    items: &[AdjudicationItem],
) -> Result<Vec<String>, StoreError> {
    if store.is_read_only() {
        return Ok(Vec::new());
    }
    let printed = items.iter().map(|item| PrintedDocument {
        query: item.query,
        document: item.document.clone(),
        control_of: item.control_of,
    });
    let (printed, annotator): (Vec<_>, _) = (printed.collect(), annotator.to_owned());
    store.write_blocking(move |db| db.print_documents(&annotator, &printed))
}

fn outcome(item: &AdjudicationItem) -> &'static str {
    if item.dispute.positive {
        "label only"
    } else {
        "pick only"
    }
}
