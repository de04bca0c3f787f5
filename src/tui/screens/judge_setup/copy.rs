//! The judges that were found as a table for the clipboard.

use super::view::{place_words, price_words};
use crate::app::init::setup::{Candidate, JudgeSetup};
use crate::tui::clipboard::ClipboardTable;

pub(super) fn table(setup: &JudgeSetup) -> ClipboardTable {
    let row = |judge: &Candidate| {
        [
            judge.config.name.clone(),
            judge.config.model.clone(),
            place_words(judge),
            price_words(judge),
            if judge.chosen { "yes" } else { "no" }.to_owned(),
        ]
    };
    let columns = ["judge", "model", "where", "price", "chosen"];
    ClipboardTable::new("judge", columns, setup.candidates.iter().map(row))
}
