//! The documents to rule on as a table for the clipboard.

use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;

pub(super) fn table(model: &Model) -> ClipboardTable {
    let columns = [
        "query",
        "document",
        "label",
        "answers",
        "answers_against_label",
        "impact",
    ];
    let rows = model.shown_disagreements().into_iter().map(|at| {
        let item = &model.adjudication.disagreements[at];
        let label = if item.dispute.positive {
            "relevant"
        } else {
            "not relevant"
        };
        [
            item.query_id.to_string(),
            item.document.to_string(),
            label.to_owned(),
            item.dispute.answers.to_string(),
            item.dispute.against.to_string(),
            number(Some(item.dispute.impact), 4),
        ]
    });
    ClipboardTable::new("document", columns, rows)
}
