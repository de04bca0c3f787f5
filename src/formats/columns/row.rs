//! The content of one row of columns.

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
    pub rank: Option<i32>,
    /// The score, if the row has one; larger is better.
    pub score: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScoredText {
    pub query: QueryId,
    pub document: DocId,
    pub score: f64,
    /// `None` if the file has no column of texts.
    pub text: Option<String>,
}

/// A candidate with its text and that of its query.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolRow {
    pub ranked: RankedDocument,
    pub query_text: String,
    pub text: String,
}
