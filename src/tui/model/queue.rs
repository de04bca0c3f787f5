//! The queue: what it holds and how it is ordered.

use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{PairDescription, PairTitles};
use crate::app::review::review_queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::Policy;
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use crate::tui::model::review::CurrentItem;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct QueueScreen {
    pub policy: Policy,
    /// One query, or the whole project.
    pub scope: Option<QueryKey>,
    /// Only pairs on which people differ.
    pub conflicts: bool,
    /// Only battles on which this judge parts from the others.
    pub against: Option<JudgeId>,
    /// What is to be judged, first things first.
    pub items: Vec<QueueItem>,
    /// The pair that was described last, for the lines under the cursor; `None` while it is on its way.
    pub described: Option<(QueryKey, Pair, Option<PairDescription>)>,
    /// The titles of the documents of pairs on the pages that were looked at; `None` while they are on their way.
    pub titles: HashMap<(QueryKey, Pair), Option<PairTitles>>,
    /// The item under the cursor, among those shown.
    pub cursor: usize,
    pub filter: String,
    /// Whether the items are of the queries that match the filter alone.
    pub narrowed: bool,
    pub loaded: bool,
    /// How many queries are still to be looked at before it is.
    pub waits_for: Option<usize>,
    /// Why it cannot be worked out.
    pub failed: Option<String>,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    pub stats: AnnotatorStatistics,
    /// What was judged in this session, to be returned to.
    pub done: Vec<CurrentItem>,
    pub current: Option<CurrentItem>,
}
