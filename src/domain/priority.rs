//! Which battles a person should look at first.
//!
//! [`score_pairs`] gives the pairs of one query their priorities and depends on that query's view alone; [`build_queue`] puts the
//! scored pairs of all queries into one order for one person, with random controls where asked; [`sampling_weights`] makes an
//! estimate from whatever was shown in that order unbiased.

mod certainty;
mod cycles;
pub mod graded;
mod impact;
mod inclusion;
mod policy;
mod queue;
mod scoring;
mod simulate;

pub use certainty::{Certainty, Separation, at_the_cut, certainty, separation};
pub use cycles::{
    CyclicTriad, DecidedPair, Hodge, consistency, cyclic_triads, decided_pairs,
    decided_pairs_of_judge, hodge, weakest_pairs,
};
pub use impact::{Impact, flipped_gap, impact, impacts, refit};
pub use inclusion::{Assignment, DrawReason, PairKey, inclusion_probabilities, sampling_weights};
pub use policy::Policy;
pub use queue::{QueueCandidate, QueueDesign, QueueEntry, build_queue};
pub use scoring::{
    DEFAULT_TOP, PairPriority, Scoring, effective_top, error_probability, score_pairs,
    top_probabilities,
};
pub use simulate::{Answers, Point, ReviewMean, Simulation, simulate};

#[cfg(test)]
mod tests;
