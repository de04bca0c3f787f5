//! What a reranking method did on a query: the order it made, and what that took; and methods held against each other.

mod comparison;
mod effort;

pub use comparison::{MethodValues, QueryDelta, histogram, holm, methods_on_front};
pub use effort::MethodEffort;
#[cfg(test)]
pub(crate) use effort::nearest_rank;

use crate::domain::corpus::{DocId, QueryId};

/// A method's result on one query, the latest where it was run more than once.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRow {
    pub query: QueryId,
    /// The method's canonical name, such as `rankgpt@20:w20:s10`.
    pub method: String,
    /// The judges (or the service) whose answers the order rests on, by name. Empty for an order that nobody was asked about.
    pub judges: Vec<String>,
    /// All of the query's candidates, best first. Empty for a failed query.
    pub order: Vec<DocId>,
    /// What the order rests on, beside `order`, where the method has it: points, grades, scores.
    pub scores: Option<Vec<Option<f64>>>,
    /// Calls answered and failed, together.
    pub calls: u64,
    /// Those of `calls` that ended without an answer.
    pub failed_calls: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// US dollars, or `None` where a price is not known.
    pub cost_usd: Option<f64>,
    /// From the first question of the query to its order. `None` where some answers were there before, from an earlier run or
    /// for another method: the time says nothing then.
    pub wall_ms: Option<u64>,
    /// The sum over its calls of the time the service took.
    pub service_ms: u64,
    /// Answers that had to be mended.
    pub repairs: u64,
    /// Documents that were cut to the judge's limit.
    pub truncated: u64,
    /// Why there is no order.
    pub failure: Option<String>,
    /// When the row was written, in milliseconds since 1970.
    pub created_ms: i64,
}
