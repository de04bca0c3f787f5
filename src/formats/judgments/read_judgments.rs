//! The judgments of a file.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::formats::columns::CollectedLabels;
use std::collections::BTreeMap;

/// The judgments of a file.
#[derive(Debug, Default)]
pub struct ReadJudgments {
    pub collected: CollectedLabels,
    /// Texts of queries that the file names by an identifier.
    pub texts: BTreeMap<QueryId, String>,
    /// The lines of documents that the file may name by their texts, by the names of the file.
    pub document_lines: BTreeMap<(QueryId, DocId), u64>,
    /// Documents on which people differ, which have the median of their grades.
    pub differing: usize,
}

impl From<CollectedLabels> for ReadJudgments {
    fn from(collected: CollectedLabels) -> Self {
        Self {
            collected,
            ..Self::default()
        }
    }
}

impl From<Qrels> for ReadJudgments {
    fn from(labels: Qrels) -> Self {
        Self::from(CollectedLabels {
            labels,
            ..CollectedLabels::default()
        })
    }
}
