//! The threads behind a project, and what an answer promises.
//!
//! - `store-writer` owns the one connection that writes. It commits every few milliseconds and never waits for the disk:
//!   a commit is in the kernel's page cache, where a kill of this process cannot take it.
//! - `store-sync` owns a handle on the log (`-wal`). It makes the disk hold what was committed, and only then answers.
//! - `store-checkpoint` owns a connection that copies the log into the file, away from both.
//! - `store-reader` owns a connection that only reads.
//!
//! Work goes from the writer to the sync thread with its answers and is never looked at again by the writer, so a slow
//! disk delays answers and nothing else. What went wrong for good (a sync failed, the file has gone) is kept in
//! [`WriterState`], which every thread sees: after it, nothing is answered with success any more.

use super::db::Db;
use super::error::{Result, StoreError};
use super::file::{self, FileIdentity};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many such waits a write survives.
const BUSY_TRIES: u32 = 6;

/// Rows of work that may share one transaction.
const GROUP: usize = 4096;

/// How long a transaction takes in further work. What waits for its commit is what a kill can take.
const OPEN_FOR: Duration = Duration::from_millis(8);

/// Pages in the log after which it is copied into the file: 64 MiB. Copying seldom is cheap, as pages that changed many
/// times are copied once, and the first commit to a log that begins anew waits for the disk. A start after a kill reads
/// the whole log.
const COPY_AFTER: u32 = 16_384;

/// Pages in the log after which the writer itself stops for a copy: 192 MiB. Only with the writer at rest can the copy
/// reach the log's end, so that the log begins anew and does not grow for ever. Three waits for the disk are then in the
/// writer's way; with a pause between two commits, and a disk that is left alone, it never comes to that.
const COPY_NOW: u32 = 49_152;

/// A sync that takes longer than this says that the disk has no time for a copy.
const SLOW: Duration = Duration::from_millis(10);

/// How long the disk must have kept up before the log is copied.
const CALM: Duration = Duration::from_secs(2);

/// What became of the transaction of some work, where it was not kept.
#[derive(Clone, Debug)]
pub(super) enum WriteFailure {
    Uncommitted(String),
    Full,
    Unsynced(String),
    Gone(PathBuf),
}

impl From<WriteFailure> for StoreError {
    fn from(trouble: WriteFailure) -> Self {
        match trouble {
            WriteFailure::Uncommitted(why) => Self::Uncommitted(why),
            WriteFailure::Full => Self::DiskFull,
            WriteFailure::Unsynced(why) => Self::Unsynced(why),
            WriteFailure::Gone(path) => Self::Gone { path },
        }
    }
}

impl From<rusqlite::Error> for WriteFailure {
    fn from(error: rusqlite::Error) -> Self {
        match StoreError::from(error) {
            StoreError::DiskFull => Self::Full,
            other => Self::Uncommitted(other.to_string()),
        }
    }
}

/// When work is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// When it is committed: it survives the end of the process, and not a loss of power.
    Committed,
    /// When the disk holds it.
    Synced,
}

/// Sends the answer of a job, told why its transaction was not kept where it was not.
type AnswerSender = Box<dyn FnOnce(Option<&WriteFailure>) + Send>;
type StoreJob = Box<dyn FnOnce(Result<&mut Db>) -> AnswerSender + Send>;

struct StoreTask {
    job: StoreJob,
    until: Durability,
}

/// Wraps typed work so that its answer is sent only when the fate of its transaction is known.
fn job<T, F>(work: F, answer: oneshot::Sender<Result<T>>) -> StoreJob
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| {
        let result = db.and_then(|db| db.guarded(work));
        Box::new(move |trouble| {
            let result = match trouble {
                Some(trouble) if result.is_ok() => Err(trouble.clone().into()),
                _ => result,
            };
            // The asker may have gone away; the work is done all the same.
            drop(answer.send(result));
        })
    })
}

