//! The comparison of reranking methods, and two rankings of one query side by side.

use crate::app::methods::{MethodEntry, MethodsReport};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::methods::QueryDelta;

#[derive(Debug, Default)]
pub struct MethodsScreen {
    /// What the comparison found, or why there is none; `None` while it is worked out.
    pub report: Option<Result<Box<MethodsReport>, String>>,
    /// The method under the cursor.
    pub cursor: usize,
    /// Whether the cursor is in the list of queries that differ.
    pub in_queries: bool,
    pub query_cursor: usize,
    /// The query whose rankings are side by side.
    pub query: Option<QueryId>,
    pub rank_cursor: usize,
}

impl MethodsScreen {
    pub(crate) fn found(&self) -> Option<&MethodsReport> {
        self.report.as_ref()?.as_deref().ok()
    }

    pub(crate) fn method(&self) -> Option<&MethodEntry> {
        let methods = &self.found()?.methods;
        methods.get(self.cursor.min(methods.len().saturating_sub(1)))
    }

    /// The queries on which the method under the cursor and the baseline differ by the first metric, the one that hurts most
    /// first.
    pub(crate) fn deltas(&self) -> Vec<QueryDelta> {
        let found = self.found().and_then(|report| {
            let baseline = report.method(&report.baseline)?.values.first()?;
            Some(self.method()?.values.first()?.deltas(baseline))
        });
        found.unwrap_or_default()
    }

    /// The rankings of the query by the baseline and by the method under the cursor.
    pub(crate) fn rankings(&self) -> Option<(&[DocId], &[DocId])> {
        let (report, query) = (self.found()?, self.query.as_ref()?);
        let baseline = report.method(&report.baseline)?.orders.get(query)?;
        Some((baseline, self.method()?.orders.get(query)?))
    }
}
