//! A handle on the project: opens it, and hands work over to its threads.

use super::db::Db;
use super::error::{Result, StoreError};
use super::file::{self, FileIdentity};
use super::schema;
use super::threads::{self, Durability, LogSync, StoreThread, WriterState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;

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
        if let Writer::Ready(writer, state) = &mut self.writer {
            writer.stop();
            tracing::debug!(written = ?state.statistics(), "the project is closed");
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

    pub(super) fn open_with(path: &Path, sync: LogSync) -> Result<Self> {
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
        // After the writer's, which has made the log and brought the schema up to date.
        let reader = connection_for_reading(&canonical, false)?;
        let writer = StoreThread::writer(Db::new(connection), Arc::clone(&state), sync)?;
        Ok(Self(Arc::new(Threads {
            path: path.to_owned(),
            writer: Writer::Ready(writer, state),
            reader: StoreThread::readers(reader, move || {
                connection_for_reading(&canonical, false)
            })?,
        })))
    }

    fn open_reading(path: &Path, canonical: &Path, why: StoreError) -> Result<Self> {
        let reader = match connection_for_reading(canonical, true) {
            Ok(reader) => reader,
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
            reader: {
                let canonical = canonical.to_owned();
                StoreThread::readers(reader, move || connection_for_reading(&canonical, true))?
            },
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
    #[cfg(any(test, feature = "internals"))]
    pub fn write_statistics(&self) -> threads::WriteStatistics {
        match &self.0.writer {
            Writer::Ready(_, state) => state.statistics(),
            Writer::Missing(_) => threads::WriteStatistics::default(),
        }
    }

    pub(super) fn submit<T, F>(&self, until: Durability, work: F) -> oneshot::Receiver<Result<T>>
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

    /// Puts `work` in the reading queue before it returns. Several reads go on at a time: one may be answered before
    /// another that was asked for earlier.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
    {
        let answer = self.0.reader.submit(Durability::Committed, work);
        async move { answer.await.map_err(|_| StoreError::Closed)? }
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

/// One more connection that reads and never writes; `alone` where the file cannot be written.
pub(super) fn connection_for_reading(canonical: &Path, alone: bool) -> Result<Db> {
    let connection = match alone {
        true => schema::open_reading(canonical)?,
        false => file::reading(canonical)?,
    };
    connection.set_prepared_statement_cache_capacity(64);
    Ok(Db::new(connection))
}
