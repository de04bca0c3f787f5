//! State shared by the threads of a project, including the failure that ended writing.

use crate::store::error::StoreError;
use crate::store::file::{self, FileIdentity};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Why the transaction of some work was not kept.
#[derive(Clone, Debug)]
pub(in crate::store) enum WriteFailure {
    Uncommitted(String),
    Full,
    TooLarge(u64),
    Disk(String),
    Locked(String),
    Unsynced(String),
    Gone(PathBuf),
    LogGone(PathBuf),
}

impl From<WriteFailure> for StoreError {
    fn from(trouble: WriteFailure) -> Self {
        match trouble {
            WriteFailure::Uncommitted(why) => Self::Uncommitted(why),
            WriteFailure::Full => Self::DiskFull,
            WriteFailure::TooLarge(limit) => Self::TooLarge(limit),
            WriteFailure::Disk(why) => Self::Disk(why),
            WriteFailure::Locked(what) => Self::Locked(what),
            WriteFailure::Unsynced(why) => Self::Unsynced(why),
            WriteFailure::Gone(path) => Self::Gone { path },
            WriteFailure::LogGone(path) => Self::LogGone { path },
        }
    }
}

impl From<&StoreError> for WriteFailure {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::DiskFull => Self::Full,
            StoreError::TooLarge(limit) => Self::TooLarge(*limit),
            StoreError::Disk(why) => Self::Disk(why.clone()),
            StoreError::Locked(what) => Self::Locked(what.clone()),
            other => Self::Uncommitted(other.to_string()),
        }
    }
}

/// Write statistics since the project was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteStatistics {
    pub requests: u64,
    pub commits: u64,
    /// The longest time from the first request of a transaction to its commit.
    pub longest_commit: Duration,
    /// Number of flushes of the log to disk.
    pub syncs: u64,
    pub longest_sync: Duration,
    /// Number of times that the log was copied into the file.
    pub checkpoints: u64,
}

/// State shared by the threads of a project.
#[derive(Debug)]
pub(in crate::store) struct WriterState {
    /// The file under the name that the user gave.
    identity: FileIdentity,
    /// The file under the name that SQLite uses.
    pub(super) canonical: PathBuf,
    log: Option<FileIdentity>,
    pub(super) stopped: OnceLock<WriteFailure>,
    /// Pages in the log at the latest commit.
    pub(super) pages: AtomicU32,
    /// Pages of the log that have been copied.
    pub(super) copied: AtomicU32,
    requests: AtomicU64,
    commits: AtomicU64,
    longest_commit: AtomicU64,
    syncs: AtomicU64,
    longest_sync: AtomicU64,
    pub(super) checkpoints: AtomicU64,
}

impl WriterState {
    pub(in crate::store) fn new(identity: FileIdentity, canonical: PathBuf) -> Self {
        Self {
            identity,
            log: FileIdentity::of(&file::sibling(&canonical, "-wal")).ok(),
            canonical,
            stopped: OnceLock::new(),
            pages: AtomicU32::new(0),
            copied: AtomicU32::new(0),
            requests: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            longest_commit: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            longest_sync: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
        }
    }

    pub(in crate::store) fn statistics(&self) -> WriteStatistics {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let time = |of: &AtomicU64| Duration::from_micros(count(of));
        WriteStatistics {
            requests: count(&self.requests),
            commits: count(&self.commits),
            longest_commit: time(&self.longest_commit),
            syncs: count(&self.syncs),
            longest_sync: time(&self.longest_sync),
            checkpoints: count(&self.checkpoints),
        }
    }

    /// Stores the failure that ended writing; the first one is kept.
    pub(super) fn stop(&self, trouble: WriteFailure) -> WriteFailure {
        self.stopped.get_or_init(|| trouble).clone()
    }

    /// Checks that the project file is still in its place; otherwise nothing more is written to it.
    pub(super) fn look(&self) -> std::result::Result<(), WriteFailure> {
        if let Some(trouble) = self.stopped.get() {
            return Err(trouble.clone());
        }
        if self.identity.still_there() {
            return Ok(());
        }
        self.put_log_aside();
        Err(self.stop(WriteFailure::Gone(self.identity.path().to_owned())))
    }

    /// The path of the log, if the log has disappeared. Connections opened from then on see
    /// different data.
    pub(super) fn lost_log(&self) -> Option<PathBuf> {
        let log = self.log.as_ref().filter(|log| !log.still_there());
        log.map(|log| log.path().to_owned())
    }

    /// Replaces a read error by the loss of the log, if that happened, since it causes many errors.
    pub(in crate::store) fn explained(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Closed | StoreError::NotFound(_) | StoreError::Conflict(_) => error,
            error => match self.lost_log() {
                Some(path) => StoreError::LogGone { path },
                None => error,
            },
        }
    }

    /// Moves the log aside if another file has taken the project's place: that file would apply the
    /// log at the next start and be destroyed by it. If no file is in its place, the log stays,
    /// since the project may come back.
    pub(super) fn put_log_aside(&self) {
        // A link that now leads elsewhere does not matter: the project is in its place, and its log
        // belongs to it.
        let replaced = self.identity.is_another(&self.canonical)
            && self.log.as_ref().is_some_and(FileIdentity::still_there);
        if replaced && self.stopped.get().is_none() {
            let log = file::sibling(&self.canonical, "-wal");
            let aside = file::sibling(&self.canonical, "-wal-replaced");
            drop(std::fs::rename(log, aside));
            drop(std::fs::remove_file(file::sibling(&self.canonical, "-shm")));
        }
    }

    pub(super) fn count_commit(&self, requests: usize, took: Duration) {
        self.requests.fetch_add(requests as u64, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.longest_commit
            .fetch_max(took.as_micros() as u64, Ordering::Relaxed);
    }

    pub(super) fn count_sync(&self, took: Duration) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.longest_sync
            .fetch_max(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Pages in the log that are not in the file yet.
    pub(super) fn uncopied(&self) -> u32 {
        let pages = self.pages.load(Ordering::Relaxed);
        match self.copied.load(Ordering::Relaxed) {
            // The log has restarted since.
            copied if copied > pages => pages,
            copied => pages - copied,
        }
    }
}
