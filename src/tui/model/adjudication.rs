//! What the adjudication screens remember.

use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::domain::adjudication::{
    DisagreementCause, DisagreementOrder, Finding, PickSummary, Remeasured, Ruling,
};
use crate::domain::corpus::{DocId, JsonObject};
use crate::store::corpus::QueryKey;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

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

/// The document being ruled on: hidden label first, then with everything in sight.
#[derive(Clone, Debug)]
pub struct CurrentRuling {
    /// What is ruled on.
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
    /// The ruling as it stands.
    pub finding: Option<Finding>,
    /// Why pick and label differ.
    pub fault: Option<DisagreementCause>,
    /// Why, in words.
    pub note: Option<String>,
    /// Whether the ruling differs from what is stored.
    pub unsaved: bool,
    /// First line of the text that is shown; that of the passage nearest to the query where none was chosen.
    pub scroll: Option<usize>,
}

impl CurrentRuling {
    /// A disagreement that has just been begun.
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

    /// Whether this is the disagreement of a document.
    pub fn is_about(&self, query: QueryKey, document: &DocId) -> bool {
        self.disagreement.query == query && self.disagreement.document == *document
    }
}

/// A document with its query, its label and what the judges said of it.
#[derive(Clone, Debug)]
pub struct DocumentEvidence {
    /// The query.
    pub query: QueryKey,
    /// The document.
    pub document: DocId,
    /// The query's text.
    pub asked: String,
    /// The document's title, where it has one.
    pub title: Option<String>,
    /// The document's text.
    pub text: Arc<str>,
    /// Its metadata.
    pub metadata: JsonObject,
    /// Its label; none for an unjudged document.
    pub label: Option<i32>,
    /// What each judge picked, in each order.
    pub picks: Vec<JudgePick>,
    /// What people have ruled, as it stands.
    pub rulings: Vec<Ruling>,
}

/// What a judge said of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgePick {
    /// The judge, with what tells it from others of the name.
    pub judge: String,
    /// Whether it picked the document.
    pub picked: bool,
    /// Its reasons for its picks from the pool.
    pub reason: String,
}
