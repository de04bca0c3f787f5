//! A private copy of another project, so that neither its owner nor its file notices the reading.

use crate::store::{Db, Result, StoreError, file, schema};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// How often a file that changes while it is copied is copied again.
const TRIES: usize = 3;

/// A copy of a project as it was at one moment, brought up to date in itself, and gone when dropped.
#[derive(Debug)]
pub struct Snapshot {
    // Closed before its folder goes.
    db: Option<Db>,
    folder: PathBuf,
}

impl Snapshot {
    /// Copies the project at `path`, which other processes may be writing to.
    pub fn of(path: &Path) -> Result<Self> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) => return Err(unreadable(path, &error)),
        };
        let refuse = |reason: &str| StoreError::NotAProject {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        file::check_kind(path)?;
        if found.len() == 0 {
            return Err(refuse("it is empty"));
        }
        // SQLite names the log after the file and not after a link to it.
        let path = &file::canonical(path)?;
        Self::made(path, |copy| {
            match copied(path, copy).map_err(|error| unreadable(path, &error))? {
                true => Ok(()),
                false => vacuumed(path, copy),
            }
        })
    }

    /// Copies a project that this process has open. Only SQLite may open that file: to close it in another way would take
    /// away SQLite's locks.
    pub fn of_open(path: &Path) -> Result<Self> {
        let path = &file::canonical(path)?;
        Self::made(path, |copy| vacuumed(path, copy))
    }

    fn made(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("overrule-merge-{}", Uuid::now_v7()));
        private_folder(&folder).map_err(|error| unreadable(&folder, &error))?;
        let mut snapshot = Self { db: None, folder };
        let copy = snapshot.folder.join("other.db");
        write(&copy)?;
        let connection = schema::open_copy(&copy).map_err(|error| match error {
            StoreError::NotAProject { reason, .. } => StoreError::NotAProject {
                path: path.to_owned(),
                reason,
            },
            StoreError::Newer { found, known, .. } => StoreError::Newer {
                path: path.to_owned(),
                found,
                known,
            },
            other => other,
        })?;
        // Nothing here outlives the process, so nothing has to reach the disk.
        connection.pragma_update(None, "synchronous", "off")?;
        snapshot.db = Some(Db::new(connection));
        Ok(snapshot)
    }

    pub(crate) fn db(&self) -> Result<&Db> {
        self.db.as_ref().ok_or(StoreError::Closed)
    }

    pub(crate) fn db_mut(&mut self) -> Result<&mut Db> {
        self.db.as_mut().ok_or(StoreError::Closed)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        drop(self.db.take());
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::NotFound(format!("{}: cannot be read: {error}", path.display()))
}

#[cfg(unix)]
fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Copies a file in which everything is: says whether there is no log beside it, and nobody wrote to it meanwhile.
fn copied(path: &Path, copy: &Path) -> io::Result<bool> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = || fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let stamp = |found: Metadata| Ok::<_, io::Error>((found.len(), found.modified()?));
    for _ in 0..TRIES {
        if has_log() {
            return Ok(false);
        }
        let before = stamp(fs::metadata(path)?)?;
        // Into a file of our own, which may be written to whatever the mode of the other.
        io::copy(&mut fs::File::open(path)?, &mut fs::File::create(copy)?)?;
        if !has_log() && stamp(fs::metadata(path)?)? == before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lets SQLite write the copy, log included, with the locks that keep writers and readers apart.
fn vacuumed(path: &Path, copy: &Path) -> Result<()> {
    if copy.exists() {
        fs::remove_file(copy).map_err(|error| unreadable(copy, &error))?;
    }
    let connection = file::reading(path)?;
    connection.pragma_update(None, "query_only", false)?;
    schema::check(path, &connection)?;
    connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])?;
    Ok(())
}
