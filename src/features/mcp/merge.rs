//! Proposed verdicts of the other file.

use crate::store::Result;
use crate::store::merge::{AddedCount, Merger};

const PROPOSALS: AddedCount = AddedCount::new("proposals", "proposed verdict");

pub(crate) const COUNTS: &[AddedCount] = &[PROPOSALS];

/// Copies proposals. They refer to queries and documents by name, so nothing needs matching.
pub(crate) fn proposals(merger: &mut Merger<'_>) -> Result<()> {
    for proposal in merger.other.proposals()? {
        let is_new = merger.db.add_proposal(&proposal)?;
        merger.merged.count(&PROPOSALS, usize::from(is_new));
    }
    Ok(())
}
