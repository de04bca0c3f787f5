//! A private copy of another project, so that reading it affects neither its file nor its users.

use crate::store::completeness::{self, LogState};
use crate::store::file::{self, OpenFile, explained, not_a_project, unreadable};
use crate::store::{Db, Result, StoreError, schema};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A copy of a project at one moment, upgraded to the current schema.
///
/// It is stored in an unnamed temporary file, which the system deletes however the process ends.
#[derive(Debug)]
pub struct Snapshot(Db);

impl Snapshot {
    /// Copies the project at `path`, which other processes may be writing to.
    pub fn of(path: &Path) -> Result<Self> {
        sweep_old_copies();
        let found = fs::metadata(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                StoreError::NotFound(format!("{}: cannot be read: {error}", path.display()))
            }
            _ => unreadable(path, &error),
        })?;
        // SQLite names the log after the file and not after a link to it.
        let canonical = &file::canonical(path)?;
        file::check_kind(canonical).map_err(|error| named(path, error))?;
        let (_open, log) = OpenFile::after(canonical, || completeness::check(canonical))?;
        if found.len() == 0 {
            return Err(not_a_project(path, "it is empty"));
        }
        if log == Some(LogState::LeftBehind) {
            schema::check_left_log(canonical)?;
        }
        let copy = file::read_steadily(canonical, |source| copy(canonical, source))?;
        Self::made(path, copy)
    }

    /// Copies a project that this process has open.
    pub fn of_open(path: &Path) -> Result<Self> {
        let canonical = file::canonical(path)?;
        Self::made(path, copy(&canonical, &file::reading(&canonical)?)?)
    }

    pub(super) fn made(path: &Path, copy: Connection) -> Result<Self> {
        let copy = schema::prepare_copy(copy).map_err(|error| named(path, error))?;
        // The copy does not outlive the process, so nothing needs to reach the disk.
        copy.pragma_update(None, "synchronous", "off")?;
        Ok(Self(Db::new(copy)))
    }

    pub(crate) fn db(&self) -> &Db {
        &self.0
    }

    pub(crate) fn db_mut(&mut self) -> &mut Db {
        &mut self.0
    }
}

/// Replaces the path in an error with the name that the user gave.
fn named(path: &Path, error: StoreError) -> StoreError {
    let path = path.to_owned();
    match error {
        StoreError::NotAProject { reason, .. } => StoreError::NotAProject { path, reason },
        StoreError::Newer { found, known, .. } => StoreError::Newer { path, found, known },
        other => other,
    }
}

/// Copies the content seen by a connection into an unnamed temporary file.
fn copy(path: &Path, source: &Connection) -> Result<Connection> {
    schema::check(path, source)?;
    let mut copy = Connection::open("")?;
    file::harden(&mut copy, path)?;
    let step = Backup::new(source, &mut copy)
        .and_then(|backup| backup.step(-1))
        .map_err(|error| explained(path, error))?;
    match step {
        StepResult::Done => Ok(copy),
        _ => Err(StoreError::Locked(path.display().to_string())),
    }
}

/// Deletes copies that earlier versions stored in named folders and left behind when killed by a
/// signal.
#[expect(
    clippy::disallowed_methods,
    reason = "the age of a file on this machine, which no row depends on"
)]
fn sweep_old_copies() {
    const OLD: Duration = Duration::from_secs(3_600);
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_old = |found: fs::Metadata| {
            // A link to a folder does not count.
            found.is_dir()
                && found
                    .modified()
                    .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > OLD))
        };
        if name.to_string_lossy().starts_with("overrule-merge-")
            && entry.metadata().is_ok_and(is_old)
        {
            // Folders of other users cannot be deleted.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}
