//! Which battles a person should look at first.
//!
//! [`score_pairs`] gives the pairs of one query their priorities and depends on that query's view alone; [`build_queue`] puts the
//! scored pairs of all queries into one order for one person, with random controls where asked; [`inclusion_probabilities`]
//! says how likely each of them was, so that an estimate from whatever was shown can be unbiased.

mod certainty;
pub mod graded;
pub(crate) mod impact;
pub(crate) mod inclusion;
mod intransitive;
mod policy;
pub(crate) mod queue_design;
pub(crate) mod scoring;

pub use certainty::{Certainty, at_the_cut, certainty, separation};
pub use inclusion::{Assignment, DrawReason, PairKey, inclusion_probabilities};
pub use intransitive::{
    CyclicTriad, DecidedPair, cyclic_triads, decided_pairs, decided_pairs_of_judge,
};
pub use policy::Policy;
pub use queue_design::{MostUrgent, QueueCandidate, QueueDesign, build_queue};
pub use scoring::{
    InTop, PairPriority, Scoring, ValueParts, effective_top, score_pairs, top_of, value_parts,
};

#[cfg(test)]
mod tests;
