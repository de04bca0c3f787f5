//! Copies the log into the file, in parallel to the writer and without blocking it.

use super::state::WriterState;
use crate::store::error::Result;
use crate::store::file;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

/// Number of pages in the log after which it is copied into the file: 64 MiB. Infrequent copies are
/// cheap, since pages that changed many times are copied once, and the first commit to a restarted
/// log waits for the disk. Opening after a kill reads the whole log.
pub(super) const COPY_AFTER: u32 = 16_384;

/// Number of pages in the log after which the writer itself stops for a copy: 192 MiB. Only while
/// the writer is idle can the copy reach the end of the log, so that the log restarts and does not
/// grow forever. The writer then waits for the disk three times. With a pause between two commits
/// and a disk that is otherwise idle, this limit is never reached.
pub(super) const COPY_NOW: u32 = 49_152;

/// Copies the log into the file, in parallel to the writer and without blocking it.
pub(super) fn copy_loop(wanted: &mpsc::Receiver<()>, state: &WriterState) {
    // Opened on first use, since most projects are opened only for a moment.
    let mut connection = None;
    while wanted.recv().is_ok() {
        if connection.is_none() {
            connection = open_copier(&state.canonical).ok();
        }
        if let Some(connection) = &connection {
            checkpoint(connection, state);
        }
    }
}

fn open_copier(path: &Path) -> Result<rusqlite::Connection> {
    let connection = file::writing(path)?;
    // The log reaches the disk before the file is touched, and the file before the log restarts.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// Copies the pages that nobody reads from the log any more. A failure costs disk space, not data:
/// the rows stay in the log.
pub(super) fn checkpoint(connection: &rusqlite::Connection, state: &WriterState) {
    if state.look().is_err() {
        return;
    }
    let done = connection.query_row("PRAGMA main.wal_checkpoint(PASSIVE)", [], |row| {
        row.get::<_, u32>(2)
    });
    match done {
        Ok(copied) => {
            state.copied.store(copied, Ordering::Relaxed);
            state.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => tracing::warn!(%error, "the log cannot be copied into the project"),
    }
}

/// How long optional work waits for locks of others, such as readers of the log.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// Copies the whole log into the file and truncates it, unless a reader uses it; then it stays as
/// it is. A single import can make the log hundreds of megabytes long.
pub(super) fn cut_log(connection: &mut rusqlite::Connection, state: &WriterState) {
    if state.look().is_err() || connection.busy_timeout(PATIENCE).is_err() {
        return;
    }
    let done = connection.query_row("PRAGMA main.wal_checkpoint(TRUNCATE)", [], |row| {
        Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(2)?))
    });
    match done {
        Ok((false, _)) => {
            state.pages.store(0, Ordering::Relaxed);
            state.copied.store(0, Ordering::Relaxed);
            state.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
        // A reader uses the log. It stays, but the file may contain all of it.
        Ok((true, copied)) => state.copied.store(copied.max(0) as u32, Ordering::Relaxed),
        Err(error) => tracing::warn!(%error, "the log cannot be copied into the project"),
    }
    drop(file::wait_for_locks(connection, &state.canonical));
}
