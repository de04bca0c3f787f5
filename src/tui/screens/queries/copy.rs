//! The queries as a table for the clipboard.

use crate::store::summary_cache::QuerySummary;
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;

/// The queries shown, in their order.
pub(super) fn table(model: &Model) -> ClipboardTable {
    let queries = &model.queries;
    let columns = [
        "query",
        "text",
        "documents",
        "fought",
        "battles",
        "top",
        "p_top_right",
        "verdicts",
        "missing_votes",
        "failed_calls",
    ];
    let shown = queries.shown();
    let rows = shown.iter().map(|row| {
        let (info, summary) = &queries.rows()[*row];
        let count = |of: fn(&QuerySummary) -> usize| {
            summary
                .as_ref()
                .map(of)
                .map_or(String::new(), |count| count.to_string())
        };
        [
            info.id.to_string(),
            info.text.clone(),
            info.documents.to_string(),
            count(|summary| summary.fought),
            count(|summary| summary.battles),
            count(|summary| summary.top),
            number(summary.as_ref().and_then(|summary| summary.settled), 4),
            count(|summary| summary.verdicts),
            count(|summary| summary.missing),
            count(|summary| summary.failures),
        ]
    });
    ClipboardTable::new("query", columns, rows)
}
