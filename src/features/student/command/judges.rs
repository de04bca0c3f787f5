//! The students of the project, listed along with its judges.

use crate::cli::output::{self, clean};
use crate::features::student::app::StudentCard;

/// One row per student; empty without students.
pub(crate) fn table(cards: &[StudentCard]) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = cards
        .iter()
        .map(|card| card.cells().map(clean).to_vec())
        .collect();
    output::table(&StudentCard::HEADER, &rows) + "\n"
}
