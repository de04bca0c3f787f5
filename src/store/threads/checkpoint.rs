//! Copies the log into the file, beside the writer and never in its way.

use super::state::WriterState;
use crate::store::error::Result;
use crate::store::file;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

/// Pages in the log after which it is copied into the file: 64 MiB. Copying seldom is cheap, as pages that changed many
/// times are copied once, and the first commit to a log that begins anew waits for the disk. A start after a kill reads
/// the whole log.
pub(super) const COPY_AFTER: u32 = 16_384;

/// Pages in the log after which the writer itself stops for a copy: 192 MiB. Only with the writer at rest can the copy
/// reach the log's end, so that the log begins anew and does not grow for ever. Three waits for the disk are then in the
/// writer's way; with a pause between two commits, and a disk that is left alone, it never comes to that.
pub(super) const COPY_NOW: u32 = 49_152;

/// Copies the log into the file, beside the writer and never in its way.
pub(super) fn copy_loop(wanted: &mpsc::Receiver<()>, state: &WriterState) {
    // Opened when it is first needed: most projects are opened for a moment.
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
    // The log reaches the disk before the file is touched, and the file before the log begins anew.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// Copies what nobody reads from the log any more. A failure costs room, not rows: they stay in the log.
pub(super) fn checkpoint(connection: &rusqlite::Connection, state: &WriterState) {
    if state.look().is_err() {
        return;
    }
    let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
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

/// How long work that can be left out waits for others' locks, such as those of who reads from the log.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// Copies all of the log into the file and leaves none of it on the disk, unless somebody reads from it: then it stays as
/// it is. One import may have made it hundreds of megabytes long.
pub(super) fn cut_log(connection: &mut rusqlite::Connection, state: &WriterState) {
    if state.look().is_err() || connection.busy_timeout(PATIENCE).is_err() {
        return;
    }
    let done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(2)?))
    });
    match done {
        Ok((false, _)) => {
            state.pages.store(0, Ordering::Relaxed);
            state.copied.store(0, Ordering::Relaxed);
            state.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
        // Somebody reads from the log. It stays, but the file may hold all of it.
        Ok((true, copied)) => state.copied.store(copied.max(0) as u32, Ordering::Relaxed),
        Err(error) => tracing::warn!(%error, "the log cannot be copied into the project"),
    }
    drop(file::wait_for_locks(connection, &state.canonical));
}
