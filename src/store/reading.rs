//! Who reads from a project, and how readers are told that nobody waits for them any more.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Virtual machine steps of SQLite between two looks at whether to go on: some tenths of a millisecond.
const STEPS: i32 = 20_000;

/// The connections that read, and whether they are told to stop.
#[derive(Debug, Default)]
pub(super) struct Readers {
    stopped: AtomicBool,
    open: Mutex<usize>,
    changed: Condvar,
}

impl Readers {
    /// Counts a reader for as long as the guard lives, which has to be longer than its connection.
    pub(super) fn enter(self: &Arc<Self>) -> OpenReader {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        OpenReader(Arc::clone(self))
    }

    /// From now on readers end with an error at the next occasion.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether readers are to go on with what a handle wants; `None` for one that always does.
    pub(super) fn wants(&self, wanted: Option<&Wanted>) -> bool {
        !self.stopped() && wanted.is_none_or(|wanted| (wanted.0)())
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether the last reader has ended within this time.
    pub(super) fn ended_within(&self, patience: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(open, patience, |open| *open > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }

    /// Lets a long statement of a connection end once readers are told to stop.
    pub(super) fn watch(
        self: &Arc<Self>,
        connection: &mut rusqlite::Connection,
    ) -> rusqlite::Result<()> {
        let readers = Arc::clone(self);
        connection.progress_handler(STEPS, Some(move || readers.stopped()))
    }
}

/// A reader that is counted.
pub(super) struct OpenReader(Arc<Readers>);

impl Drop for OpenReader {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_all();
    }
}

/// Whether somebody waits for what a handle reads.
#[derive(Clone)]
pub(super) struct Wanted(pub(super) Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wanted").field(&(self.0)()).finish()
    }
}
