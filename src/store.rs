//! The project file: one SQLite database, owned by one writing thread and one reading thread.
//!
//! Work is handed over as closures on [`Db`]. Writes that wait in the queue share a transaction. [`Store::write`] answers
//! after that transaction is on disk: what it has confirmed survives a loss of power. [`Store::note`] answers once it is
//! committed, which survives a kill. Either is committed within milliseconds, however slow the disk.

pub mod annotator_statistics;
pub mod append;
pub mod batches;
pub mod calls;
pub mod corpus;
pub(crate) mod file;
pub mod gold;
pub mod imports;
pub mod integrity;
pub mod labels;
pub mod ledger;
pub mod log;
pub mod merge;
pub mod priority_cache;
pub mod queue;
pub mod rater_data;
pub mod rounds;
pub mod rulings;
pub mod runs;
mod schema;
pub mod summaries;
mod threads;
pub mod verdicts;
pub mod views;

use corpus::QueryKey;
use file::FileIdentity;
use rusqlite::{Connection, ErrorCode};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use threads::{Durability, LogSync, StoreThread, WriterState};
use tokio::sync::oneshot;
use views::QuerySummary;

pub use threads::WriteStatistics;

/// How long a connection waits for another process's lock at a time.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How many such waits a write survives.
const BUSY_TRIES: u32 = 6;

/// Why the project could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else.
    #[error("{}: not an Overrule project: {reason}", path.display())]
    NotAProject {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file was written by a later version.
    #[error("{}: written by a newer version of overrule (schema {found}, this one knows {known}); upgrade overrule", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest schema version known here.
        known: i64,
    },
    /// What was asked contradicts what the project holds.
    #[error("{0}")]
    Conflict(String),
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    /// The file was written by an earlier version, and cannot be brought up to date where it is.
    #[error("{}: written by an older version of overrule (schema {found}, this one reads {known}) and cannot be upgraded here, because it cannot be written; copy it to a folder where you may write", path.display())]
    Outdated {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The schema version of this version.
        known: i64,
    },
    /// The file has several names. SQLite would keep a log for each, and lose what is in one of them.
    #[error("{}: the file has {names} names (hard links), and writing under two of them would destroy it; delete the others, or work on a copy", path.display())]
    Linked {
        /// The name that was given.
        path: PathBuf,
        /// How many there are.
        names: u64,
    },
    /// The file can be read and not written.
    #[error("{}: cannot be written: {reason}; it can be read here, and a copy in a folder where you may write takes changes", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no room for what was to be written; nothing of it was kept.
    #[error(
        "the disk is full: free some space and repeat the command; what was confirmed before is kept"
    )]
    DiskFull,
    /// The file is not where it was when it was opened.
    #[error("{}: the project was moved, deleted or replaced while it was open, and nothing more is written to it; move it back, with the files beside it whose names begin alike, or name another one with --project, and repeat the command", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The disk did not confirm what was written. It may be lost when the machine stops, and nothing more is written.
    #[error(
        "project database: the disk did not confirm what was written: {0}; check the disk, then repeat the command"
    )]
    Unsynced(String),
    /// SQLite refused.
    #[error("project database: {0}")]
    Sql(#[source] rusqlite::Error),
    /// A row holds what no version of Overrule wrote.
    #[error("project database: {0}")]
    Corrupt(String),
    /// The transaction did not reach the disk; nothing of it was kept.
    #[error("project database: could not be written: {0}")]
    Uncommitted(String),
    /// The store's thread is gone.
    #[error("the project has been closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // Where the room for the log's index is missing, SQLite speaks of an error of input and output.
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            _ if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => Self::DiskFull,
            _ => Self::Sql(error),
        }
    }
}

impl StoreError {
    /// Whether the project could be read all the same.
    fn hinders_only_writing(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::DiskFull => true,
            Self::Sql(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::ReadOnly
                        | ErrorCode::CannotOpen
                        | ErrorCode::PermissionDenied
                        | ErrorCode::SystemIoFailure
                )
            ),
            _ => false,
        }
    }
}

/// The result of asking the project.
pub type Result<T> = std::result::Result<T, StoreError>;

/// One connection to the project.
#[derive(Debug)]
pub struct Db {
    pub(crate) connection: Connection,
}

/// A handle on the project; cheap to clone. The last one to go closes the file, and leaves one file behind.
#[derive(Clone, Debug)]
pub struct Store(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    path: PathBuf,
    writer: Writer,
    reader: StoreThread,
}

#[derive(Debug)]
enum Writer {
    Ready(StoreThread, Arc<WriterState>),
    /// The project can only be read, for this reason.
    Missing(String),
}

impl Drop for Threads {
    fn drop(&mut self) {
        // The writer closes last: only it may fold the log back into the file.
        self.reader.stop();
        if let Writer::Ready(writer, _) = &mut self.writer {
            writer.stop();
        }
    }
}

impl Store {
    /// Opens the project at `path`, creating it where there is none, and brings an older schema up to date. Where it can
    /// only be read, every write is answered with [`StoreError::ReadOnly`].
    pub fn open(path: &Path) -> Result<Self> {
        let canonical = file::canonical(path)?;
        let sync = threads::log_sync(&canonical);
        Self::open_with(path, sync)
    }

