//! The scores of some documents, with information about the call that produced them.

use crate::judge::call::Exchange;

/// A reranker's scores of some documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RerankScores {
    /// One for each document, in the order in which they were given; higher is better.
    pub scores: Vec<f64>,
    /// Whether only an order is known: the scores are positions from the end, and their differences
    /// have no meaning.
    pub places_only: bool,
    /// Information about the call: tokens as counted by the service, and dollars.
    pub exchange: Exchange,
}
