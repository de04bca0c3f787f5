//! The project file: one SQLite database, owned by one writing thread and one reading thread.
//!
//! Work is handed over as closures on [`Db`]. Writes that wait in the queue share a transaction, and each is answered
//! only after that transaction is on disk: what the store has confirmed survives a kill at any later moment.

pub mod batches;
pub mod calls;
pub mod corpus;
pub mod court;
pub mod gold;
pub mod growth;
pub mod imports;
pub mod ledger;
pub mod log;
pub mod merge;
pub mod queue;
pub mod rounds;
pub mod rulings;
pub mod runs;
mod schema;
pub mod summaries;
pub mod tally;
pub mod urgency;
pub mod verdicts;
pub mod views;
pub mod witnesses;

use corpus::QueryKey;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;
use views::Summary;

/// Writes that may share one transaction.
const GROUP: usize = 4096;

/// How long a connection waits for another process's lock at a time.
const PATIENCE: Duration = Duration::from_secs(10);

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

/// A handle on the project; cheap to clone. The last one to go closes the file, and leaves one file behind.
#[derive(Clone, Debug)]
pub struct Store(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    path: PathBuf,
    writer: Worker,
    reader: Worker,
}

/// A thread that owns a connection, and the way to give it work.
#[derive(Debug)]
struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn start(name: &str, db: Db, body: fn(Db, &mpsc::Receiver<Job>)) -> Result<Self> {
        let (jobs, receiver) = mpsc::channel::<Job>();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || body(db, &receiver))
            .map_err(|error| {
                StoreError::Corrupt(format!("cannot start the store's thread: {error}"))
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Puts work in the queue now; the answer comes when it is done.
    fn submit<T, F>(&self, work: F) -> oneshot::Receiver<Result<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let (answer, receive) = oneshot::channel();
        // A thread that is gone drops the job and with it the answer, which the asker sees.
        if let Some(jobs) = &self.jobs {
            drop(jobs.send(job(work, answer)));
        }
        receive
    }

    fn stop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            drop(thread.join());
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // The writer closes last: only it may fold the log back into the file.
        self.reader.stop();
        self.writer.stop();
    }
}

impl Store {
    /// Opens the project at `path`, creating it where there is none, and brings an older schema up to date.
    pub fn open(path: &Path) -> Result<Self> {
        let writer = Db {
            connection: schema::open(path)?,
        };
        let reader = Db::reader(path)?;
        Ok(Self(Arc::new(Threads {
            path: path.to_owned(),
            writer: Worker::start("store-writer", writer, write_loop)?,
            reader: Worker::start("store-reader", reader, read_loop)?,
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

    /// Puts `work` in the writing queue before it returns, so that work is done in the order in which it was asked for;
    /// the future answers when the transaction is on disk.
    pub fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.0.writer.submit(work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// [`Store::write`] for a thread that may block.
    pub fn write_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.0
            .writer
            .submit(work)
            .blocking_recv()
            .map_err(|_| StoreError::Closed)?
    }

    /// Puts `work` in the reading queue before it returns.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.0.reader.submit(work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// A query's summary, computed beside the writing queue and kept for the next look.
    pub fn summarise(
        &self,
        query: QueryKey,
    ) -> impl Future<Output = Result<Summary>> + Send + use<> {
        let store = self.clone();
        async move {
            let (revision, numbers) = store.read(move |db| db.summary_now(query)).await?;
            let summary = numbers.summary.clone();
            store
                .write(move |db| db.keep_summary(query, revision, &numbers))
                .await?;
            Ok(summary)
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
            .submit(work)
            .blocking_recv()
            .map_err(|_| StoreError::Closed)?
    }
}

/// Wraps typed work so that its answer is sent only when the fate of its transaction is known.
fn job<T, F>(work: F, answer: oneshot::Sender<Result<T>>) -> Job
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| {
        let result = db.and_then(|db| db.guarded(work));
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

fn read_loop(mut db: Db, jobs: &mpsc::Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        job(Ok(&mut db))(None);
    }
}

fn write_loop(mut db: Db, jobs: &mpsc::Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        if let Err(error) = begin(&db) {
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
        let connection = schema::open(Path::new(":memory:"))?;
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
            Err(error) => {
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step")?;
                Err(error)
            }
        }
    }
}
