//! What an import would bring, counted before anything is changed.

use crate::app::wording::counted;
use crate::domain::corpus::QueryId;
use crate::domain::sanitise;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::{self, Display};

/// What of a file of pools is good.
#[derive(Debug, Default)]
pub(super) struct PoolCounts {
    pub(super) queries: HashSet<QueryId>,
    pub(super) documents: usize,
    pub(super) battles: usize,
    pub(super) votes: usize,
}

/// What an import would bring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportPreview {
    /// The file, as shown.
    pub file: String,
    /// What it holds: `a dataset`.
    pub format: &'static str,
    /// How much: `8 queries, 200 documents`.
    pub content: String,
    /// Queries of the file.
    pub queries: usize,
    /// Queries of the file that the project holds already.
    pub queries_here: usize,
}

impl Display for ImportPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}; already here: {}",
            sanitise::line(&self.file),
            self.format,
            self.content,
            counted(self.queries_here, "query"),
        )
    }
}
