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
mod row;
mod write;

#[cfg(test)]
pub use collect::CandidateLists;
pub use collect::{collect_candidates, collect_qrels, collect_run};
pub(super) use read::{LONGEST, candidate_cells, columns, grade, in_columns, is_heading};
pub use read::{read_candidates, read_qrels, read_run};
pub use row::GradedDocument;
#[cfg(any(test, feature = "fuzzing"))]
pub use row::RankedDocument;
pub use write::{cell, write_qrels, write_run};
