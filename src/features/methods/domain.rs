//! Results of reranking methods on a query (the order and its cost), and comparisons of methods.

mod comparison;
mod effort;
mod failure;
pub mod reranking;

pub use comparison::{MethodValues, QueryDelta, methods_on_front};
pub use effort::MethodEffort;
#[cfg(test)]
pub(crate) use effort::nearest_rank;
pub use failure::{FailureKind, RankingFailure};

use crate::domain::corpus::{DocId, QueryId};

/// Name of the first-stage order.
pub const ORIGINAL: &str = "original";

/// A method's result on one query; the latest one if it was run more than once.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRow {
    pub query: QueryId,
    /// The method's canonical name, such as `rankgpt@20:w20:s10`.
    pub method: String,
    /// The judges (or the service) whose answers the order is based on, by name. Empty for an order
    /// that required no answers.
    pub judges: Vec<String>,
    /// All candidates of the query, best first. Empty for a failed query.
    pub order: Vec<DocId>,
    /// The values behind `order`, if the method has them: points, grades, scores.
    pub scores: Option<Vec<Option<f64>>>,
    /// Calls, answered and failed.
    pub calls: u64,
    /// How many of `calls` ended without an answer.
    pub failed_calls: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// US dollars, or `None` if a price is unknown.
    pub cost_usd: Option<f64>,
    /// How many of `calls` were answered by a call of another ranking or of an earlier run. `None`
    /// for a result of an earlier version, which did not count them.
    pub shared_calls: Option<u64>,
    /// Time from the first question of the query to its order; a shared answer counts with the time
    /// that its call took. `None` if all answers were shared.
    pub wall_ms: Option<u64>,
    /// The service time, summed over all calls.
    pub service_ms: u64,
    /// Answers that had to be repaired.
    pub repairs: u64,
    /// Number of documents that were truncated.
    pub truncated: u64,
    /// Maximum number of characters shown of each document; `None` if they were shown whole.
    pub document_chars: Option<usize>,
    /// The truncated documents. `None` for a result of an earlier version, which truncated
    /// documents in lists to a part of the judge's limit and did not record which.
    pub cut: Option<Vec<DocId>>,
    /// Why there is no order.
    pub failure: Option<RankingFailure>,
    /// When the row was written, in milliseconds since 1970.
    pub created_ms: i64,
}
