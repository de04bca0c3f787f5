//! TREC's text files: qrels, runs, and lists of candidates. One record a line, columns between white space; those of candidates between tabs or commas too.
//!
//! | file | columns |
//! | --- | --- |
//! | qrels | query, iteration (unused), document, grade |
//! | run | query, `Q0` (unused), document, rank (unused), score, name of the run |
//! | candidates | query, document, then rank and score where there are any |
//!
//! A run's order is its scores', not its ranks' (SEEDS §5). Candidates are in the order of their lines.

mod collect;
mod read;
mod write;

#[cfg(test)]
pub use collect::CandidateLists;
pub use collect::{collect_candidates, collect_qrels, collect_run};
pub(super) use read::{LONGEST, candidate_cells, columns, grade, is_heading, named};
pub use read::{TrecRows, read_candidates, read_qrels, read_run};
pub use write::{cell, write_qrels, write_run};

use crate::domain::corpus::{DocId, QueryId};

/// How relevant a person holds a document to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradedDocument {
    /// The query.
    pub query: QueryId,
    /// The document.
    pub document: DocId,
    /// The grade; 0 and below are not relevant.
    pub grade: i32,
}

/// A document of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedDocument {
    /// The query.
    pub query: QueryId,
    /// The document.
    pub document: DocId,
    /// The rank, where the line has one.
    pub rank: Option<i64>,
    /// The score, where the line has one; larger is better.
    pub score: Option<f64>,
}
