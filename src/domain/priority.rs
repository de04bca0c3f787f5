//! Decides which battles a person should review first.
//!
//! [`score_pairs`] computes the priorities of the pairs of one query from that query's view alone.
//! [`build_queue`] orders the scored pairs of all queries for one person, with random controls if
//! requested. [`inclusion_probabilities`] returns how likely each pair was to be shown, so that
//! estimates from the shown pairs can be unbiased.

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
pub use queue_design::{QueueCandidate, QueueDesign, QueueEntry, QueueSelection, build_queue};
pub use scoring::{
    InTop, PairPriority, Scoring, ValueParts, effective_top, score_pairs, top_of, value_parts,
};