/// How the writing of a project went since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteStatistics {
    /// Requests that were committed.
    pub requests: u64,
    /// Transactions.
    pub commits: u64,
    /// The longest time from the first request of a transaction to its commit.
    pub longest_commit: Duration,
    /// Times that the disk was made to hold the log.
    pub syncs: u64,
    /// The longest of them.
    pub longest_sync: Duration,
    /// Times that the log was copied into the file.
    pub checkpoints: u64,
}

/// What the threads of one project know of each other.
#[derive(Debug)]
pub(super) struct WriterState {
    /// The file as the user named it.
    identity: FileIdentity,
    /// The file as SQLite names it.
    canonical: PathBuf,
    /// The log beside it.
    log: Option<FileIdentity>,
    stopped: OnceLock<WriteFailure>,
    /// Pages in the log at the latest commit.
    pages: AtomicU32,
    /// Pages of the log that have been copied.
    copied: AtomicU32,
    requests: AtomicU64,
    commits: AtomicU64,
    longest_commit: AtomicU64,
    syncs: AtomicU64,
    longest_sync: AtomicU64,
    checkpoints: AtomicU64,
}

impl WriterState {
    pub(super) fn new(identity: FileIdentity, canonical: PathBuf) -> Self {
        Self {
            identity,
            log: FileIdentity::of(&file::beside(&canonical, "-wal")).ok(),
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

    pub(super) fn statistics(&self) -> WriteStatistics {
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
    fn stop(&self, trouble: WriteFailure) -> WriteFailure {
        self.stopped.get_or_init(|| trouble).clone()
    }

    /// Whether the project is where it was; where not, nothing is written to it any more.
    fn look(&self) -> std::result::Result<(), WriteFailure> {
        if let Some(trouble) = self.stopped.get() {
            return Err(trouble.clone());
        }
        if self.identity.still_there() {
            return Ok(());
        }
        self.put_log_aside();
        Err(self.stop(WriteFailure::Gone(self.identity.path().to_owned())))
    }

    /// Another file in place of the project would take the log beside it for its own at the next start, and be
    /// destroyed by it. Where nothing is in its place the log stays: the project may come back to it.
    fn put_log_aside(&self) {
        // A link that leads elsewhere now is no reason: the project is where it was, and its log belongs to it.
        let replaced = self.identity.is_another(&self.canonical)
            && self.log.as_ref().is_some_and(FileIdentity::still_there);
        if replaced && self.stopped.get().is_none() {
            let log = file::beside(&self.canonical, "-wal");
            let aside = file::beside(&self.canonical, "-wal-replaced");
            drop(std::fs::rename(log, aside));
            drop(std::fs::remove_file(file::beside(&self.canonical, "-shm")));
        }
    }

    fn count_commit(&self, requests: usize, took: Duration) {
        self.requests.fetch_add(requests as u64, Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.longest_commit
            .fetch_max(took.as_micros() as u64, Ordering::Relaxed);
    }

    fn count_sync(&self, took: Duration) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.longest_sync
            .fetch_max(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Pages in the log that are not in the file yet.
    fn uncopied(&self) -> u32 {
        let pages = self.pages.load(Ordering::Relaxed);
        match self.copied.load(Ordering::Relaxed) {
            // The log has begun anew since.
            copied if copied > pages => pages,
            copied => pages - copied,
        }
    }
}

/// Makes the disk hold what has been committed.
pub(super) type LogSync = Box<dyn FnMut() -> io::Result<()> + Send>;

/// A thread that owns a connection, and the way to give it work.
#[derive(Debug)]
pub(super) struct StoreThread {
    jobs: Option<mpsc::Sender<StoreTask>>,
    thread: Option<JoinHandle<()>>,
}

impl StoreThread {
    pub(super) fn reader(mut db: Db) -> Result<Self> {
        Self::start("store-reader", move |jobs| {
            while let Ok(task) = jobs.recv() {
                (task.job)(Ok(&mut db))(None);
            }
        })
    }

    /// Starts the threads that write. `sync` stands for the disk.
    pub(super) fn writer(mut db: Db, state: Arc<WriterState>, sync: LogSync) -> Result<Self> {
        // SQLite's own copying would run inside of a commit, with two waits for the disk.
        db.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let of = Arc::clone(&state);
        db.connection.wal_hook(Some(
            move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
                of.pages.store(pages.max(0) as u32, Ordering::Relaxed);
                Ok(())
            },
        ))?;
        let (copy, wanted) = mpsc::sync_channel(1);
        let of = Arc::clone(&state);
        let copier = spawn("store-checkpoint", move || copy_loop(&wanted, &of))?;
        let (groups, committed) = mpsc::channel();
        let of = Arc::clone(&state);
        let syncer = spawn("store-sync", move || {
            sync_loop(&committed, &of, sync, &copy);
            drop(copy);
            drop(copier.join());
        })?;
        Self::start("store-writer", move |jobs| {
            write_loop(&mut db, jobs, &state, &groups);
            // The others end before the writer's connection does: the last one to close folds the log into the file,
            // and only the writer may write.
            drop(groups);
            drop(syncer.join());
        })
    }

    fn start(
        name: &str,
        body: impl FnOnce(&mpsc::Receiver<StoreTask>) + Send + 'static,
    ) -> Result<Self> {
        let (jobs, receiver) = mpsc::channel();
        let thread = spawn(name, move || body(&receiver))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Puts work in the queue now; the answer comes when it is done.
    pub(super) fn submit<T, F>(&self, until: Durability, work: F) -> oneshot::Receiver<Result<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        let job = job(work, answer);
        // A thread that is gone drops the job and with it the answer, which the asker sees.
        if let Some(jobs) = &self.jobs {
            drop(jobs.send(StoreTask { job, until }));
        }
        receive
    }

    pub(super) fn stop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            drop(thread.join());
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| StoreError::Corrupt(format!("cannot start the store's thread: {error}")))
}

/// A committed transaction on its way to the disk.
struct TransactionGroup {
    answers: Vec<AnswerSender>,
}

fn write_loop(
    db: &mut Db,
    jobs: &mpsc::Receiver<StoreTask>,
    state: &WriterState,
    committed: &mpsc::Sender<TransactionGroup>,
) {
    let mut copy_at = COPY_NOW;
    while let Ok(first) = jobs.recv() {
        let began = Instant::now();
        if let Some(trouble) = state.stopped.get() {
            (first.job)(Err(trouble.clone().into()))(None);
            continue;
        }
        if let Err(error) = begin(db) {
            (first.job)(Err(error.into()))(None);
            continue;
        }
        let mut noted = Vec::new();
        let mut written = Vec::new();
        let mut next = Some(first);
        let mut rolled_back = false;
        while let Some(task) = next.take() {
            let answer = (task.job)(Ok(db));
            match task.until {
                Durability::Committed => noted.push(answer),
                Durability::Synced => written.push(answer),
            }
            // A full disk may have made SQLite give up the whole transaction. What came after it would be kept on its
            // own, and answered as if it were not.
            rolled_back = db.connection.is_autocommit();
            if !rolled_back && noted.len() + written.len() < GROUP && began.elapsed() < OPEN_FOR {
                next = jobs.try_recv().ok();
            }
        }
        let requests = noted.len() + written.len();
        let outcome = match rolled_back {
            true => Err(WriteFailure::Uncommitted(
                "SQLite gave up the whole transaction; is the disk full?".to_owned(),
            )),
            false => state.look().and_then(|()| commit(db)),
        };
        if let Err(trouble) = outcome {
            if !db.connection.is_autocommit() {
                drop(db.connection.execute_batch("ROLLBACK"));
            }
            for answer in noted.into_iter().chain(written) {
                answer(Some(&trouble));
            }
            continue;
        }
        state.count_commit(requests, began.elapsed());
        for answer in noted {
            answer(None);
        }
        // Notes alone go to the disk too; nobody waits for that.
        drop(committed.send(TransactionGroup { answers: written }));
        let pages = state.pages.load(Ordering::Relaxed);
        if pages < COPY_AFTER {
            copy_at = COPY_NOW;
        } else if pages >= copy_at {
            checkpoint(&db.connection, state);
            // Where a reader holds on to an old state, the log cannot begin anew yet, and trying is not free.
            copy_at = pages + COPY_AFTER;
        }
    }
}

fn commit(db: &Db) -> std::result::Result<(), WriteFailure> {
    Ok(db.connection.execute_batch("COMMIT")?)
}

/// Begins to write. Another process may hold the file for long; what waits here has been paid for, so it waits longer.
fn begin(db: &Db) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        match db.connection.execute_batch("BEGIN IMMEDIATE") {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && tries < BUSY_TRIES =>
            {
                tries += 1;
            }
            result => return result,
        }
    }
}

fn sync_loop(
    committed: &mpsc::Receiver<TransactionGroup>,
    state: &WriterState,
    mut sync: LogSync,
    copy: &mpsc::SyncSender<()>,
) {
    let mut slow: Option<Instant> = None;
    while let Ok(TransactionGroup { mut answers }) = committed.recv() {
        // Everything taken in here was committed before the sync begins, so this one sync holds for all of it. What is
        // committed while it runs may or may not be on the disk after it, and waits for the next one.
        while let Ok(more) = committed.try_recv() {
            answers.extend(more.answers);
        }
        let began = Instant::now();
        let outcome = match state.stopped.get() {
            Some(trouble) => Err(trouble.clone()),
            // After a failed sync the kernel may drop the pages and call the next sync a success, so there is no next.
            None => sync().map_err(|error| state.stop(WriteFailure::Unsynced(error.to_string()))),
        };
        let took = began.elapsed();
        if outcome.is_ok() {
            state.count_sync(took);
        }
        // The file may have gone between its commit and here: then nobody would ever find what this would confirm.
        let outcome = outcome.and_then(|()| state.look());
        for answer in answers {
            answer(outcome.as_ref().err());
        }
        if took > SLOW {
            slow = Some(Instant::now());
        }
        let calm = slow.is_none_or(|at| at.elapsed() >= CALM);
        if outcome.is_ok() && calm && state.uncopied() >= COPY_AFTER {
            // Where it is still copying, it is asked again after the next sync.
            let _ = copy.try_send(());
        }
    }
}

/// Copies the log into the file, beside the writer and never in its way.
fn copy_loop(wanted: &mpsc::Receiver<()>, state: &WriterState) {
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
fn checkpoint(connection: &rusqlite::Connection, state: &WriterState) {
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

/// Room of the log that is set aside at a time, in bytes.
const SET_ASIDE: u64 = 16 << 20;
/// A shorter log is that of a few rows, and finds its room as it goes.
const SHORT: u64 = 1 << 20;

/// Sets room aside on the disk beyond the end of the log, and returns how far it reaches. While a log grows, finding room
/// for it and syncing it hold each other up, and with them the writer; in room that is there already they do not.
#[cfg(target_os = "linux")]
fn ahead(log: &File, set_aside: u64) -> u64 {
    let length = log.metadata().map_or(0, |log| log.len());
    if length < SHORT || length + SET_ASIDE / 2 <= set_aside {
        return set_aside;
    }
    let from = length.max(set_aside);
    // Where the disk is full or knows no such thing, the log grows as it did.
    let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
    match rustix::fs::fallocate(log, flags, from, SET_ASIDE) {
        Ok(()) => from + SET_ASIDE,
        Err(_) => set_aside,
    }
}

#[cfg(not(target_os = "linux"))]
fn ahead(_: &File, set_aside: u64) -> u64 {
    set_aside
}

/// Syncs the log of a project.
pub(super) fn log_sync(project: &Path) -> LogSync {
    let path = file::beside(project, "-wal");
    let mut log: Option<(File, FileIdentity)> = None;
    let mut set_aside = 0;
    Box::new(move || {
        // One handle for as long as the project is open: an error of the disk is told to those who had the file open.
        // Closing it takes no lock away, as SQLite locks the log's index (`-shm`) and the project, never the log.
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
        // SQLite keeps the log while a connection is open. Another log in its place is somebody else's doing: what
        // was committed is in a file that nobody will find after this process ends.
        match identity.still_there() {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "{}: was deleted or replaced while the project was open",
                path.display()
            ))),
        }
    })
}

#[cfg(test)]
mod tests;
