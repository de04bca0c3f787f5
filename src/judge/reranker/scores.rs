//! The scores of some documents, with what is known of the call that made them.

use crate::judge::call::Exchange;

/// What a reranker made of some documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RerankScores {
    /// One for each document, in the order in which they were given; higher is better.
    pub scores: Vec<f64>,
    /// Whether only an order is known: the scores are the places from the end, and their distances say nothing.
    pub places_only: bool,
    /// What is known of the call: tokens as the service counts them, and dollars.
    pub exchange: Exchange,
    /// Documents that were not sent whole.
    pub truncated: u64,
}
