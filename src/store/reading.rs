//! Tracks the readers of a project and tells them to stop when nobody waits for them.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// SQLite virtual machine steps between two checks whether to continue: a few tenths of a
/// millisecond.
const STEPS: i32 = 20_000;

/// The reading connections, and whether they have been told to stop.
#[derive(Debug, Default)]
pub(super) struct Readers {
    stopped: AtomicBool,
    open: Mutex<usize>,
    changed: Condvar,
}

impl Readers {
    /// Registers a reader for as long as the guard lives, which must be longer than its connection.
    pub(super) fn enter(self: &Arc<Self>) -> OpenReader {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        OpenReader(Arc::clone(self))
    }

    /// Makes readers fail at their next check.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether readers should continue work for a handle; `None` for a handle that always wants its
    /// results.
    pub(super) fn wants(&self, wanted: Option<&Wanted>) -> bool {
        !self.stopped() && wanted.is_none_or(|wanted| (wanted.0)())
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits up to `patience` and returns whether the last reader has ended.
    pub(super) fn ended_within(&self, patience: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(open, patience, |open| *open > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }

    /// Lets a connection interrupt a long statement once readers are told to stop.
    pub(super) fn watch(
        self: &Arc<Self>,
        connection: &mut rusqlite::Connection,
    ) -> rusqlite::Result<()> {
        let readers = Arc::clone(self);
        connection.progress_handler(STEPS, Some(move || readers.stopped()))
    }
}

/// A registered reader.
pub(super) struct OpenReader(Arc<Readers>);

impl Drop for OpenReader {
    fn drop(&mut self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_all();
    }
}

/// Whether someone still waits for the results of a handle.
#[derive(Clone)]
pub(super) struct Wanted(pub(super) Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wanted").field(&(self.0)()).finish()
    }
}
