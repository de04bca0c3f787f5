//! One run a project, and no merge or import of answers meanwhile, which a run would pay for again: an operating-system lock on a file beside it, which is released however the process ends.
//!
//! The lock goes by the file and not by the name that was typed: links are followed, and a file with several names is
//! refused, as the store refuses it. The lock is not on the project itself: to close a second handle on it would take
//! away SQLite's own locks.

use crate::formats::file as files;
use crate::store::StoreError;
use crate::store::file::{RUN_LOCK, canonical, check_kind, sibling};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Why the lock cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "another overrule process is running on {0}; wait for it or stop it (otherwise the same call would be paid for twice)"
    )]
    Busy(String),
    /// The lock file cannot be opened or locked.
    #[error("{0}")]
    File(String),
    /// There is no such project, or it is none.
    #[error(transparent)]
    Project(#[from] StoreError),
}

/// Held while a run goes on.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Taken away while it is still locked: who opened it before finds another file in its place, and looks again.
        drop(std::fs::remove_file(&self.path));
    }
}

impl RunLock {
    /// Takes the lock or says who cannot have it.
    pub fn take(project: &Path) -> Result<Self, LockError> {
        let project = canonical(project)?;
        check_kind(&project)?;
        let path = sibling(&project, RUN_LOCK);
        let trouble = |what: &str, error: &std::io::Error| {
            LockError::File(format!("{}: cannot be {what}: {error}", path.display()))
        };
        loop {
            let file = files::append(&path).map_err(|error| trouble("opened", &error))?;
            match file.try_lock() {
                Ok(()) if still_there(&file, &path) => return Ok(Self { _file: file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Busy(project.display().to_string()));
                }
                Err(TryLockError::Error(error)) => return Err(trouble("locked", &error)),
            }
        }
    }
}

/// Whether the locked file is still the one that others would open.
#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |ours: std::fs::Metadata, theirs: std::fs::Metadata| {
        (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
    };
    file.metadata()
        .ok()
        .zip(std::fs::metadata(path).ok())
        .is_some_and(|(ours, theirs)| same(ours, theirs))
}

/// Elsewhere an open file cannot be taken away.
#[cfg(not(unix))]
fn still_there(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_on_one_project_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("overrule.db");
        let held = RunLock::take(&project).unwrap();
        assert!(matches!(RunLock::take(&project), Err(LockError::Busy(_))));
        drop(held);
        assert!(RunLock::take(&project).is_ok());
    }
}
