//! Puts the scores of all queries on one scale. zELO has mean 0 in each query, so scores of two
//! queries cannot be compared until something links the queries.
//!
//! A document's linked score is its zELO plus its query's offset, in the same units. Offsets come
//! from *anchors*, single documents of every query that a judge has graded on one scale, or from
//! *links*, battles between documents of two queries.

mod anchors;
mod drift;
mod links;
mod offsets;
mod simulated;

pub use anchors::{anchor_places, more_anchor_places};
pub use drift::{GradedTwice, drift};
pub use links::{LinkBattle, fit_links, near_gap_links};
pub use offsets::{AnchorGrade, fit_anchors};
pub use simulated::{ScaleDesign, ScaleWorld, simulated_scale};
