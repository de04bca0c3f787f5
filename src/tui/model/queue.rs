//! The queue: what it holds and how it is ordered.

use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::review_queue::QueueItem;
use crate::domain::priority::Policy;
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use crate::tui::model::review::CurrentItem;

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
    /// The item under the cursor, among those shown.
    pub cursor: usize,
    pub filter: String,
    pub loaded: bool,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    pub stats: AnnotatorStatistics,
    pub current: Option<CurrentItem>,
}
