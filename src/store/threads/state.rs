//! What the threads of one project know of each other, and what ended the writing.

use crate::store::error::StoreError;
use crate::store::file::{self, FileIdentity};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// What became of the transaction of some work, where it was not kept.
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

/// How the writing of a project went since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteStatistics {
    pub requests: u64,
    pub commits: u64,
    /// The longest time from the first request of a transaction to its commit.
    pub longest_commit: Duration,
    /// Times that the disk was made to hold the log.
    pub syncs: u64,
    pub longest_sync: Duration,
    /// Times that the log was copied into the file.
    pub checkpoints: u64,
}

/// What the threads of one project know of each other.
#[derive(Debug)]
pub(in crate::store) struct WriterState {
    /// The file as the user named it.
    identity: FileIdentity,
    /// The file as SQLite names it.
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

    /// Keeps what ended the writing; the first trouble stays.
    pub(super) fn stop(&self, trouble: WriteFailure) -> WriteFailure {
        self.stopped.get_or_init(|| trouble).clone()
    }

    /// Whether the project is where it was; where not, nothing is written to it any more.
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

    /// Where the log was, once it is not there any more. Connections that are opened from then on do
    /// not see what the others see.
    pub(super) fn lost_log(&self) -> Option<PathBuf> {
        let log = self.log.as_ref().filter(|log| !log.still_there());
        log.map(|log| log.path().to_owned())
    }

    /// An error of reading, or that the log has gone, which causes many.
    pub(in crate::store) fn explained(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Closed | StoreError::NotFound(_) | StoreError::Conflict(_) => error,
            error => match self.lost_log() {
                Some(path) => StoreError::LogGone { path },
                None => error,
            },
        }
    }

    /// Another file in place of the project would take the log next to it for its own at the next start, and be
    /// destroyed by it. Where nothing is in its place the log stays: the project may come back to it.
    pub(super) fn put_log_aside(&self) {
        // A link that leads elsewhere now is no reason: the project is where it was, and its log belongs to it.
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
            // The log has begun anew since.
            copied if copied > pages => pages,
            copied => pages - copied,
        }
    }
}
