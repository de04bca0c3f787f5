//! Acceptances of the other file, with their battles and controls.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const ACCEPTANCES: AddedCount = AddedCount::new("acceptances", "acceptance");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "acceptances",
    tables: &["acceptance", "acceptance_control", "acceptance_query"],
    is_about_queries: false,
    merge: acceptances,
};

pub(crate) const COUNTS: &[AddedCount] = &[ACCEPTANCES];

/// Copies acceptances. They refer to queries and documents by name, so nothing needs matching.
fn acceptances(merger: &mut Merger<'_>) -> Result<()> {
    for acceptance in merger.other.acceptances()? {
        if !merger.db.add_acceptance(&acceptance)? {
            continue;
        }
        for query in merger.other.acceptance_frame(&acceptance.uid)? {
            merger.db.add_acceptance_query(&query)?;
        }
        for control in merger.other.acceptance_controls(&acceptance.uid)? {
            merger.db.add_acceptance_control(&control)?;
        }
        merger.merged.count(&ACCEPTANCES, 1);
    }
    Ok(())
}
