//! Batteries of the other file. Their answers are calls, which are merged as such.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};

const BATTERIES: AddedCount = AddedCount::new("batteries", "battery");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "batteries",
    tables: &["battery_set", "battery_pair"],
    is_about_queries: false,
    merge: batteries,
};

pub(crate) const COUNTS: &[AddedCount] = &[BATTERIES];

/// Copies batteries with their pairs. They refer to queries and documents by name, so nothing needs
/// matching.
fn batteries(merger: &mut Merger<'_>) -> Result<()> {
    for battery in merger.other.batteries()? {
        let pairs = merger.other.battery_pairs(&battery.uid)?;
        let is_new = merger.db.add_battery(&battery, &pairs)?;
        merger.merged.count(&BATTERIES, usize::from(is_new));
    }
    Ok(())
}
