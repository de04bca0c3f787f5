//! Previews an import: counts what it would add, before anything is changed.

use crate::app::text_format::counted;
use crate::domain::corpus::QueryId;
use crate::domain::sanitize;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::{self, Display};

/// Size of the valid part of a file of pools.
#[derive(Debug, Default)]
pub(super) struct PoolCounts {
    pub(super) queries: HashSet<QueryId>,
    pub(super) documents: usize,
    pub(super) battles: usize,
    pub(super) votes: usize,
}

/// Preview of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportPreview {
    /// The file name as displayed.
    pub file: String,
    /// Its content, such as `a dataset`.
    pub format: &'static str,
    /// Its size, such as `8 queries, 200 documents`.
    pub content: String,
    /// Number of queries in the file.
    pub queries: usize,
    /// Number of those queries that are already in the project.
    pub queries_here: usize,
}

impl Display for ImportPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}; already here: {}",
            sanitize::line(&self.file),
            self.format,
            self.content,
            counted(self.queries_here, "query"),
        )
    }
}
