//! A handle on the project: opens it and passes work to its threads.

use super::changes;
use super::completeness::{self, LogState};
use super::db::Db;
use super::error::{Result, StoreError};
use super::file::{self, FileIdentity, OpenFile};
use super::reading::{Readers, Wanted};
use super::schema;
use super::threads::{
    self, Durability, ErasedWork, LogSync, PendingAnswer, StoreThread, WriterState, erased,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// A handle on the project that is cheap to clone. Dropping the last one closes the project and
/// leaves a single file.
#[derive(Clone, Debug)]
pub struct Store {
    threads: Arc<Threads>,
    /// `None` if reads are always wanted.
    wanted: Option<Wanted>,
}

#[derive(Debug)]
struct Threads {
    path: PathBuf,
    writer: Writer,
    reader: StoreThread,
    readers: Arc<Readers>,
    _open: OpenFile,
}

#[derive(Debug)]
enum Writer {
    Ready(StoreThread, Arc<WriterState>),
    /// The project can only be read, for this reason.
    Missing(String),
}

impl Threads {
    /// The writer closes last, as only it may merge the log into the file. It does so if no reader
    /// is left.
    fn close(&self, patience: Option<Duration>) {
        self.reader.end();
        match patience {
            Some(patience) if !self.readers.ended_within(patience) => self.reader.leave(),
            _ => self.reader.join(),
        }
        if let Writer::Ready(writer, state) = &self.writer {
            writer.end();
            writer.join();
            tracing::debug!(written = ?state.statistics(), "the project is closed");
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.close(None);
    }
}

impl Store {
    /// Opens an existing project of this version so that it cannot be changed, even if others change
    /// it: every write returns [`StoreError::ReadOnly`].
    pub fn open_unchanged(path: &Path) -> Result<Self> {
        let canonical = file::canonical(path)?;
        file::check_kind(&canonical)?;
        let (open, _) = OpenFile::after(&canonical, || completeness::check(&canonical))?;
        // Checks the version.
        drop(schema::open_reading(&canonical)?);
        let why = StoreError::ReadOnly {
            path: path.to_owned(),
            reason: "it was opened for reading".to_owned(),
        };
        Self::open_reading(path, &canonical, open, false, why)
    }

    /// Opens the project at `path`, creating it if there is none, and upgrades an older schema. If
    /// it can only be read, every write returns [`StoreError::ReadOnly`].
    pub fn open(path: &Path) -> Result<Self> {
        let canonical = file::canonical(path)?;
        let sync = threads::log_sync(&canonical);
        Self::open_with(path, sync)
    }

    pub(super) fn open_with(path: &Path, sync: LogSync) -> Result<Self> {
        let canonical = file::canonical(path)?;
        file::check_kind(&canonical)?;
        let mut made = false;
        let (open, log) = OpenFile::after(&canonical, || {
            let log = completeness::check(&canonical)?;
            made = file::make(&canonical)?;
            Ok(log)
        })?;
        if log == Some(LogState::LeftBehind) {
            schema::check_left_log(&canonical)?;
        }
        let connection = match schema::open(&canonical) {
            Ok(connection) => connection,
            Err(why) if !made && why.hinders_only_writing() => {
                return Self::open_reading(path, &canonical, open, true, why);
            }
            Err(error) => {
                // Delete a half-created project, unless another process is creating the rest.
                if made && !matches!(error, StoreError::Locked { .. }) {
                    for suffix in ["", "-wal", "-shm"] {
                        drop(std::fs::remove_file(file::sibling(&canonical, suffix)));
                    }
                }
                return Err(error);
            }
        };
        changes::watch(&connection)?;
        let identity = FileIdentity::of(path).map_err(|_| StoreError::Gone {
            path: path.to_owned(),
        })?;
        let state = Arc::new(WriterState::new(identity, canonical.clone()));
        let readers = Arc::<Readers>::default();
        // Opened after the writer's connection, which has created the log and upgraded the schema.
        let reader = connection_for_reading(&canonical, false, &readers)?;
        let owes_estimates = reader.owes_estimates()?;
        let writer = StoreThread::writer(Db::new(connection), Arc::clone(&state), sync)?;
        let (of, known) = (Arc::clone(&readers), Arc::clone(&state));
        let store = Self::of(Threads {
            path: path.to_owned(),
            writer: Writer::Ready(writer, state),
            reader: StoreThread::readers(reader, &readers, move || {
                connection_for_reading(&canonical, false, &of)
                    .map_err(|error| known.explained(error))
            })?,
            readers,
            _open: open,
        });
        if owes_estimates {
            // Use another thread, since the caller may be asynchronous.
            let done = thread::scope(|scope| scope.spawn(|| store.update_estimates()).join());
            done.map_err(|_| StoreError::Internal("the estimates cannot be made".to_owned()))??;
        }
        Ok(store)
    }

    fn open_reading(
        path: &Path,
        canonical: &Path,
        open: OpenFile,
        alone: bool,
        why: StoreError,
    ) -> Result<Self> {
        let readers = Arc::<Readers>::default();
        let reader = match connection_for_reading(canonical, alone, &readers) {
            Ok(reader) => reader,
            Err(error) if error.hinders_only_writing() => return Err(why),
            Err(error) => return Err(error),
        };
        let (canonical, of) = (canonical.to_owned(), Arc::clone(&readers));
        Ok(Self::of(Threads {
            path: path.to_owned(),
            writer: Writer::Missing(why.into_reason()),
            reader: StoreThread::readers(reader, &readers, move || {
                connection_for_reading(&canonical, alone, &of)
            })?,
            readers,
            _open: open,
        }))
    }

    fn of(threads: Threads) -> Self {
        Self {
            threads: Arc::new(threads),
            wanted: None,
        }
    }

    /// The same project for work that ends early, with [`StoreError::Closed`], once its result is
    /// no longer wanted.
    #[must_use]
    pub fn while_wanted(&self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            threads: Arc::clone(&self.threads),
            wanted: Some(Wanted(Arc::new(wanted))),
        }
    }

    /// Whether someone still waits for the results of this handle. Long computations between two
    /// reads check this now and then.
    pub fn is_wanted(&self) -> bool {
        self.threads.readers.wants(self.wanted.as_ref())
    }

    /// Closes the project for all handles. Queued writes are completed; reads end with
    /// [`StoreError::Closed`]. Reads that take longer than `patience` are abandoned; the log then
    /// stays next to the file and is part of the project.
    pub fn close(&self, patience: Duration) {
        self.threads.readers.stop();
        self.threads.close(Some(patience));
    }

    /// Abandons the project for all handles. Waits up to `patience` for queued writes and not at
    /// all for reads. Committed data is kept; a write that takes longer, such as a large import, is
    /// lost.
    pub fn leave(&self, patience: Duration) {
        self.threads.readers.stop();
        self.threads.reader.end();
        self.threads.reader.leave();
        if let Writer::Ready(writer, _) = &self.threads.writer {
            writer.end();
            writer.join_within(patience);
        }
    }

    pub(super) fn writer_state(&self) -> Option<Arc<WriterState>> {
        match &self.threads.writer {
            Writer::Ready(_, state) => Some(Arc::clone(state)),
            Writer::Missing(_) => None,
        }
    }

    pub(super) fn readers(&self) -> &Arc<Readers> {
        &self.threads.readers
    }

    /// Opens a project that must already exist.
    pub fn open_existing(path: &Path) -> Result<Self> {
        if !Self::may_exist(path) {
            return Err(StoreError::NotFound(format!(
                "{}: no such project; create one with `overrule annotate DATASET`, `overrule import FILE` or `overrule demo`",
                path.display()
            )));
        }
        let canonical = file::canonical(path)?;
        file::check_kind(&canonical)?;
        if std::fs::metadata(&canonical).is_ok_and(|found| found.len() == 0) {
            // Fails if there is a log next to it.
            completeness::check(&canonical)?;
            return Err(file::not_a_project(path, "it is empty"));
        }
        Self::open(path)
    }

    /// Whether there is a project at `path`, or may be one. If that is unknown, opening it reports
    /// why.
    pub fn may_exist(path: &Path) -> bool {
        file::may_exist(path)
    }

    /// The path of the project.
    pub fn path(&self) -> &Path {
        &self.threads.path
    }

    /// Whether the project can only be read.
    pub fn is_read_only(&self) -> bool {
        matches!(self.threads.writer, Writer::Missing(_))
    }

    /// Write statistics since the project was opened; empty if it can only be read.
    #[cfg(any(test, feature = "internals"))]
    pub fn write_statistics(&self) -> threads::WriteStatistics {
        match &self.threads.writer {
            Writer::Ready(_, state) => state.statistics(),
            Writer::Missing(_) => threads::WriteStatistics::default(),
        }
    }

    pub(super) fn submit<T, F>(&self, until: Durability, work: F) -> PendingAnswer<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit_erased(until, erased(work))
    }

    fn submit_erased<T>(&self, until: Durability, work: ErasedWork) -> PendingAnswer<T> {
        match &self.threads.writer {
            Writer::Ready(writer, _) => writer.submit(until, work),
            Writer::Missing(reason) => {
                let (answer, receiver) = oneshot::channel();
                drop(answer.send(Err(StoreError::ReadOnly {
                    path: self.threads.path.clone(),
                    reason: reason.clone(),
                })));
                receiver.into()
            }
        }
    }

    /// Queues `work` for writing before it returns, so that work runs in the order of the calls.
    /// The future completes when the transaction is on disk.
    pub fn write<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit(Durability::Synced, work).received()
    }

    /// Like [`Store::write`], but completes when the transaction is committed. From then on it
    /// survives a kill of this process, and shortly afterwards a power loss.
    pub fn note<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit(Durability::Committed, work).received()
    }

    /// Stores cached data. If the project cannot be written now for any reason, nothing is stored.
    pub(crate) fn cache<F>(&self, work: F) -> impl Future<Output = Result<()>> + Send + use<F>
    where
        F: FnOnce(&mut Db) -> Result<()> + Send + 'static,
    {
        let answer = self.submit(Durability::Cached, work);
        async move {
            match answer.received().await {
                Err(StoreError::Locked(_)) => Ok(()),
                Err(error) if error.hinders_only_writing() => Ok(()),
                result => result,
            }
        }
    }

    /// A number that changes exactly when another program has changed the project.
    ///
    /// SQLite counts the commits of other connections, and a single connection does all the writing
    /// of this program.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] while another program writes.
    pub(crate) async fn foreign_version(&self) -> Result<i64> {
        let answer = self.submit(Durability::Cached, |db| {
            db.one("PRAGMA data_version", [], |row| row.get(0))
        });
        answer.received().await
    }

    /// [`Store::write`] for a thread that may block.
    pub fn write_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit(Durability::Synced, work).wait()
    }

    fn submit_read<T, F>(&self, work: F) -> PendingAnswer<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let work = self.while_reading(erased(work));
        self.threads.reader.submit(Durability::Committed, work)
    }

    /// Skips the work if nobody waits for it any more, and explains its errors.
    fn while_reading(&self, work: ErasedWork) -> ErasedWork {
        // Do not capture the handle: dropping the last handle waits for the readers.
        let (readers, wanted) = (Arc::clone(&self.threads.readers), self.wanted.clone());
        let state = self.writer_state();
        Box::new(move |db| {
            if readers.wants(wanted.as_ref()) {
                work(db).map_err(|error| explained(state.as_deref(), error))
            } else {
                Err(StoreError::Closed)
            }
        })
    }

    /// Queues `work` for reading before it returns. Reads run in parallel, so they may complete in
    /// a different order.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit_read(work).received()
    }

    /// [`Store::read`] for a thread that may block.
    pub fn read_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit_read(work).wait()
    }
}

/// Refines a read error with what the writer knows.
pub(super) fn explained(state: Option<&WriterState>, error: StoreError) -> StoreError {
    match state {
        Some(state) => state.explained(error),
        None => error,
    }
}

/// Opens another read-only connection; `alone` if the file cannot be written.
pub(super) fn connection_for_reading(
    canonical: &Path,
    alone: bool,
    readers: &Arc<Readers>,
) -> Result<Db> {
    let mut connection = if alone {
        schema::open_reading(canonical)?
    } else {
        file::reading(canonical)?
    };
    connection.set_prepared_statement_cache_capacity(64);
    readers.watch(&mut connection)?;
    Ok(Db::new(connection))
}
