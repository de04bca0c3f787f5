//! Manipulates texts of pairs, and tests whether this turns the answers of a judge.

mod figures;
mod manipulation;
mod variant;

pub use figures::{BatteryConclusion, BatteryFigures, Finding, ManipulationFigures, ProbedPair};
pub use manipulation::Manipulation;
pub use variant::{VariantTexts, variant_of};

/// The share of additional flips, in 0..1, from which on a judge does not count as robust.
pub const MARGIN: f64 = 0.15;
/// The error of a finding that a manipulation turns answers: over all manipulations together.
pub const ERROR: f64 = 0.05;
