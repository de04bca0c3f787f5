//! Comparison of judges' picks with a benchmark's labels, and the effect of rulings on labels and
//! rankings.

pub mod data;
pub mod document_evidence;
mod effect;
mod evidence;
pub mod overview;
mod report;
pub mod rule;
pub mod sheets;

use super::text_format::{counted, own_documents};
use crate::domain::metrics::ranked_with_own;
use data::AdjudicationData;
pub use effect::RulingEffect;
pub use report::{JudgePickReport, LEVEL, OrderConsistency, OrderReport};

/// Notes for readers of the reports.
pub fn notes(data: &AdjudicationData) -> Vec<String> {
    let left_out = [
        (data.left_out.unknown, "on queries that have no pool"),
        (
            data.left_out.changed,
            "on pools whose documents have changed",
        ),
    ];
    let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
    let mut notes: Vec<String> = left_out
        .map(|(count, what)| format!("{} {what}: skipped", counted(count, "answer")))
        .collect();
    if data.pool_set.labels_stand_first() {
        notes.push(
            "the labeled documents come first in every pool: a judge that names the first slots \
             is always right"
                .to_owned(),
        );
    }
    let ranked = data.rankings.iter().flat_map(|(_, run)| run);
    let ranked = ranked.map(|(query, of)| (query, of.iter().map(|(document, _)| document)));
    notes.extend(own_documents(&ranked_with_own(&data.labels, ranked)));
    notes
}
