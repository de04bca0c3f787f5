//! What picks, labels and rulings amount to, and what is to be ruled on.

use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::domain::adjudication::{DisagreementOrder, PickSummary, Remeasured};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::tui::screens::ruling::state::{CurrentRuling, DocumentEvidence};
use std::collections::HashMap;

/// The adjudication screen.
#[derive(Debug, Default)]
pub struct AdjudicationScreen {
    /// Figures about picks, labels and rulings, once it is computed.
    pub overview: Option<Box<AdjudicationOverview>>,
    /// What comes first in the list.
    pub order: DisagreementOrder,
    /// What is to be ruled on, first things first.
    pub disagreements: Vec<AdjudicationItem>,
    /// The disagreement under the cursor, among those shown.
    pub cursor: usize,
    /// The ranking whose measures are shown.
    pub ranking: usize,
    /// Keep only disagreements whose query matches.
    pub filter: String,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// Which documents are listed.
    pub list: AdjudicationList,
    /// Whether the overview is being worked out anew.
    pub waiting: bool,
    /// What has been ruled on since the overview was asked for.
    pub ruled_since: Vec<(QueryKey, DocId)>,
    /// Where each query stands in the list of queries.
    pub places: HashMap<QueryKey, usize>,
    /// Disagreements put off, which come after all others.
    pub put_off: Vec<(QueryKey, DocId)>,
    /// The document that is being ruled on.
    pub current: Option<CurrentRuling>,
    /// A document loaded before it is wanted.
    pub prefetched: Option<Box<DocumentEvidence>>,
}

/// Figures about picks, labels and rulings.
#[derive(Clone, Debug, Default)]
pub struct AdjudicationOverview {
    /// Pools that were picked from or have labels.
    pub pools: usize,
    /// Labels in the project.
    pub labels: usize,
    /// One row a judge and order of the pools.
    pub judges: Vec<PickRow>,
    /// Whether every judge is an offline one.
    pub offline: bool,
    /// What is to be ruled on.
    pub disagreements: Vec<AdjudicationItem>,
    /// Documents that the annotator has ruled on.
    pub ruled: usize,
    /// Rulings in force, and how many labels they change.
    pub in_force: usize,
    /// Labels that the rulings in force change.
    pub changed: usize,
    /// Documents on which people go different ways.
    pub conflicts: usize,
    /// Each ranking before and after.
    pub effect: Vec<(String, Vec<Remeasured>)>,
    /// What a reader should know.
    pub warning: Option<&'static str>,
}

/// One judge's picks in one order of the pools.
#[derive(Clone, Debug)]
pub struct PickRow {
    /// The judge, with what tells it from others of the name.
    pub name: String,
    /// What its picks amount to.
    pub summary: PickSummary,
    /// Calls that failed.
    pub failed: usize,
}
