//! Parallel reads over many queries: runs a computation for each query on all cores, over
//! additional read connections, and returns the results in order.

use super::corpus::QueryKey;
use super::handle::{connection_for_reading, explained};
use super::{Db, Result, Store, StoreError, file};
use std::num::NonZero;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Maximum number of results that a thread computes ahead.
const AHEAD: usize = 8;
/// Minimum number of queries that justifies another thread and connection.
const WORTH: usize = 4;

impl Store {
    /// Opens another read-only connection.
    fn reader(&self) -> Result<Db> {
        let canonical = file::canonical(self.path())?;
        connection_for_reading(&canonical, self.is_read_only(), self.readers())
            .map_err(|error| explained(self.writer_state().as_deref(), error))
    }

    /// Runs `work` for each query on all cores and passes the results to `take` one by one, in
    /// order. Stops at the first error of either, or when the handle's results are no longer
    /// wanted. Blocks.
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
                let (entered, db) = (self.readers().enter(), self.reader()?);
                let (send, receive) = sync_channel(AHEAD);
                let (work, state) = (&work, self.writer_state());
                thread::Builder::new()
                    .name("store-reading".to_owned())
                    .spawn_scoped(scope, move || {
                        // Drop the connection before its reader guard.
                        let _entered = entered;
                        let mut db = db;
                        for query in queries.iter().skip(first).step_by(threads) {
                            let result = if self.is_wanted() {
                                db.guarded(|db| work(db, *query))
                                    .map_err(|error| explained(state.as_deref(), error))
                            } else {
                                Err(StoreError::Closed)
                            };
                            // After an error, nobody receives any more.
                            if send.send(result).is_err() {
                                return;
                            }
                        }
                    })
                    .map_err(|error| {
                        StoreError::Internal(format!("cannot start a reading thread: {error}"))
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
}
