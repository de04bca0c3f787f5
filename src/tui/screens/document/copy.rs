//! A document's battles as a table for the clipboard.

use super::state::opponent;
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::battle::calls::{self, CallResult};

/// The battles in their order on screen; a judge's margin is positive if it prefers this document,
/// and so is a surprise in its favor.
pub(super) fn table(model: &Model, open: &OpenQuery) -> ClipboardTable {
    let document = model.document().document;
    let judges = (0..open.judges.len()).map(|judge| open.judge_name(judge));
    let columns = ["query", "document", "opponent", "title"]
        .map(str::to_owned)
        .into_iter()
        .chain(judges)
        .chain(["surprise".to_owned()]);
    let row = |index: usize| {
        let other = opponent(open, index, document)?;
        let names = [
            open.info.id.to_string(),
            open.name(document),
            open.name(other),
        ];
        let margins = calls::of_battle(open, index, document)
            .into_iter()
            .map(|call| match call.result {
                CallResult::Prefers(margin) => format!("{:.4}", 0.0 - margin.get()),
                CallResult::Failed => "failed".to_owned(),
                CallResult::NotRun => "not run".to_owned(),
                CallResult::NotAsked => String::new(),
            });
        let is_b = open.battle(index)?.b == document;
        let surprise = open.view.battles.get(index).and_then(|view| view.surprise);
        let surprise = surprise.map(|sigmas| if is_b { sigmas } else { 0.0 - sigmas });
        let cells = names
            .into_iter()
            .chain([open.headline(other)])
            .chain(margins)
            .chain([number(surprise, 4)]);
        Some(cells.collect())
    };
    ClipboardTable {
        row: "battle",
        columns: columns.collect(),
        rows: model
            .document_battles()
            .into_iter()
            .filter_map(row)
            .collect(),
    }
}
