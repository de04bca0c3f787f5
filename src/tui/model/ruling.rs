//! State of the document being ruled on.

use crate::app::adjudication::data::AdjudicationItem;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use std::time::Instant;

/// A document being ruled on: with hidden label first, then with everything visible.
#[derive(Clone, Debug)]
pub struct CurrentRuling {
    pub disagreement: AdjudicationItem,
    /// Whether it was the first disagreement of the list when it was begun.
    pub first: bool,
    /// When the text became visible.
    pub since: Option<Instant>,
    /// Text, label and the judges' answers.
    pub evidence: Option<Box<DocumentEvidence>>,
    /// Whether label and picks are visible.
    pub open: bool,
    /// The first ruling, once made.
    pub ruled: Option<Finding>,
    pub finding: Option<Finding>,
    /// Why pick and label differ.
    pub fault: Option<DisagreementCause>,
    pub note: Option<String>,
    /// Whether the ruling differs from the stored one.
    pub unsaved: bool,
    /// First visible line of the text; if `None`, that of the passage most similar to the query.
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
