//! Measures a run, or the difference of two, from rulings on documents that are drawn at random
//! with known probabilities.

mod design;
mod estimate;
mod expected;
#[cfg(test)]
mod golden;
mod relevance;
mod series;
#[cfg(test)]
mod simulation;
mod slice;

pub use design::{DrawDesign, FrameQuery, MeasuredFrame};
pub use estimate::{ALPHA, CombinedEstimate, FEWEST_DRAWS, IntervalKind, MeasuredVerdict};
pub use expected::ExpectedMetric;
pub use series::{Draw, MeasuredSeries};
pub use slice::{DrawParts, SliceState, encode_parts};
