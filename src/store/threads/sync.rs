//! The sync thread: flushes commits to disk before it answers.

use super::checkpoint::COPY_AFTER;
use super::job::Committed;
use super::state::{WriteFailure, WriterState};
use crate::store::file::{self, FileIdentity};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A sync that takes longer than this means that the disk is too busy for a copy.
const SLOW: Duration = Duration::from_millis(10);

/// How long the disk must have kept up before the log is copied.
const CALM: Duration = Duration::from_secs(2);

/// Flushes committed data to disk.
pub(in crate::store) type LogSync = Box<dyn FnMut() -> io::Result<()> + Send>;

pub(super) fn sync_loop(
    committed: &mpsc::Receiver<Committed>,
    state: &WriterState,
    mut sync: LogSync,
    copy: &mpsc::SyncSender<()>,
) {
    let mut slow: Option<Instant> = None;
    while let Ok(mut answers) = committed.recv() {
        // Everything received here was committed before the sync begins, so this one sync covers
        // all of it. A commit during the sync may or may not be on disk afterwards, and waits for
        // the next one.
        while let Ok(more) = committed.try_recv() {
            answers.extend(more);
        }
        let began = Instant::now();
        let outcome = match state.stopped.get() {
            Some(trouble) => Err(trouble.clone()),
            // After a failed sync, the kernel may drop the pages and report success for the next
            // one, so do not try again.
            None => sync().map_err(|error| {
                let unsynced = || WriteFailure::Unsynced(error.to_string());
                state.stop(
                    state
                        .lost_log()
                        .map_or_else(unsynced, WriteFailure::LogGone),
                )
            }),
        };
        let took = began.elapsed();
        if outcome.is_ok() {
            state.count_sync(took);
        }
        // The file may have disappeared since its commit; then nobody would ever find the data.
        let outcome = outcome.and_then(|()| state.look());
        for answer in answers {
            answer(outcome.as_ref().err());
        }
        if took > SLOW {
            slow = Some(Instant::now());
        }
        let calm = slow.is_none_or(|at| at.elapsed() >= CALM);
        if outcome.is_ok() && calm && state.uncopied() >= COPY_AFTER {
            // If a copy is still running, ask again after the next sync.
            let _ = copy.try_send(());
        }
    }
}

/// Bytes to preallocate for the log at a time.
#[cfg(target_os = "linux")]
pub(super) const SET_ASIDE: u64 = 16 << 20;

/// A shorter log has only a few rows and needs no preallocation.
#[cfg(target_os = "linux")]
pub(super) const SHORT: u64 = 1 << 20;

/// Preallocates disk space beyond the end of the log and returns how far it reaches. While a log
/// grows, allocation and sync block each other and thereby the writer; in preallocated space they
/// do not.
#[cfg(target_os = "linux")]
pub(super) fn ahead(log: &File, set_aside: u64) -> u64 {
    let length = log.metadata().map_or(0, |log| log.len());
    if length < SHORT || length + SET_ASIDE / 2 <= set_aside {
        return set_aside;
    }
    let from = length.max(set_aside);
    // If the disk is full or does not support this, the log grows as before.
    let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(log, flags, from, SET_ASIDE) {
        Ok(()) => from + SET_ASIDE,
        Err(_) => set_aside,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ahead(_: &File, set_aside: u64) -> u64 {
    set_aside
}

pub(in crate::store) fn log_sync(project: &Path) -> LogSync {
    let path = file::sibling(project, "-wal");
    let mut log: Option<(File, FileIdentity)> = None;
    let mut set_aside = 0;
    Box::new(move || {
        // Keep one handle for as long as the project is open: a disk error is reported only to
        // handles that were open at the time. Closing it releases no lock, as SQLite locks the
        // log's index (`-shm`) and the project, never the log.
        let (file, identity) = match &log {
            Some(known) => known,
            None => {
                let file = OpenOptions::new().read(true).write(true).open(&path)?;
                let identity = FileIdentity::of_open(&file, &path)?;
                log.insert((file, identity))
            }
        };
        set_aside = ahead(file, set_aside);
        file.sync_data()?;
        // SQLite keeps the log while a connection is open. If another program has replaced it, the
        // commits are in a file that nobody can find once this process ends.
        if identity.still_there() {
            Ok(())
        } else {
            Err(io::Error::other(format!(
                "{}: was deleted or replaced while the project was open",
                path.display()
            )))
        }
    })
}
