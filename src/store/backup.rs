//! A single-file copy of the project that is consistent even while others write to it.

use super::completeness::{self, LogState};
use super::file::{self, OpenFile, explained};
use super::{Db, Result, StoreError, schema};
use crate::formats::file as files;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Contents of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupCounts {
    pub queries: usize,
    pub votes: usize,
    /// Including undone verdicts.
    pub verdicts: usize,
    /// Size of the file.
    pub bytes: u64,
}

/// Where a backup is written until it is complete.
pub fn part_of(target: &Path) -> PathBuf {
    file::sibling(target, ".part")
}

/// Writes the project at `path` to `target`, which must not exist, and checks the copy. The project
/// itself is not modified, not even to upgrade its schema.
pub fn back_up(path: &Path, target: &Path) -> Result<BackupCounts> {
    let part = part_of(target);
    let written = copy(path, &part).and_then(|counts| {
        publish(&part, target)?;
        Ok(counts)
    });
    if written.is_err() {
        drop(fs::remove_file(&part));
    }
    written
}

fn copy(path: &Path, part: &Path) -> Result<BackupCounts> {
    let canonical = file::canonical(path)?;
    file::check_kind(&canonical)?;
    let (_open, log) = OpenFile::after(&canonical, || completeness::check(&canonical))?;
    if fs::metadata(&canonical).is_ok_and(|found| found.len() == 0) {
        return Err(file::not_a_project(path, "it is empty"));
    }
    if log == Some(LogState::LeftBehind) {
        schema::check_left_log(&canonical)?;
    }
    file::read_steadily(&canonical, |source| {
        schema::check(&canonical, source)?;
        // Left over from a backup that was killed.
        drop(fs::remove_file(part));
        files::create_new(part).map_err(|error| unwritable(part, &error))?;
        source.pragma_update(None, "query_only", false)?;
        let written = source.execute("VACUUM INTO ?1", [part.to_string_lossy()]);
        written
            .map(drop)
            .map_err(|error| copy_failure(&canonical, part, error))
    })?;
    let file = File::open(part).map_err(|error| unwritable(part, &error))?;
    file.sync_all().map_err(|error| unwritable(part, &error))?;
    let db = Db::new(file::reading_alone(part)?);
    let damage = db.damage()?;
    if !damage.is_empty() {
        return Err(StoreError::Corrupt(damage.join("; ")));
    }
    Ok(BackupCounts {
        queries: db.value("SELECT count(*) FROM query", [])?,
        votes: db.value("SELECT count(*) FROM vote", [])?,
        verdicts: db.value("SELECT count(*) FROM verdict", [])?,
        bytes: file.metadata().map_or(0, |found| found.len()),
    })
}

fn copy_failure(project: &Path, part: &Path, error: rusqlite::Error) -> StoreError {
    match file::narrowed(part, explained(project, error)) {
        // The project is already open, so it is the copy that cannot be written.
        StoreError::ReadOnly { reason, .. } => StoreError::ReadOnly {
            path: part.to_owned(),
            reason,
        },
        other => other,
    }
}

/// Renames a complete file to its final name, unless another file has taken that name meanwhile.
fn publish(part: &Path, target: &Path) -> Result<()> {
    let moved = match fs::hard_link(part, target) {
        Ok(()) => fs::remove_file(part),
        // A file system without hard links.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !file::may_exist(target) => {
            fs::rename(part, target)
        }
        Err(error) => Err(error),
    };
    moved.map_err(|error| unwritable(target, &error))?;
    #[cfg(unix)]
    if let Some(folder) = target.parent().filter(|folder| folder.is_dir()) {
        // Make the name durable too.
        drop(File::open(folder).and_then(|folder| folder.sync_all()));
    }
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Conflict(format!(
            "{}: exists already, and a backup never overwrites a file; name another one",
            path.display()
        )),
        io::ErrorKind::StorageFull => StoreError::DiskFull,
        _ => StoreError::Conflict(format!("{}: cannot be written: {error}", path.display())),
    }
}
