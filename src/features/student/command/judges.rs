//! The students of the project, listed along with its judges.

use crate::app::error::AppError;
use crate::cli::judges::JudgesPanel;
use crate::cli::output::{self, clean};
use crate::features::student::app::{StudentCard, student_cards};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;

/// The students' cards, for one query or all.
pub(crate) fn panel(store: &Store, scope: Option<QueryKey>) -> Result<JudgesPanel, AppError> {
    let cards = student_cards(store, scope)?;
    Ok(JudgesPanel {
        key: "students",
        json: json!(cards),
        words: table(&cards),
    })
}

/// One row per student; empty without students.
fn table(cards: &[StudentCard]) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = cards
        .iter()
        .map(|card| card.cells().map(clean).to_vec())
        .collect();
    output::table(&StudentCard::HEADER, &rows) + "\n"
}
