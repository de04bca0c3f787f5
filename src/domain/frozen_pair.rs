//! A pair of documents that was chosen once, so that a judge can be asked about it again.

use super::corpus::{DocId, QueryId};
use super::vote::Margin;

/// A pair as it was when it was chosen. It refers to the query and the documents by name.
#[derive(Clone, Debug, PartialEq)]
pub struct FrozenPair {
    pub query: QueryId,
    /// The document shown first, and the other one.
    pub documents: [DocId; 2],
    /// Hash of the judge and of everything that it is sent.
    pub key: [u8; 32],
    /// The judge's vote on the same question before, negative if the first document is better.
    pub vote: Option<Margin>,
}
