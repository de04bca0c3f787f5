//! The queue as a table for the clipboard. Documents are not named, because their judgments are
//! blind.

use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;

pub(super) fn table(model: &Model) -> ClipboardTable {
    let rows = model.shown_items().into_iter().map(|at| {
        let item = &model.queue.items[at];
        let info = model.queries.info(item.query);
        [
            (at + 1).to_string(),
            info.map_or(String::new(), |info| info.id.to_string()),
            info.map_or(String::new(), |info| info.text.clone()),
            number(item.priority, 6),
        ]
    });
    ClipboardTable::new("pair", ["place", "query", "text", "priority"], rows)
}