    fn open_with(path: &Path, sync: LogSync) -> Result<Self> {
        let canonical = file::canonical(path)?;
        let there = canonical.exists();
        let connection = match schema::open(&canonical) {
            Ok(connection) => connection,
            Err(why) if there && why.hinders_only_writing() => {
                return Self::open_reading(path, &canonical, why);
            }
            Err(error) => return Err(error),
        };
        let identity = FileIdentity::of(path).map_err(|_| StoreError::Gone {
            path: path.to_owned(),
        })?;
        let state = Arc::new(WriterState::new(identity, canonical.clone()));
        let reader = Db {
            connection: file::reading(&canonical)?,
        };
        reader.connection.set_prepared_statement_cache_capacity(64);
        let writer = StoreThread::writer(Db { connection }, Arc::clone(&state), sync)?;
        Ok(Self(Arc::new(Threads {
            path: path.to_owned(),
            writer: Writer::Ready(writer, state),
            reader: StoreThread::reader(reader)?,
        })))
    }

    fn open_reading(path: &Path, canonical: &Path, why: StoreError) -> Result<Self> {
        let reader = match schema::open_reading(canonical) {
            Ok(connection) => Db { connection },
            Err(error) if error.hinders_only_writing() => return Err(why),
            Err(error) => return Err(error),
        };
        let reason = match why {
            StoreError::ReadOnly { reason, .. } => reason,
            StoreError::DiskFull => "the disk is full".to_owned(),
            other => other.to_string(),
        };
        Ok(Self(Arc::new(Threads {
            path: path.to_owned(),
            writer: Writer::Missing(reason),
            reader: StoreThread::reader(reader)?,
        })))
    }

    /// Opens a project that must already exist.
    pub fn open_existing(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(StoreError::NotFound(format!(
                "{}: no such project; create one with `overrule annotate DATASET`, `overrule import FILE` or `overrule demo`",
                path.display()
            )));
        }
        Self::open(path)
    }

    /// Where the project is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether the project can only be read.
    pub fn is_read_only(&self) -> bool {
        matches!(self.0.writer, Writer::Missing(_))
    }

    /// How writing went since the project was opened; nothing where it can only be read.
    pub fn write_statistics(&self) -> WriteStatistics {
        match &self.0.writer {
            Writer::Ready(_, state) => state.statistics(),
            Writer::Missing(_) => WriteStatistics::default(),
        }
    }

    fn submit<T, F>(&self, until: Durability, work: F) -> oneshot::Receiver<Result<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        match &self.0.writer {
            Writer::Ready(writer, _) => writer.submit(until, work),
            Writer::Missing(reason) => {
                let (answer, receive) = oneshot::channel();
                drop(answer.send(Err(StoreError::ReadOnly {
                    path: self.0.path.clone(),
                    reason: reason.clone(),
                })));
                receive
            }
        }
    }

    /// Puts `work` in the writing queue before it returns, so that work is done in the order in which it was asked for;
    /// the future answers when the transaction is on disk.
    pub fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.submit(Durability::Synced, work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// [`Store::write`] that answers when the transaction is committed: it survives a kill of this process from then on,
    /// and a loss of power a moment later.
    pub fn note<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.submit(Durability::Committed, work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// [`Store::write`] for a thread that may block.
    pub fn write_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit(Durability::Synced, work)
            .blocking_recv()
            .map_err(|_| StoreError::Closed)?
    }

    /// Puts `work` in the reading queue before it returns.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.0.reader.submit(Durability::Committed, work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// A query's summary, computed beside the writing queue and kept for the next look.
    pub fn summarise(
        &self,
        query: QueryKey,
    ) -> impl Future<Output = Result<QuerySummary>> + Send + use<> {
        let store = self.clone();
        async move {
            let (revision, numbers) = store.read(move |db| db.summary_now(query)).await?;
            let summary = numbers.summary.clone();
            let kept = store
                .write(move |db| db.keep_summary(query, revision, &numbers))
                .await;
            match kept {
                // What is kept saves time at the next look and nothing else.
                Err(StoreError::ReadOnly { .. } | StoreError::DiskFull) | Ok(()) => Ok(summary),
                Err(error) => Err(error),
            }
        }
    }

    /// [`Store::summarise`] for a thread that may block.
    pub fn summarise_blocking(&self, query: QueryKey) -> Result<QuerySummary> {
        let only_read = || self.read_blocking(move |db| Ok(db.summary_now(query)?.1.summary));
        if self.is_read_only() {
            return only_read();
        }
        match self.write_blocking(move |db| db.cache_summary(query)) {
            Err(StoreError::DiskFull) => only_read(),
            kept => kept,
        }
    }

    /// [`Store::read`] for a thread that may block.
    pub fn read_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.0
            .reader
            .submit(Durability::Committed, work)
            .blocking_recv()
            .map_err(|_| StoreError::Closed)?
    }
}

impl Db {
    /// [`Db::atomically`] for work that may panic: the thread and the connection outlive it.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = catch_unwind(AssertUnwindSafe(|| self.atomically(work)));
        result.unwrap_or_else(|_| {
            drop(
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step"),
            );
            Err(StoreError::Corrupt(
                "a request to the project failed; the log has more".to_owned(),
            ))
        })
    }

    /// A project in memory, for trying something out.
    pub(crate) fn scratch() -> Result<Self> {
        let connection = schema::open_in_memory()?;
        Ok(Self { connection })
    }

    /// Runs `work` and keeps nothing of what it did.
    pub(crate) fn rehearsed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT rehearsal")?;
        let result = work(self);
        self.connection
            .execute_batch("ROLLBACK TO rehearsal; RELEASE rehearsal")?;
        result
    }

    /// Runs `work` inside a savepoint: all of it or none of it is kept.
    pub(crate) fn atomically<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT step")?;
        match work(self) {
            Ok(value) => {
                self.connection.execute_batch("RELEASE step")?;
                Ok(value)
            }
            // On a full disk SQLite may have taken back everything already, this savepoint with it.
            Err(error) if self.connection.is_autocommit() => Err(error),
            Err(error) => {
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step")?;
                Err(error)
            }
        }
    }
}
