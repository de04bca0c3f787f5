//! Review: which pairs a person judges next, their decisions, and statistics on their verdicts.

pub mod annotator_statistics;
mod assignment_history;
mod dissent;
pub mod override_pair;
pub mod pair_description;
pub mod pair_verdicts;
pub mod review_queue;
pub mod similar_names;
pub mod undo;

pub use assignment_history::assignment_history;
