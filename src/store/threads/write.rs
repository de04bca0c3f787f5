//! The writing thread: groups work into transactions that are committed every few milliseconds.

use super::checkpoint::{COPY_AFTER, COPY_NOW, PATIENCE, checkpoint, cut_log};
use super::job::{Committed, Durability, StoreTask};
use super::state::{WriteFailure, WriterState};
use crate::store::db::Db;
use crate::store::file;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How many such waits a write tolerates.
const BUSY_TRIES: u32 = 6;

/// Maximum number of jobs per transaction.
const GROUP: usize = 4096;

/// How long a transaction accepts further work. A kill loses work that waits for its commit.
const OPEN_FOR: Duration = Duration::from_millis(8);

/// How long the writer must be idle before a long log is truncated.
const REST: Duration = Duration::from_secs(1);

/// How long it must be idle before any other log is truncated.
const IDLE: Duration = if cfg!(test) {
    Duration::from_millis(300)
} else {
    Duration::from_secs(3)
};

pub(super) fn write_loop(
    db: &mut Db,
    jobs: &mpsc::Receiver<StoreTask>,
    state: &WriterState,
    committed: &mpsc::Sender<Committed>,
) {
    let mut copy_at = COPY_NOW;
    while let Some(first) = next_task(db, jobs, state) {
        let began = Instant::now();
        if let Some(trouble) = state.stopped.get() {
            first.run(Err(trouble.clone().into())).0(None);
            continue;
        }
        let begun = match first.until {
            Durability::Cached => begin_at_once(db, state),
            _ => begin(db),
        };
        if let Err(error) = begun {
            first.run(Err(file::explained(&state.canonical, error))).0(None);
            continue;
        }
        let mut noted = Vec::new();
        let mut written = Vec::new();
        let mut next = Some(first);
        let mut given_up = None;
        while let Some(task) = next.take() {
            // Run each job in its own savepoint: a failing job rolls back only its own changes.
            let until = task.until;
            let (answer, failure) = task.run(Ok(db));
            match until {
                Durability::Committed | Durability::Cached => noted.push(answer),
                Durability::Synced => written.push(answer),
            }
            // On a full or failing disk, SQLite may have rolled back the whole transaction. Later
            // work would then be kept on its own but reported as lost.
            if db.connection.is_autocommit() {
                let unknown =
                    || WriteFailure::Uncommitted("SQLite gave up the whole transaction".to_owned());
                given_up = Some(failure.unwrap_or_else(unknown));
            } else if noted.len() + written.len() < GROUP && began.elapsed() < OPEN_FOR {
                next = jobs.try_recv().ok();
            }
        }
        let requests = noted.len() + written.len();
        let outcome = match given_up {
            Some(failure) => Err(failure),
            // Check before the commit: if the file was replaced, nobody would find the committed
            // data.
            None => state.look().and_then(|()| commit(db, &state.canonical)),
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
        // The sync thread answers jobs that wait for the disk, so that the next transaction can
        // begin now.
        for answer in noted {
            answer(None);
        }
        // Jobs that need only a commit are flushed too, but nobody waits for that.
        drop(committed.send(written));
        let pages = state.pages.load(Ordering::Relaxed);
        if pages < COPY_AFTER {
            copy_at = COPY_NOW;
        } else if pages >= copy_at {
            checkpoint(&db.connection, state);
            // While a reader holds on to an old state, the log cannot restart, and trying is not
            // free.
            copy_at = pages + COPY_AFTER;
        }
    }
}

/// The next task, or `None` at the end. The log is copied into the file when there is nothing to
/// do, so that a copy of the file alone is complete; nobody waits for the writer then.
fn next_task(
    db: &mut Db,
    jobs: &mpsc::Receiver<StoreTask>,
    state: &WriterState,
) -> Option<StoreTask> {
    loop {
        let is_long = state.pages.load(Ordering::Relaxed) >= COPY_AFTER;
        if !is_long && state.uncopied() == 0 {
            return jobs.recv().ok();
        }
        match jobs.recv_timeout(if is_long { REST } else { IDLE }) {
            Ok(task) => return Some(task),
            Err(mpsc::RecvTimeoutError::Timeout) => cut_log(&mut db.connection, state),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                // Another process may have the project open and need the log.
                if is_long {
                    cut_log(&mut db.connection, state);
                }
                return None;
            }
        }
        if is_long && state.uncopied() == 0 {
            // A reader uses the log: truncate it after the next write.
            return jobs.recv().ok();
        }
    }
}

fn commit(db: &Db, path: &Path) -> std::result::Result<(), WriteFailure> {
    let committed = db.connection.execute_batch("COMMIT");
    committed.map_err(|error| WriteFailure::from(&file::explained(path, error)))
}

/// Begins to write, unless another process holds the lock for longer than a moment.
fn begin_at_once(db: &mut Db, state: &WriterState) -> rusqlite::Result<()> {
    db.connection.busy_timeout(PATIENCE)?;
    let begun = db.connection.execute_batch("BEGIN IMMEDIATE");
    file::wait_for_locks(&mut db.connection, &state.canonical)?;
    begun
}

/// Begins to write. Another process may hold the lock for a long time, and the pending data has
/// been paid for, so this waits longer.
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
