//! Proposed verdicts of the other file.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const PROPOSALS: AddedCount = AddedCount::new("proposals", "proposed verdict");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "proposals",
    tables: &["proposal"],
    is_about_queries: false,
    merge: proposals,
};

pub(crate) const COUNTS: &[AddedCount] = &[PROPOSALS];

/// Copies proposals. They refer to queries and documents by name, so nothing needs matching.
fn proposals(merger: &mut Merger<'_>) -> Result<()> {
    for proposal in merger.other.proposals()? {
        let is_new = merger.db.add_proposal(&proposal)?;
        merger.merged.count(&PROPOSALS, usize::from(is_new));
    }
    Ok(())
}
