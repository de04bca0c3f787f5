//! A lock that allows one run per project, and no merge or import of answers meanwhile, since the
//! run would pay for those answers again. It is an operating-system lock on a file next to the
//! project, which is released however the process ends.
//!
//! The lock follows the file and not the name that was typed: links are resolved, and a file with
//! several names is rejected, as in the store. The lock is not on the project itself, because
//! closing a second handle on it would release SQLite's own locks.

use crate::formats::file as files;
use crate::store::StoreError;
use crate::store::file::{RUN_LOCK, canonical, check_kind, sibling};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Why the lock cannot be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "another overrule process is running on {0}; wait for it or stop it (otherwise the same \
         call would be paid for twice)"
    )]
    Busy(String),
    /// The lock file cannot be opened or locked.
    #[error("{0}")]
    File(String),
    /// There is no such project, or the file is not a project.
    #[error(transparent)]
    Project(#[from] StoreError),
}

/// Held during a run.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Deleted while it is still locked: a process that opened it before finds a different file
        // in its place and tries again.
        drop(std::fs::remove_file(&self.path));
    }
}

impl RunLock {
    /// Acquires the lock, or returns why it cannot.
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

/// On other systems, an open file cannot be deleted.
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
