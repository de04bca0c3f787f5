//! State of the pair under review.

use crate::app::review::review_queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::store::corpus::QueryKey;
use std::time::Instant;

/// A pair under review: blind first, then with everything visible.
#[derive(Clone, Debug)]
pub struct CurrentItem {
    pub item: QueueItem,
    /// Whether it was the first item of the queue when it was begun.
    pub first: bool,
    /// Whether it comes from the queue, as opposed to a matrix or a document.
    pub queued: bool,
    /// Whether judges' and people's votes are visible from the start, because people disagree on it
    /// or its verdict was undone.
    pub in_sight: bool,
    /// When the texts became visible.
    pub since: Option<Instant>,
    /// The first verdict, once given, with the screen's A and B.
    pub first_decision: Option<Decision>,
    /// The current verdict, with the screen's A and B.
    pub decision: Option<Decision>,
    pub confidence: Option<Confidence>,
    /// Why the person and the judges disagree.
    pub cause: Option<ErrorCause>,
    pub note: Option<String>,
    /// Whether the verdict after the reveal differs from the stored one.
    pub unsaved: bool,
}

impl CurrentItem {
    pub fn new(item: QueueItem, first: bool) -> Self {
        Self {
            item,
            first,
            queued: true,
            in_sight: false,
            since: None,
            first_decision: None,
            decision: None,
            confidence: None,
            cause: None,
            note: None,
            unsaved: false,
        }
    }

    /// Whether it still needs a decision.
    pub fn is_undecided(&self) -> bool {
        self.first_decision.is_none()
    }

    /// Whether judges, scores and names are hidden.
    pub fn is_hidden(&self) -> bool {
        self.is_undecided() && !self.in_sight
    }

    /// How it was drawn; an item chosen from further down was not drawn at random.
    pub fn draw(&self) -> DrawReason {
        if self.first {
            self.item.draw
        } else {
            DrawReason::Priority
        }
    }

    pub fn is_about(&self, query: QueryKey, pair: Pair) -> bool {
        (self.item.query, self.item.pair) == (query, pair)
    }
}

/// The milliseconds since the clock was started; restarts the clock.
pub fn active_ms(since: &mut Option<Instant>, now: Instant) -> Option<i64> {
    let since = since.replace(now)?;
    i64::try_from(now.duration_since(since).as_millis()).ok()
}
