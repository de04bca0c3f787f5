//! The tried pairs as a table for the clipboard.

use crate::domain::vote::Outcome;
use crate::features::prompts::app::trial::{TrialReading, TriedPair};
use crate::tui::clipboard::ClipboardTable;

/// A row for each pair in the order on screen, with its documents as places in the pool, and
/// margins that are negative if the first one is better.
pub(super) fn table(reading: &TrialReading) -> ClipboardTable {
    let row = |of: &TriedPair| {
        let better = match of.decided.people {
            Outcome::A => "first",
            Outcome::Tie => "tie",
            Outcome::B => "second",
        };
        [
            of.decided.query.to_string(),
            (of.decided.pair.low() + 1).to_string(),
            (of.decided.pair.high() + 1).to_string(),
            better.to_owned(),
            of.change.words().to_owned(),
            format!("{:.4}", of.old.margin.get()),
            format!("{:.4}", of.new_margin),
        ]
    };
    let columns = ["query", "first", "second", "better", "change", "old", "new"];
    ClipboardTable::new("tried pair", columns, reading.result.pairs.iter().map(row))
}
