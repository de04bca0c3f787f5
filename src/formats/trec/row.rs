//! The rows of TREC's files.

use crate::domain::corpus::{DocId, QueryId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradedDocument {
    pub query: QueryId,
    pub document: DocId,
    /// The grade; 0 and below are not relevant.
    pub grade: i32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RankedDocument {
    pub query: QueryId,
    pub document: DocId,
    pub rank: Option<i64>,
    /// The score, where the line has one; larger is better.
    pub score: Option<f64>,
}
