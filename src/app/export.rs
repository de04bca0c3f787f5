//! Exports a project's data in the formats of other programs.

mod added;
mod ai_scores;
mod annotated;
mod comparisons;
pub mod forms;
mod labels;
mod member_names;
pub mod offered_forms;
pub mod request;
mod row_files;
mod run;
pub mod tables;
mod verdicts;
mod votes;
pub mod why_empty;

use super::error::AppError;
use crate::domain::adjudication::PickRecord;
use crate::formats::safe_json;
use crate::store::Store;
pub use added::{AddedExport, AddedLabels, AddedPage, OfferedPage, TABLES};
pub use ai_scores::{check_members, member_names, write_ai_scores};
pub use annotated::{UnscoredDocuments, write_annotated};
pub use comparisons::write_comparisons;
pub use labels::{labels_to_write, write_label_changes, write_rulings};
pub use row_files::RunFile;
pub use run::{FoundRanking, WrittenRanking, write_ranking, write_run, write_scored_by};
use std::io::Write;
pub use verdicts::write_verdicts;
pub use votes::write_votes;

/// Writes the judges' answers about pools that match `wanted`, as JSON lines.
pub fn write_picks(
    store: &Store,
    wanted: impl Fn(&PickRecord) -> bool,
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let picks = store.read_blocking(|db| db.picks())?;
    for pick in picks.iter().filter(|pick| wanted(pick)) {
        safe_json::write_line(out, pick)?;
    }
    Ok(())
}
