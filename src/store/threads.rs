//! The threads behind a project, and the guarantees behind each answer.
//!
//! - `store-writer` owns the only connection that writes. It commits every few milliseconds and
//!   never waits for the disk: a commit is in the kernel's page cache, where it survives a kill of
//!   this process.
//! - `store-sync` owns a handle on the log (`-wal`). It flushes commits to disk before it sends
//!   their answers.
//! - `store-checkpoint` owns a connection that copies the log into the file, independently of both.
//! - Each `store-reader` owns a read-only connection. A request goes to the next free reader, so
//!   that no read waits for another one to end.
//!
//! The writer passes finished work with its answers to the sync thread and never touches it again,
//! so a slow disk delays only answers. Permanent failures (a failed sync, a missing file) are
//! stored in [`WriterState`], which every thread sees. After that, no answer reports success.

mod checkpoint;
mod job;
mod state;
mod sync;
mod write;

use super::db::Db;
use super::error::{Result, StoreError};
use super::file;
use super::reading::Readers;
use checkpoint::copy_loop;
use job::StoreTask;
pub(super) use job::{Durability, ErasedWork, PendingAnswer, erased};
#[cfg(any(test, feature = "internals"))]
pub use state::WriteStatistics;
pub(super) use state::WriterState;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use sync::sync_loop;
pub(super) use sync::{LogSync, log_sync};
use tokio::sync::oneshot;
use write::write_loop;

/// Bytes per page for converting the length of a log to pages.
const SMALL_PAGE: u64 = 4096;

/// Number of reads that run in parallel.
const READERS: usize = 4;

/// A thread that owns the writing connection, or several threads that read, with their job queue.
#[derive(Debug)]
pub(super) struct StoreThread {
    /// `None` after the end.
    jobs: Mutex<Option<mpsc::Sender<StoreTask>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl StoreThread {
    /// Starts the reading threads: one with a connection; the others open theirs when there is work
    /// for them.
    pub(super) fn readers(
        first: Db,
        readers: &Arc<Readers>,
        open: impl Fn() -> Result<Db> + Send + Sync + 'static,
    ) -> Result<Self> {
        let (jobs, receiver) = mpsc::channel::<StoreTask>();
        let (receiver, open) = (Arc::new(Mutex::new(receiver)), Arc::new(open));
        let mut first = Some(first);
        let mut threads = Vec::new();
        for _ in 0..READERS {
            let (receiver, open) = (Arc::clone(&receiver), Arc::clone(&open));
            let (entered, mut own) = (readers.enter(), first.take());
            // Each thread runs one job at a time, on the state committed when the job begins, which
            // includes everything that `note` has confirmed.
            threads.push(spawn("store-reader", move || {
                let next = || {
                    let jobs = receiver.lock().unwrap_or_else(PoisonError::into_inner);
                    jobs.recv()
                };
                while let Ok(task) = next() {
                    let db = match &mut own {
                        Some(db) => Ok(db),
                        none => open().map(|db| none.insert(db)),
                    };
                    task.run(db).0(None);
                }
                // Drop the connection before its reader guard.
                drop(own);
                drop(entered);
            })?);
        }
        Ok(Self {
            jobs: Mutex::new(Some(jobs)),
            threads: Mutex::new(threads),
        })
    }

    /// Starts the writing threads. `sync` flushes the log to disk.
    pub(super) fn writer(mut db: Db, state: Arc<WriterState>, sync: LogSync) -> Result<Self> {
        // SQLite's automatic checkpoint would run inside a commit and wait for the disk twice.
        db.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let of = Arc::clone(&state);
        db.connection.wal_hook(Some(
            move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
                of.pages.store(pages.max(0) as u32, Ordering::Relaxed);
                Ok(())
            },
        ))?;
        // A log left behind by another process is copied like one of this process.
        let pages = std::fs::metadata(file::sibling(&state.canonical, "-wal"))
            .map_or(0, |log| log.len() / SMALL_PAGE);
        state
            .pages
            .store(u32::try_from(pages).unwrap_or(u32::MAX), Ordering::Relaxed);
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
            // The other threads must end before the writer's connection closes: the last connection
            // to close merges the log into the file, and only the writer may write.
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
            jobs: Mutex::new(Some(jobs)),
            threads: Mutex::new(vec![thread]),
        })
    }

    /// Queues work immediately. The answer arrives when it is done.
    pub(super) fn submit<T>(&self, until: Durability, work: ErasedWork) -> PendingAnswer<T> {
        let (answer, receiver) = oneshot::channel();
        self.queue(StoreTask {
            work,
            answer,
            until,
        });
        receiver.into()
    }

    /// If the thread has ended, the task and its answer sender are dropped, and the caller receives
    /// an error.
    fn queue(&self, task: StoreTask) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(jobs) = &*jobs {
            drop(jobs.send(task));
        }
    }

    /// Accepts no more work; queued work is completed.
    pub(super) fn end(&self) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        *jobs = None;
    }

    /// Detaches the threads, which end when their work is done.
    pub(super) fn leave(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.clear();
    }

    /// Waits up to `patience` for the threads, then detaches them.
    pub(super) fn join_within(&self, patience: Duration) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = std::mem::take(&mut *threads);
        let (ending, ended) = mpsc::channel::<()>();
        let joining = spawn("store-end", move || {
            threads.into_iter().for_each(|thread| drop(thread.join()));
            drop(ending);
        });
        if joining.is_ok() {
            let _ = ended.recv_timeout(patience);
        }
    }

    /// Waits for the threads, which end when their work is done.
    pub(super) fn join(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| StoreError::Internal(format!("cannot start the store's thread: {error}")))
}

#[cfg(test)]
mod tests;
