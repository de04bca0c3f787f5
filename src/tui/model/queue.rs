//! State of the queue screen: its items and their order.

use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{ListedPair, PairDescription};
use crate::app::review::review_queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::Policy;
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use crate::tui::model::review::CurrentItem;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub struct QueueState {
    pub policy: Policy,
    /// One query, or the whole project.
    pub scope: Option<QueryKey>,
    /// Only pairs on which people disagree.
    pub conflicts: bool,
    /// Only battles on which this judge disagrees with the others.
    pub against: Option<JudgeId>,
    /// Only pairs of these queries, if set.
    pub within: Option<HashSet<QueryKey>>,
    /// The items to judge, in order of priority.
    pub items: Vec<QueueItem>,
    /// The latest described pair, for the lines about the selected item; `None` while it is
    /// pending.
    pub described: Option<(QueryKey, Pair, Option<PairDescription>)>,
    /// Titles of documents in pairs on the visited pages; `None` while they are pending.
    pub titles: HashMap<(QueryKey, Pair), Option<ListedPair>>,
    /// Index of the item under the cursor, among those shown.
    pub cursor: usize,
    pub filter: String,
    /// Whether only queries that match the filter are included.
    pub narrowed: bool,
    pub loaded: bool,
    /// Number of queries to be read before the queue is ready.
    pub waits_for: Option<usize>,
    /// Why it cannot be computed.
    pub failed: Option<String>,
    pub stats: AnnotatorStatistics,
    /// Items judged in this session, for going back.
    pub done: Vec<CurrentItem>,
    pub current: Option<CurrentItem>,
}
