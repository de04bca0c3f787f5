//! The documents of a list as a table for the clipboard.

use crate::domain::corpus::DocId;
use crate::tui::clipboard::ClipboardTable;
use crate::tui::model::Model;

/// A row for each document of the list under the cursor, in the order shown.
pub(super) fn table(model: &Model) -> ClipboardTable {
    let chosen = model.open.as_ref().zip(model.lists().chosen());
    let rows = chosen.into_iter().flat_map(|(open, list)| {
        let is_hidden = model.hides_list(open, list);
        let row = move |(at, document): (usize, &DocId)| {
            let answer = list.place_words(at).filter(|_| !is_hidden);
            [
                open.info.id.to_string(),
                list.number.to_string(),
                list.call.list.judge.clone(),
                (at + 1).to_string(),
                document.as_str().to_owned(),
                answer.unwrap_or_default(),
            ]
        };
        list.call.list.shown.iter().enumerate().map(row)
    });
    let columns = ["query", "list", "judge", "shown", "document", "answer"];
    ClipboardTable::new("document", columns, rows)
}
