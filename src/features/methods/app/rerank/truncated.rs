//! Counts the documents that are longer than the limit of a run.

use crate::app::text_format::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::document_cut::DocumentCut;
use crate::domain::number_words::count;
use crate::domain::sanitize;

#[derive(Debug, Default)]
pub(super) struct TruncatedDocuments {
    documents: usize,
    queries: usize,
    first: Option<(QueryId, DocId)>,
}

impl TruncatedDocuments {
    /// Adds the documents of a query.
    pub(super) fn add(&mut self, query: &QueryId, documents: &[DocId]) {
        let Some(first) = documents.first() else {
            return;
        };
        self.documents += documents.len();
        self.queries += 1;
        self.first
            .get_or_insert_with(|| (query.clone(), first.clone()));
    }

    /// A note about them, if there are any.
    pub(super) fn note(&self, limit: DocumentCut) -> Option<String> {
        let (query, document) = self.first.as_ref()?;
        Some(format!(
            "truncated to {} characters for every method: {} of {}; the first one is {:?} of query \
             {:?}",
            count(limit.chars),
            counted(self.documents, "document"),
            counted(self.queries, "query"),
            sanitize::line(document.as_str()),
            sanitize::line(query.as_str()),
        ))
    }
}
