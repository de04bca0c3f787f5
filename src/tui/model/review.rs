//! The pair under review.

use crate::app::review::review_queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::store::corpus::QueryKey;
use std::time::Instant;

/// A pair under review: blind first, then with everything in sight.
#[derive(Clone, Debug)]
pub struct CurrentItem {
    pub item: QueueItem,
    /// Whether it was the queue's own first item when it was begun.
    pub first: bool,
    /// Whether it comes from the queue, and not from a matrix or a document.
    pub queued: bool,
    /// Whether judges and people are in sight from the start: people differ on it, or it was judged and that taken back.
    pub in_sight: bool,
    /// Since when the texts have been in sight.
    pub since: Option<Instant>,
    /// The first verdict, once given, from the screen's A and B.
    pub first_decision: Option<Decision>,
    /// The verdict as it stands, from the screen's A and B.
    pub decision: Option<Decision>,
    pub confidence: Option<Confidence>,
    /// Why the person and the judges part.
    pub cause: Option<ErrorCause>,
    pub note: Option<String>,
    /// Whether the verdict after the reveal differs from what is stored.
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

    /// Whether it is still to be decided.
    pub fn is_undecided(&self) -> bool {
        self.first_decision.is_none()
    }

    /// Whether judges, scores and names are hidden.
    pub fn is_hidden(&self) -> bool {
        self.is_undecided() && !self.in_sight
    }

    /// How it came to be drawn: one that was chosen from further down came by nobody's chance.
    pub fn draw(&self) -> DrawReason {
        match self.first {
            true => self.item.draw,
            false => DrawReason::Priority,
        }
    }

    pub fn is_about(&self, query: QueryKey, pair: Pair) -> bool {
        (self.item.query, self.item.pair) == (query, pair)
    }
}

/// The milliseconds since a clock was started, which starts again.
pub fn active_ms(since: &mut Option<Instant>, now: Instant) -> Option<i64> {
    let since = since.replace(now)?;
    i64::try_from(now.duration_since(since).as_millis()).ok()
}
