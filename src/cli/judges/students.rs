//! The students of the project beside its judges.

use crate::app::student::StudentCard;
use crate::cli::output::{self, clean};

/// A row a student; nothing without students.
pub(super) fn table(cards: &[StudentCard]) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = cards
        .iter()
        .map(|card| card.cells().map(clean).to_vec())
        .collect();
    output::table(&StudentCard::HEADER, &rows) + "\n"
}
