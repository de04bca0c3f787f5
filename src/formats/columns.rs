//! Labels and rankings in columns.
//!
//! The first line determines how the whole file is read. A file has one delimiter: tabs, commas, or
//! whitespace if the first line has neither. A header names the columns; a file without a header
//! must be one of TREC's.
//!
//! | first line | the file holds |
//! | --- | --- |
//! | 4 columns: query, iteration, document, grade | TREC's qrels |
//! | 6 or more columns: query, `Q0`, document, rank, score, name, ignored | a TREC run |
//! | a header with a rating, relevance, label or grade | labels |
//! | a header with query-id, corpus-id and score | BEIR's qrels |
//! | another header with a score or a rank | rankings, and pools if there are texts |
//! | a header with query and document only | candidates, best first |
//!
//! A ranking is sorted by its scores, regardless of its ranks; by its ranks if it has no scores;
//! and by its lines if it has neither.

mod collect;
mod error;
mod header;
mod layout;
mod read;
mod row;

pub use collect::{CollectedLabels, collect_labels, collect_rankings};
pub(super) use error::{ColumnError, decimal_comma};
pub(super) use header::is_column_name;
pub(super) use layout::{LONGEST, refused_delimiter};
pub use layout::{Layout, TableContent};
pub use read::{read_labels, read_pool_rows, read_rankings, read_scored_texts};
pub(super) use row::GradedDocument;
pub use row::{PoolRow, ScoredText};
