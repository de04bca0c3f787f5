//! One scale over queries (SCIENCE2 §4): an absolute score of a document is a = e + b, with its zELO e, which has mean 0 in its
//! query, and an offset b of the query, which only questions that go beyond one query can tell.
//!
//! Anchors are a few documents of each query that one judge graded, each by itself. Its grades follow a cumulative logistic
//! model of a, P(grade ≥ level j) = σ(β · a − c_j), with b ~ N(0, τ²): a random intercept. Links are battles of documents of
//! different queries.

mod anchors;
mod drift;
mod links;
mod simulation;

pub use anchors::{AnchorGrade, QueryOffset, anchor_ranks, fit_anchors};
pub use drift::{Drift, ENOUGH_RULINGS};
pub use links::{AnsweredLink, Link, choose_links, fit_links};
pub use simulation::{ScaleDesign, ScaleWorld};

#[cfg(test)]
mod tests;
