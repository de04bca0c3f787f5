//! Computes a queue and describes its pairs.

use super::Runner;
use crate::app::review::annotator_statistics::annotator_statistics;
use crate::app::review::pair_description::{PairQuestion, describe_pair};
use crate::app::review::review_queue::{QueueRequest, build_review_queue, judged_conflicts};
use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use crate::tui::message::Msg;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of queries between two reports of how many a queue is waiting for.
const TOLD_EVERY: usize = 50;

impl Runner {
    /// Computes a queue in the background, with stale numbers recomputed on all cores. Earlier
    /// requests to the project are included.
    pub(super) fn queue(&self, request: QueueRequest, generation: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let progress = results.clone();
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let found = tokio::task::spawn_blocking(move || {
                store.refresh_priorities(&mut |left| {
                    if left % TOLD_EVERY == 0 {
                        drop(progress.try_send(Msg::QueueWaits(generation, left)));
                    }
                })?;
                store.read_blocking(move |db| queued(db, &request, generation))
            })
            .await;
            let msg = match found {
                Ok(Ok(msg)) => msg,
                Ok(Err(error)) => Msg::QueueFailed(generation, error.to_string()),
                Err(error) => Msg::QueueFailed(generation, error.to_string()),
            };
            drop(results.send(msg).await);
        });
    }

    /// Describes a pair of the queue, unless another request has been made by the time a reader is
    /// free.
    pub(super) fn describe(&self, query: QueryKey, pair: Pair, question: PairQuestion) {
        let results = self.results.clone();
        let number = self.descriptions.fetch_add(1, Ordering::Relaxed) + 1;
        let last = Arc::clone(&self.descriptions);
        let described = self.store.read(move |db| {
            let wanted = last.load(Ordering::Relaxed) == number;
            wanted
                .then(|| describe_pair(db, query, pair, question))
                .transpose()
        });
        tokio::spawn(async move {
            let msg = match described.await {
                Ok(Some(found)) => Msg::PairDescribed(query, pair, found),
                Ok(None) => return,
                Err(error) => Msg::Failed(error.to_string()),
            };
            drop(results.send(msg).await);
        });
    }
}

pub(super) fn queued(db: &Db, request: &QueueRequest, generation: u64) -> Result<Msg> {
    let mut statistics = annotator_statistics(db, &request.annotator, request.scope)?;
    if request.conflicts {
        statistics.conflicts = judged_conflicts(db, &request.annotator, request.scope)?;
    }
    let items = build_review_queue(db, request)?;
    Ok(Msg::Queued(generation, items, statistics))
}
