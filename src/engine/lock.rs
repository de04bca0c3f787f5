//! One run a project: an operating-system lock on a file beside it, which is released however the process ends.

use super::EngineError;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// Held while a run goes on.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Takes the lock or says who cannot have it.
    pub fn take(project: &Path) -> Result<Self, EngineError> {
        let path = lock_path(project);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| {
                EngineError::Lock(format!("{}: cannot be opened: {error}", path.display()))
            })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(EngineError::Busy(project.display().to_string())),
            Err(TryLockError::Error(error)) => Err(EngineError::Lock(format!(
                "{}: cannot be locked: {error}",
                path.display()
            ))),
        }
    }
}

fn lock_path(project: &Path) -> PathBuf {
    let mut name = project.file_name().unwrap_or_default().to_owned();
    name.push("-run");
    project.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_on_one_project_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("overrule.db");
        let held = RunLock::take(&project).unwrap();
        assert!(matches!(RunLock::take(&project), Err(EngineError::Busy(_))));
        drop(held);
        assert!(RunLock::take(&project).is_ok());
    }
}
