//! The project file: one SQLite database, owned by one writing thread and one reading thread.
//!
//! Work is handed over as closures on [`Db`]. Writes that wait in the queue share a transaction, and each is answered
//! only after that transaction is on disk: what the store has confirmed survives a kill at any later moment.

pub mod corpus;
pub mod runs;
mod schema;
pub mod verdicts;
pub mod views;

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// Writes that may share one transaction.
const GROUP: usize = 4096;

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
    /// SQLite refused.
    #[error("project database: {0}")]
    Sql(#[from] rusqlite::Error),
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

/// The result of asking the project.
pub type Result<T> = std::result::Result<T, StoreError>;

/// One connection to the project.
#[derive(Debug)]
pub struct Db {
    pub(crate) connection: Connection,
}

/// Sends the answer of a job, told why its transaction could not be committed where it could not.
type Answer = Box<dyn FnOnce(Option<&str>) + Send>;
type Job = Box<dyn FnOnce(Result<&mut Db>) -> Answer + Send>;

/// A handle on the project; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    writer: mpsc::SyncSender<Job>,
    reader: mpsc::SyncSender<Job>,
}

impl Store {
    /// Opens the project at `path`, creating it where there is none, and brings an older schema up to date.
    pub fn open(path: &Path) -> Result<Self> {
        let writer = Db {
            connection: schema::open(path)?,
        };
        Self::start(path, writer)
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

    fn start(path: &Path, writer: Db) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Db {
            connection: Connection::open_with_flags(path, flags)?,
        };
        reader.connection.busy_timeout(Duration::from_secs(10))?;
        reader.connection.pragma_update(None, "query_only", true)?;
        reader.connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            path: path.to_owned(),
            writer: spawn("store-writer", writer, write_loop)?,
            reader: spawn("store-reader", reader, read_loop)?,
        })
    }

    /// Where the project is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` in a transaction and answers when it is on disk.
    pub async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        let queue = self.writer.clone();
        let job = job(work, answer);
        match queue.try_send(job) {
            Ok(()) => {}
            Err(mpsc::TrySendError::Full(job)) => {
                tokio::task::spawn_blocking(move || queue.send(job))
                    .await
                    .map_err(|_| StoreError::Closed)?
                    .map_err(|_| StoreError::Closed)?;
            }
            Err(mpsc::TrySendError::Disconnected(_)) => return Err(StoreError::Closed),
        }
        receive.await.map_err(|_| StoreError::Closed)?
    }

    /// [`Store::write`] for a thread that may block.
    pub fn write_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        self.writer
            .send(job(work, answer))
            .map_err(|_| StoreError::Closed)?;
        receive.blocking_recv().map_err(|_| StoreError::Closed)?
    }

    /// Runs `work` on the reading connection.
    pub async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        self.reader
            .send(job(work, answer))
            .map_err(|_| StoreError::Closed)?;
        receive.await.map_err(|_| StoreError::Closed)?
    }

    /// [`Store::read`] for a thread that may block.
    pub fn read_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        self.reader
            .send(job(work, answer))
            .map_err(|_| StoreError::Closed)?;
        receive.blocking_recv().map_err(|_| StoreError::Closed)?
    }
}

/// Wraps typed work so that its answer is sent only when the fate of its transaction is known.
fn job<T, F>(work: F, answer: oneshot::Sender<Result<T>>) -> Job
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| {
        let result = db.and_then(|db| db.atomically(work));
        Box::new(move |trouble| {
            let result = match trouble {
                Some(trouble) if result.is_ok() => Err(StoreError::Uncommitted(trouble.to_owned())),
                _ => result,
            };
            // The asker may have gone away; the work is done all the same.
            drop(answer.send(result));
        })
    })
}

fn spawn(name: &str, db: Db, body: fn(Db, &mpsc::Receiver<Job>)) -> Result<mpsc::SyncSender<Job>> {
    let (sender, receiver) = mpsc::sync_channel::<Job>(GROUP);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || body(db, &receiver))
        .map_err(|error| {
            StoreError::Corrupt(format!("cannot start the store's thread: {error}"))
        })?;
    Ok(sender)
}

fn read_loop(mut db: Db, jobs: &mpsc::Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job(Ok(&mut db))(None);
    }
}

fn write_loop(mut db: Db, jobs: &mpsc::Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        if let Err(error) = db.connection.execute_batch("BEGIN IMMEDIATE") {
            first(Err(error.into()))(None);
            continue;
        }
        let mut answers = vec![first(Ok(&mut db))];
        while answers.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            answers.push(job(Ok(&mut db)));
        }
        let trouble = db
            .connection
            .execute_batch("COMMIT")
            .err()
            .map(|error| error.to_string());
        if trouble.is_some() && !db.connection.is_autocommit() {
            drop(db.connection.execute_batch("ROLLBACK"));
        }
        for answer in answers {
            answer(trouble.as_deref());
        }
    }
}

impl Db {
    /// Runs `work` inside a savepoint: all of it or none of it is kept.
    pub(crate) fn atomically<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT step")?;
        match work(self) {
            Ok(value) => {
                self.connection.execute_batch("RELEASE step")?;
                Ok(value)
            }
            Err(error) => {
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step")?;
                Err(error)
            }
        }
    }
}
