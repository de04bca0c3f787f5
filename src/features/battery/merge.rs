//! Batteries of the other file. Their answers are calls, which are merged as such.

use crate::store::Result;
use crate::store::merge::{AddedCount, Merger};

const BATTERIES: AddedCount = AddedCount::new("batteries", "battery");

pub(crate) const COUNTS: &[AddedCount] = &[BATTERIES];

/// Copies batteries with their pairs. They refer to queries and documents by name, so nothing needs
/// matching.
pub(crate) fn batteries(merger: &mut Merger<'_>) -> Result<()> {
    for battery in merger.other.batteries()? {
        let pairs = merger.other.battery_pairs(&battery.uid)?;
        let is_new = merger.db.add_battery(&battery, &pairs)?;
        merger.merged.count(&BATTERIES, usize::from(is_new));
    }
    Ok(())
}
