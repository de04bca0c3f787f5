//! Many queries at a time: what is computed from their rows is computed on all cores, over reading connections made for it,
//! and comes in the order in which it was asked for.

use super::corpus::QueryKey;
use super::handle::{connection_for_reading, explained};
use super::{Db, Result, Store, StoreError, file};
use std::num::NonZero;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Results that a thread may have ready before they are wanted.
const AHEAD: usize = 8;
/// A thread and its connection are worth so many queries.
const WORTH: usize = 4;

impl Store {
    /// One more connection that reads and never writes.
    fn reader(&self) -> Result<Db> {
        let canonical = file::canonical(self.path())?;
        connection_for_reading(&canonical, self.is_read_only(), self.readers())
            .map_err(|error| explained(self.writer_state().as_deref(), error))
    }

    /// Does `work` for each query on all cores and hands the results to `take`, one by one and in order. The first error, of
    /// either, ends it, and so does a handle that is not wanted any more. Blocks.
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
                        // The connection goes before it stops being counted.
                        let _entered = entered;
                        let mut db = db;
                        for query in queries.iter().skip(first).step_by(threads) {
                            let result = if self.is_wanted() {
                                db.guarded(|db| work(db, *query))
                                    .map_err(|error| explained(state.as_deref(), error))
                            } else {
                                Err(StoreError::Closed)
                            };
                            // Nobody listens any more once there was an error.
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
