//! Measurements of the other file, with the documents drawn for them.

use crate::store::Result;
use crate::store::merge::{AddedCount, MergePart, Merger};
use std::collections::HashMap;

const DRAWS: AddedCount = AddedCount::new("measure_draws", "drawn document");

/// What is merged that belongs to no query.
pub(crate) const PART: MergePart = MergePart {
    name: "measurements",
    tables: &["measurement", "measure_draw"],
    is_about_queries: false,
    merge: measurements,
};

pub(crate) const COUNTS: &[AddedCount] = &[DRAWS];

/// Copies measurements and draws. They refer to queries and documents by name, so nothing needs
/// matching. Each person draws independently of the others, so the draws of several people count
/// together.
fn measurements(merger: &mut Merger<'_>) -> Result<()> {
    for measurement in merger.other.measurements()? {
        merger.db.add_measurement(&measurement)?;
    }
    let mut parts = HashMap::new();
    let mut measurement = None;
    for draw in merger.other.all_draws()? {
        if measurement.replace(draw.measurement) != Some(draw.measurement) {
            parts = merger.other.draw_parts(&draw.measurement)?;
        }
        let parts = parts.remove(&(draw.annotator.clone(), draw.step));
        let new = merger.db.add_draw(&draw, parts.as_deref())?;
        merger.merged.count(&DRAWS, usize::from(new));
    }
    Ok(())
}
