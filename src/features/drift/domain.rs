//! Tests whether a judge or a search system has changed.

mod betting;
mod conclusion;
mod judge_check;
mod right_share;
mod system_change;

pub use conclusion::{DriftConclusion, conclude};
pub use judge_check::{JudgeCheck, ReferencedAnswer};
pub use right_share::RightShare;
pub use system_change::SystemChange;

/// The excess, to either side, from which on a check does not count as unchanged.
pub const MARGIN: f64 = 0.1;
/// The probability of a false alarm: over all checks of a set of pairs, however often it is checked.
pub const ERROR: f64 = 0.05;
