//! What picks, labels and rulings amount to, and what is to be ruled on.

use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::domain::adjudication::DisagreementOrder;
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::model::ruling_session::RulingSession;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct AdjudicationScreen {
    /// Figures about picks, labels and rulings, once it is computed.
    pub overview: Option<Box<AdjudicationOverview>>,
    pub order: DisagreementOrder,
    /// What is to be ruled on, first things first.
    pub disagreements: Vec<AdjudicationItem>,
    /// The disagreement under the cursor, among those shown.
    pub cursor: usize,
    /// The ranking whose measures are shown.
    pub ranking: usize,
    pub filter: String,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    pub list: AdjudicationList,
    /// Whether the overview is being worked out anew.
    pub waiting: bool,
    /// What has been ruled on since the overview was asked for.
    pub ruled_since: Vec<(QueryKey, DocId)>,
    /// The titles of documents on the pages that were looked at; empty ones are on their way.
    pub titles: HashMap<(QueryKey, DocId), String>,
    /// Where each query stands in the list of queries.
    pub places: HashMap<QueryKey, usize>,
    /// Disagreements put off, which come after all others.
    pub put_off: Vec<(QueryKey, DocId)>,
    /// What was ruled on in this session, to be returned to.
    pub done: Vec<AdjudicationItem>,
    /// The document to go to once the disagreements are listed.
    pub wanted: Option<(QueryKey, DocId)>,
    pub current: Option<CurrentRuling>,
    pub prefetched: Option<Box<DocumentEvidence>>,
    /// What was ruled on since the first document was opened.
    pub session: RulingSession,
}
