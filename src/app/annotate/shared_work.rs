//! Work that several processes share: a run makes the calls of the parts that it is given, while
//! others make those of other parts.

use crate::store::corpus::QueryKey;
use std::collections::HashSet;
use tokio::sync::mpsc;

/// A query, or a part of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartKey {
    pub query: QueryKey,
    /// The round of which it is a part, if others plan the rounds. The project has its tasks.
    pub round: Option<usize>,
    /// The part of the query's plain plan, as in [`crate::domain::sampling::pairs_of_part`], or of
    /// the round; `None` for the whole query.
    pub part: Option<usize>,
}

impl From<QueryKey> for PartKey {
    fn from(query: QueryKey) -> Self {
        Self {
            query,
            round: None,
            part: None,
        }
    }
}

/// A part of the calls of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkPart {
    pub key: PartKey,
    /// Number of pairs of the query to probe, whichever part they are in.
    pub probe: usize,
}

/// The end of the calls of a part: none of them is in flight any more.
#[derive(Debug)]
pub struct PartEnd {
    pub key: PartKey,
    /// Whether all of them were made; a judge may have left, or skipped the query.
    pub is_complete: bool,
}

/// Where a run gets its parts, and where it reports their ends. The run ends when the sender of
/// `parts` is dropped and their calls are made.
#[derive(Debug)]
pub struct WorkFeed {
    pub parts: mpsc::UnboundedReceiver<WorkPart>,
    pub ends: mpsc::UnboundedSender<PartEnd>,
}

/// The shared work of a run.
pub(super) struct SharedWork {
    /// `None` once there will be no further parts.
    parts: Option<mpsc::UnboundedReceiver<WorkPart>>,
    ends: mpsc::UnboundedSender<PartEnd>,
    /// Number of parts received.
    received: usize,
    /// The queries of these parts, and those whose calls have all been made.
    queries: HashSet<QueryKey>,
    done: HashSet<QueryKey>,
}

impl SharedWork {
    pub(super) fn new(feed: WorkFeed) -> Self {
        Self {
            parts: Some(feed.parts),
            ends: feed.ends,
            received: 0,
            queries: HashSet::new(),
            done: HashSet::new(),
        }
    }

    /// Notes the query of a new part. Returns the number of earlier parts, of queries, and of
    /// queries without pending calls.
    pub(super) fn enter(&mut self, query: QueryKey) -> (usize, usize, usize) {
        let place = self.received;
        self.received += 1;
        self.done.remove(&query);
        self.queries.insert(query);
        (place, self.queries.len(), self.done.len())
    }

    /// Whether further parts may come.
    pub(super) fn is_open(&self) -> bool {
        self.parts.is_some()
    }

    pub(super) fn close(&mut self) {
        self.parts = None;
    }

    /// Reports the end of a part.
    pub(super) fn end(&self, key: PartKey, is_complete: bool) {
        // Nobody listens while the run is being stopped.
        drop(self.ends.send(PartEnd { key, is_complete }));
    }

    /// Notes whether all parts of a query are done, and returns the number of such queries.
    pub(super) fn done(&mut self, query: QueryKey, is_done: bool) -> usize {
        if is_done {
            self.done.insert(query);
        }
        self.done.len()
    }
}

/// Waits for the next part; `None` if there will be no more. Never completes in a run that does not
/// share its work.
pub(super) async fn next_part(shared: &mut Option<SharedWork>) -> Option<WorkPart> {
    match shared.as_mut().and_then(|shared| shared.parts.as_mut()) {
        Some(parts) => parts.recv().await,
        None => std::future::pending().await,
    }
}
