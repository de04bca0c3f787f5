//! Measurements of the other file, with the documents drawn for them.

use crate::store::Result;
use crate::store::merge::{AddedCount, Merger};

const DRAWS: AddedCount = AddedCount::new("measure_draws", "drawn document");

pub(crate) const COUNTS: &[AddedCount] = &[DRAWS];

/// Copies measurements and draws. They refer to queries and documents by name, so nothing needs
/// matching. Each person draws independently of the others, so the draws of several people count
/// together.
pub(crate) fn measurements(merger: &mut Merger<'_>) -> Result<()> {
    for measurement in merger.other.measurements()? {
        merger.db.add_measurement(&measurement)?;
    }
    for draw in merger.other.all_draws()? {
        let other = &merger.other;
        let parts = other.draw_parts(&draw.measurement, &draw.annotator, draw.step)?;
        let new = merger.db.add_draw(&draw, parts.as_deref())?;
        merger.merged.count(&DRAWS, usize::from(new));
    }
    Ok(())
}
