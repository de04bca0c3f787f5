//! The queue, and the pair that lies before the person.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::Policy;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use std::time::Instant;

/// The queue screen.
#[derive(Debug, Default)]
pub struct QueueScreen {
    /// The order.
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
    /// Keep only items whose query matches.
    pub filter: String,
    /// Whether a queue has arrived.
    pub loaded: bool,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// What the verdicts so far say.
    pub stats: AnnotatorStatistics,
    /// The pair that is being judged.
    pub current: Option<CurrentItem>,
}

/// The judges screen.
#[derive(Debug, Default)]
pub struct JudgesScreen {
    /// The report, once it is computed.
    pub report: Option<Box<RaterReport>>,
    /// The judge under the cursor; the ensemble comes last.
    pub cursor: usize,
    /// What would change without a judge.
    pub without: Option<(JudgeId, RankingShift)>,
}

/// A pair under review: blind first, then with everything in sight.
#[derive(Clone, Debug)]
pub struct CurrentItem {
    /// What is judged.
    pub item: QueueItem,
    /// Whether it was the queue's own first item when it was begun.
    pub first: bool,
    /// Whether it comes from the queue, and not from a matrix or a document.
    pub queued: bool,
    /// Since when the texts have been in sight.
    pub since: Option<Instant>,
    /// The blind verdict, once given, from the screen's A and B.
    pub blind: Option<Decision>,
    /// The verdict as it stands, from the screen's A and B.
    pub decision: Option<Decision>,
    /// How sure the person is.
    pub confidence: Option<Confidence>,
    /// Why the person and the judges part.
    pub cause: Option<ErrorCause>,
    /// Why, in words.
    pub note: Option<String>,
    /// Whether the verdict after the reveal differs from what is stored.
    pub unsaved: bool,
}

impl CurrentItem {
    /// A pair that has just been begun.
    pub fn new(item: QueueItem, first: bool) -> Self {
        Self {
            item,
            first,
            queued: true,
            since: None,
            blind: None,
            decision: None,
            confidence: None,
            cause: None,
            note: None,
            unsaved: false,
        }
    }

    /// Whether the judges are hidden.
    pub fn is_blind(&self) -> bool {
        self.blind.is_none()
    }

    /// Whether this is the pair of a query.
    pub fn is_about(&self, query: QueryKey, pair: Pair) -> bool {
        (self.item.query, self.item.pair) == (query, pair)
    }
}
