//! Review: what a person is to judge next, and what their verdicts say so far.

pub mod annotator_statistics;
mod assignment_history;
mod dissent;
pub mod queue;

pub use assignment_history::assignment_history;
