//! Results of reranking methods on a query (the order and its cost), and comparisons of methods.

mod comparison;
mod effort;
pub mod reranking;

pub use comparison::{MethodValues, QueryDelta, holm, methods_on_front};
pub use effort::MethodEffort;
#[cfg(test)]
pub(crate) use effort::nearest_rank;

use crate::domain::corpus::{DocId, QueryId};

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
    /// Time from the first question of the query to its order. `None` if some answers were already
    /// cached, from an earlier run or for another method, because the time is meaningless then.
    pub wall_ms: Option<u64>,
    /// The service time, summed over all calls.
    pub service_ms: u64,
    /// Answers that had to be repaired.
    pub repairs: u64,
    /// Documents that were truncated to the judge's limit.
    pub truncated: u64,
    /// Why there is no order.
    pub failure: Option<String>,
    /// When the row was written, in milliseconds since 1970.
    pub created_ms: i64,
}
