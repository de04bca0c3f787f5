//! Frozen pairs and rounds of the other file. Their answers are calls, which are merged as such.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const SETS: AddedCount = AddedCount::new("drift_sets", "drift set");
const ROUNDS: AddedCount = AddedCount::detail("drift_rounds", "drift round");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "drift sets",
    tables: &["drift_set", "drift_pair", "drift_round"],
    is_about_queries: false,
    merge: sets,
};

pub(crate) const COUNTS: &[AddedCount] = &[SETS, ROUNDS];

/// Copies sets with their pairs, and rounds. They refer to queries and documents by name, so
/// nothing needs matching.
fn sets(merger: &mut Merger<'_>) -> Result<()> {
    for set in merger.other.drift_sets()? {
        let pairs = merger.other.drift_pairs(&set.uid)?;
        let is_new = merger.db.add_drift_set(&set, &pairs)?;
        merger.merged.count(&SETS, usize::from(is_new));
        for round in merger.other.drift_rounds(&set.uid)? {
            let is_new = merger.db.add_drift_round(&set.uid, &round)?;
            merger.merged.count(&ROUNDS, usize::from(is_new));
        }
    }
    Ok(())
}
