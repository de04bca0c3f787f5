//! The slices as a table for the clipboard.

use super::state::SlicesState;
use crate::domain::ranking::Slice;
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::open_query::OpenQuery;

/// A row for each slice; the value of documents without the field is empty.
pub(super) fn table(open: &OpenQuery, found: &SlicesState) -> ClipboardTable {
    let row = |slice: &Slice| {
        [
            open.info.id.to_string(),
            found.field.clone(),
            slice.value.clone().unwrap_or_default(),
            slice.documents.len().to_string(),
            slice.in_top.to_string(),
            number(slice.mean.map(|mean| mean.zelo), 4),
            number(slice.mean.and_then(|mean| mean.se), 4),
        ]
    };
    let columns = [
        "query",
        "field",
        "value",
        "documents",
        "in_top",
        "mean_zelo",
        "se",
    ];
    ClipboardTable::new("slice", columns, found.slices.iter().map(row))
}
