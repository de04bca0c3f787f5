//! Many queries at a time: what is computed from their rows is computed on all cores, over reading connections made for it,
//! and comes in the order in which it was asked for.

use super::corpus::QueryKey;
use super::threads::Durability;
use super::views::{QueryNumbers, QuerySummary};
use super::{Db, Result, Store, StoreError, file, schema};
use std::num::NonZero;
use std::sync::mpsc::sync_channel;
use std::thread;
use tokio::sync::oneshot;

/// Results that a thread may have ready before they are wanted.
const AHEAD: usize = 8;
/// Summaries that share a transaction.
const TOGETHER: usize = 128;
/// A thread and its connection are worth so many queries.
const WORTH: usize = 4;

/// Why a walk over queries ended early.
enum WalkEnd {
    /// Nobody wants more.
    Enough,
    Error(StoreError),
}

impl From<StoreError> for WalkEnd {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl Store {
    /// One more connection that reads and never writes.
    fn reader(&self) -> Result<Db> {
        let canonical = file::canonical(self.path())?;
        let connection = if self.is_read_only() {
            schema::open_reading(&canonical)?
        } else {
            file::reading(&canonical)?
        };
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Db { connection })
    }

    /// Does `work` for each query on all cores and hands the results to `take`, one by one and in order. The first error, of
    /// either, ends it. Blocks.
    pub fn read_each<T, E>(
        &self,
        queries: &[QueryKey],
        work: impl Fn(&Db, QueryKey) -> Result<T> + Sync,
        mut take: impl FnMut(QueryKey, T) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E>
    where
        T: Send,
        E: From<StoreError>,
    {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(queries.len().div_ceil(WORTH));
        thread::scope(|scope| {
            let mut results = Vec::new();
            for first in 0..threads {
                let mut db = self.reader()?;
                let (send, receive) = sync_channel(AHEAD);
                let work = &work;
                thread::Builder::new()
                    .name("store-reading".to_owned())
                    .spawn_scoped(scope, move || {
                        for query in queries.iter().skip(first).step_by(threads) {
                            let result = db.guarded(|db| work(db, *query));
                            // Nobody listens any more once there was an error.
                            if send.send(result).is_err() {
                                return;
                            }
                        }
                    })
                    .map_err(|error| {
                        StoreError::Corrupt(format!("cannot start a reading thread: {error}"))
                    })?;
                results.push(receive);
            }
            for (query, results) in queries.iter().zip(results.iter().cycle()) {
                let result = results.recv().map_err(|_| StoreError::Closed)?;
                take(*query, result?)?;
            }
            Ok(())
        })
    }

    /// Computes the summaries of queries on all cores and keeps them, many in a transaction; those that are still good are
    /// only read. `each` gets every summary, in order and before it is kept, and says whether to go on. Blocks.
    pub fn summarise_all(
        &self,
        queries: &[QueryKey],
        mut each: impl FnMut(QueryKey, QuerySummary) -> bool,
    ) -> Result<()> {
        let mut found: Vec<(QueryKey, i64, QueryNumbers)> = Vec::new();
        let mut kept: Option<oneshot::Receiver<Result<()>>> = None;
        // One transaction is written while the next one's summaries are computed.
        let mut keep = |found: &mut Vec<(QueryKey, i64, QueryNumbers)>| {
            let found = std::mem::take(found);
            let next = (!found.is_empty()).then(|| {
                self.submit(Durability::Committed, move |db| {
                    found.iter().try_for_each(|(query, revision, numbers)| {
                        db.keep_summary(*query, *revision, numbers)
                    })
                })
            });
            match std::mem::replace(&mut kept, next) {
                Some(before) => match before.blocking_recv().map_err(|_| StoreError::Closed)? {
                    // What is kept saves time at the next look and nothing else.
                    Err(StoreError::ReadOnly { .. } | StoreError::DiskFull) => Ok(()),
                    result => result,
                },
                None => Ok(()),
            }
        };
        let end = self.read_each(
            queries,
            |db, query| db.summary_now(query),
            |query, (revision, numbers)| {
                let summary = numbers.summary.clone();
                // Numbers from the cache come without urgencies and are there already.
                if numbers.priorities.is_some() {
                    found.push((query, revision, numbers));
                }
                if found.len() >= TOGETHER {
                    keep(&mut found)?;
                }
                match each(query, summary) {
                    true => Ok(()),
                    false => Err(WalkEnd::Enough),
                }
            },
        );
        keep(&mut found)?;
        keep(&mut found)?;
        match end {
            Err(WalkEnd::Error(error)) => Err(error),
            Ok(()) | Err(WalkEnd::Enough) => Ok(()),
        }
    }
}
