//! The label court: a judge picks the relevant documents of a pool, and its picks are held against the labels.
//!
//! An answer that breaks the rules is invalid and counted as such; nothing is repaired or filled in. Agreement is
//! reported beside what random picks would reach (SEEDS §2.4).

mod answer;
mod tally;

pub use answer::{Ask, Invalid, Reply, clip, forced};
pub use tally::{Boxes, Chance, Outcome, Summary, outcomes, summarise};
