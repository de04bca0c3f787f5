//! The cycles as a table for the clipboard.

use super::state::{CycleRow, rows};
use crate::tui::clipboard::ClipboardTable;
use crate::tui::model::open_query::OpenQuery;

/// A row for each cycle: each document beats the next one, and the last one beats the first; the
/// win of the first document is the weakest.
pub(super) fn table(open: &OpenQuery) -> ClipboardTable {
    let row = |row: CycleRow| {
        let by = row
            .judge
            .map_or("ensemble".to_owned(), |(index, _)| open.judge_name(index));
        let document = |at: usize| {
            let edge = row.edges.get(at);
            edge.map_or(String::new(), |edge| open.name(edge.winner))
        };
        let strength = row.edges.first();
        let strength = strength.map_or(String::new(), |edge| format!("{:.4}", edge.strength));
        let query = open.info.id.to_string();
        [query, by, document(0), document(1), document(2), strength]
    };
    let columns = [
        "query",
        "by",
        "first",
        "second",
        "third",
        "weakest_strength",
    ];
    ClipboardTable::new("cycle", columns, rows(open).into_iter().map(row))
}
