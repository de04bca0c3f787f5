//! A handle on the project: opens it, and hands work over to its threads.

use super::completeness::{self, LogState};
use super::db::Db;
use super::error::{Result, StoreError};
use super::file::{self, FileIdentity, OpenFile};
use super::reading::{Readers, Wanted};
use super::schema;
use super::threads::{self, Durability, LogSync, StoreThread, WriterState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A handle on the project; cheap to clone. The last one to go closes the file, and leaves one file behind.
#[derive(Clone, Debug)]
pub struct Store {
    threads: Arc<Threads>,
    /// `None` where what is read is always wanted.
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
    /// The writer closes last: only it may fold the log back into the file. It does so where no reader is left.
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
    /// Opens the project at `path`, creating it where there is none, and brings an older schema up to date. Where it can
    /// only be read, every write is answered with [`StoreError::ReadOnly`].
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
                return Self::open_reading(path, &canonical, open, why);
            }
            Err(error) => {
                // Half of a new project is none, unless another process is creating the other half.
                if made && !matches!(error, StoreError::Locked { .. }) {
                    for suffix in ["", "-wal", "-shm"] {
                        drop(std::fs::remove_file(file::sibling(&canonical, suffix)));
                    }
                }
                return Err(error);
            }
        };
        let identity = FileIdentity::of(path).map_err(|_| StoreError::Gone {
            path: path.to_owned(),
        })?;
        let state = Arc::new(WriterState::new(identity, canonical.clone()));
        let readers = Arc::<Readers>::default();
        // After the writer's, which has made the log and brought the schema up to date.
        let reader = connection_for_reading(&canonical, false, &readers)?;
        let writer = StoreThread::writer(Db::new(connection), Arc::clone(&state), sync)?;
        let (of, known) = (Arc::clone(&readers), Arc::clone(&state));
        Ok(Self::of(Threads {
            path: path.to_owned(),
            writer: Writer::Ready(writer, state),
            reader: StoreThread::readers(reader, &readers, move || {
                connection_for_reading(&canonical, false, &of)
                    .map_err(|error| known.explained(error))
            })?,
            readers,
            _open: open,
        }))
    }

    fn open_reading(
        path: &Path,
        canonical: &Path,
        open: OpenFile,
        why: StoreError,
    ) -> Result<Self> {
        let readers = Arc::<Readers>::default();
        let reader = match connection_for_reading(canonical, true, &readers) {
            Ok(reader) => reader,
            Err(error) if error.hinders_only_writing() => return Err(why),
            Err(error) => return Err(error),
        };
        let (canonical, of) = (canonical.to_owned(), Arc::clone(&readers));
        Ok(Self::of(Threads {
            path: path.to_owned(),
            writer: Writer::Missing(why.into_reason()),
            reader: StoreThread::readers(reader, &readers, move || {
                connection_for_reading(&canonical, true, &of)
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

    /// The same project for work that ends early, with [`StoreError::Closed`], once it is not wanted any more.
    #[must_use]
    pub fn while_wanted(&self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self {
            threads: Arc::clone(&self.threads),
            wanted: Some(Wanted(Arc::new(wanted))),
        }
    }

    /// Whether somebody waits for what this handle reads. Work that computes for long between two reads asks now and then.
    pub fn is_wanted(&self) -> bool {
        self.threads.readers.wants(self.wanted.as_ref())
    }

    /// Closes the project for all handles: what was asked to be written is written, reads end with [`StoreError::Closed`].
    /// Reads that do not end within this time are left alone; then the log stays next to the file and is part of it.
    pub fn close(&self, patience: Duration) {
        self.threads.readers.stop();
        self.threads.close(Some(patience));
    }

    /// Leaves the project for all handles: what is being written is waited for so long, and reads are not. What was committed
    /// is kept; a write that takes longer, such as a large import, is not in the project.
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
            // Refused where a log is next to it.
            completeness::check(&canonical)?;
            return Err(file::not_a_project(path, "it is empty"));
        }
        Self::open(path)
    }

    /// Whether there is a project at `path`, or may be one: opening it says why that is not known.
    pub fn may_exist(path: &Path) -> bool {
        file::may_exist(path)
    }

    /// Where the project is.
    pub fn path(&self) -> &Path {
        &self.threads.path
    }

    /// Whether the project can only be read.
    pub fn is_read_only(&self) -> bool {
        matches!(self.threads.writer, Writer::Missing(_))
    }

    /// How writing went since the project was opened; nothing where it can only be read.
    #[cfg(any(test, feature = "internals"))]
    pub fn write_statistics(&self) -> threads::WriteStatistics {
        match &self.threads.writer {
            Writer::Ready(_, state) => state.statistics(),
            Writer::Missing(_) => threads::WriteStatistics::default(),
        }
    }

    pub(super) fn submit<T, F>(&self, until: Durability, work: F) -> oneshot::Receiver<Result<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        match &self.threads.writer {
            Writer::Ready(writer, _) => writer.submit(until, work),
            Writer::Missing(reason) => {
                let (answer, receive) = oneshot::channel();
                drop(answer.send(Err(StoreError::ReadOnly {
                    path: self.threads.path.clone(),
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

    /// Stores what saves time at the next look and nothing else. Where the project cannot be written
    /// now, for whatever reason, nothing is stored.
    pub(crate) fn cache<F>(&self, work: F) -> impl Future<Output = Result<()>> + Send + use<F>
    where
        F: FnOnce(&mut Db) -> Result<()> + Send + 'static,
    {
        let answer = self.submit(Durability::Cached, work);
        async move {
            match answer.await.map_err(|_| StoreError::Closed)? {
                Err(StoreError::Locked(_)) => Ok(()),
                Err(error) if error.hinders_only_writing() => Ok(()),
                result => result,
            }
        }
    }

    /// A number that changes when another program has changed the project, and only then.
    ///
    /// SQLite counts for each connection what others have committed, and one connection does all the
    /// writing of this program.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] while another program writes.
    pub(crate) async fn foreign_version(&self) -> Result<i64> {
        let answer = self.submit(Durability::Cached, |db| {
            db.one("PRAGMA data_version", [], |row| row.get(0))
        });
        answer.await.map_err(|_| StoreError::Closed)?
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

    fn submit_read<T, F>(&self, work: F) -> oneshot::Receiver<Result<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        // Not the handle: the last one to go waits for the readers.
        let (readers, wanted) = (Arc::clone(&self.threads.readers), self.wanted.clone());
        let state = self.writer_state();
        let work = move |db: &mut Db| {
            if readers.wants(wanted.as_ref()) {
                work(db).map_err(|error| explained(state.as_deref(), error))
            } else {
                Err(StoreError::Closed)
            }
        };
        self.threads.reader.submit(Durability::Committed, work)
    }

    /// Puts `work` in the reading queue before it returns. Several reads go on at a time: one may be answered before
    /// another that was asked for earlier.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.submit_read(work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
    }

    /// [`Store::read`] for a thread that may block.
    pub fn read_blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        self.submit_read(work)
            .blocking_recv()
            .map_err(|_| StoreError::Closed)?
    }
}

/// Why reading failed, by what the writer knows.
pub(super) fn explained(state: Option<&WriterState>, error: StoreError) -> StoreError {
    match state {
        Some(state) => state.explained(error),
        None => error,
    }
}

/// One more connection that reads and never writes; `alone` where the file cannot be written.
pub(super) fn connection_for_reading(
    canonical: &Path,
    alone: bool,
    readers: &Arc<Readers>,
) -> Result<Db> {
    let mut connection = match alone {
        true => schema::open_reading(canonical)?,
        false => file::reading(canonical)?,
    };
    connection.set_prepared_statement_cache_capacity(64);
    readers.watch(&mut connection)?;
    Ok(Db::new(connection))
}
