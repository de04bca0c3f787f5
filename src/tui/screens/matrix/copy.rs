//! The ranking of the open query as a table for the clipboard.

use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;

/// The documents in the order of the matrix.
pub(super) fn table(model: &Model, open: &OpenQuery) -> ClipboardTable {
    let columns = [
        "query",
        "document",
        "title",
        "hybrid_rank",
        "rank",
        "rank_low",
        "rank_high",
        "zelo",
        "standard_error",
    ];
    let rows = model.matrix_order().into_iter().map(|document| {
        let standing = open.standing(document);
        let interval = standing.and_then(|standing| standing.interval);
        let rank = |rank: Option<usize>| rank.map_or(String::new(), |rank| rank.to_string());
        [
            open.info.id.to_string(),
            open.name(document),
            open.headline(document),
            (document + 1).to_string(),
            rank(standing.map(|standing| standing.rank)),
            rank(interval.map(|interval| interval.low)),
            rank(interval.map(|interval| interval.high)),
            number(standing.map(|standing| standing.zelo), 4),
            number(standing.and_then(|standing| standing.se), 4),
        ]
    });
    ClipboardTable::new("document", columns, rows)
}
