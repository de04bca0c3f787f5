//! Which battles a person should look at first.
//!
//! [`score`] gives the pairs of one query their priorities and depends on that query's view alone; [`queue`] puts the
//! scored pairs of all queries into one order for one person, with random controls where asked; [`weights`] makes an
//! estimate from whatever was shown in that order unbiased.

mod certainty;
mod cycles;
pub mod graded;
mod impact;
mod ledger;
mod policy;
mod queue;
mod scoring;
mod simulate;

pub use certainty::{Certainty, Separation, at_the_cut, certainty, separation};
pub use cycles::{Edge, Hodge, Triad, cyclic_triads, edges, edges_of_judge, hodge, weakest, zeta};
pub use impact::{Impact, flipped_gap, impact, impacts, refit};
pub use ledger::{Draw, Key, Shown, inclusion, weights};
pub use policy::Policy;
pub use queue::{Candidate, Design, Entry, queue};
pub use scoring::{DEFAULT_TOP, Scored, Scoring, score, top_of, top_probabilities, wrong};
pub use simulate::{Answers, Mean, Point, Simulation, simulate};

#[cfg(test)]
mod tests;
