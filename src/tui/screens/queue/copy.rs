//! The queue as a table for the clipboard. Documents are not named, because their judgments are
//! blind.

use crate::store::corpus::{QueryInfo, QueryKey};
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;
use std::collections::HashMap;

pub(super) fn table(model: &Model) -> ClipboardTable {
    let infos: HashMap<QueryKey, &QueryInfo> = model
        .queries
        .rows
        .iter()
        .map(|(info, _)| (info.key, info))
        .collect();
    let rows = model.shown_items().into_iter().map(|at| {
        let item = &model.queue.items[at];
        let info = infos.get(&item.query);
        [
            (at + 1).to_string(),
            info.map_or(String::new(), |info| info.id.to_string()),
            info.map_or(String::new(), |info| info.text.clone()),
            number(item.priority, 6),
        ]
    });
    ClipboardTable::new("pair", ["place", "query", "text", "priority"], rows)
}
