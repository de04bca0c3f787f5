//! The document being ruled on.

use crate::app::adjudication::data::AdjudicationItem;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use std::time::Instant;

/// The document being ruled on: hidden label first, then with everything in sight.
#[derive(Clone, Debug)]
pub struct CurrentRuling {
    pub disagreement: AdjudicationItem,
    /// Whether it was the list's own first disagreement when it was begun.
    pub first: bool,
    /// Since when the text has been in sight.
    pub since: Option<Instant>,
    /// Text, label and what the judges said.
    pub evidence: Option<Box<DocumentEvidence>>,
    /// Whether label and picks are in sight.
    pub open: bool,
    /// The first ruling, once made.
    pub ruled: Option<Finding>,
    pub finding: Option<Finding>,
    /// Why pick and label differ.
    pub fault: Option<DisagreementCause>,
    pub note: Option<String>,
    /// Whether the ruling differs from what is stored.
    pub unsaved: bool,
    /// First line of the text that is shown; that of the passage nearest to the query where none was chosen.
    pub scroll: Option<usize>,
}

impl CurrentRuling {
    pub fn new(disagreement: AdjudicationItem, first: bool, open: bool) -> Self {
        Self {
            disagreement,
            first,
            since: None,
            evidence: None,
            open,
            ruled: None,
            finding: None,
            fault: None,
            note: None,
            unsaved: false,
            scroll: None,
        }
    }

    pub fn is_about(&self, query: QueryKey, document: &DocId) -> bool {
        self.disagreement.query == query && self.disagreement.document == *document
    }
}
