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

mod checkpoint;
mod job;
mod state;
mod sync;
mod write;

use super::db::Db;
use super::error::{Result, StoreError};
use checkpoint::copy_loop;
pub(super) use job::Durability;
use job::{StoreTask, job};
#[cfg(any(test, feature = "internals"))]
pub use state::WriteStatistics;
pub(super) use state::WriterState;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use sync::sync_loop;
pub(super) use sync::{LogSync, log_sync};
use tokio::sync::oneshot;
use write::write_loop;

/// A thread that owns a connection, and the way to give it work.
#[derive(Debug)]
pub(super) struct StoreThread {
    jobs: Option<mpsc::Sender<StoreTask>>,
    thread: Option<JoinHandle<()>>,
}

impl StoreThread {
    pub(super) fn reader(mut db: Db) -> Result<Self> {
        Self::start("store-reader", move |jobs| {
            // One job at a time, each on the state that was committed when it began: what `note` has answered is seen
            // too.
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

#[cfg(test)]
mod tests;
