//! State of the adjudication screen: statistics on picks, labels and rulings, and the items to rule
//! on.

use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::review::pair_description::ListedDocument;
use crate::domain::adjudication::DisagreementOrder;
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::model::ruling_session::RulingSession;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct AdjudicationState {
    /// The statistics, once they are computed.
    pub overview: Option<Box<AdjudicationOverview>>,
    pub order: DisagreementOrder,
    /// The items to rule on, in order of priority.
    pub disagreements: Vec<AdjudicationItem>,
    /// Index of the disagreement under the cursor, among those shown.
    pub cursor: usize,
    /// Index of the ranking whose metrics are shown.
    pub ranking: usize,
    pub filter: String,
    pub list: AdjudicationList,
    /// Documents ruled on since the overview was requested.
    pub ruled_since: Vec<(QueryKey, DocId)>,
    /// Titles and metadata of documents on the visited pages; empty ones are pending.
    pub titles: HashMap<(QueryKey, DocId), ListedDocument>,
    /// Postponed disagreements, which come after all others.
    pub put_off: Vec<(QueryKey, DocId)>,
    /// Items ruled on in this session, for going back.
    pub done: Vec<AdjudicationItem>,
    /// The document to select once the disagreements are listed.
    pub wanted: Option<(QueryKey, DocId)>,
    pub current: Option<CurrentRuling>,
    pub prefetched: Option<Box<DocumentEvidence>>,
    /// Statistics on rulings since the first document was opened.
    pub session: RulingSession,
}
