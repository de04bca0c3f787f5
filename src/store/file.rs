//! The file behind a project: one name a file, nothing in it that runs, and whether it is still where it was.

use super::error::{Result, StoreError};
use crate::formats::file as files;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::{Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection waits for another process's lock at a time.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of a file, whatever links lead to it. SQLite names its log after the name that a file is opened by, so every
/// connection and every lock goes by this one.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    let unreadable = |error: &io::Error| {
        StoreError::NotFound(format!("{}: cannot be opened: {error}", path.display()))
    };
    match path.canonicalize() {
        Ok(canonical) => return Ok(canonical),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(&error)),
    }
    if path.is_symlink() {
        return Err(StoreError::NotFound(format!(
            "{}: is a link to a file that does not exist",
            path.display()
        )));
    }
    let absolute = std::path::absolute(path).map_err(|error| unreadable(&error))?;
    let folder = absolute.parent().and_then(|path| path.canonicalize().ok());
    match (folder.filter(|folder| folder.is_dir()), path.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.join(name)),
        _ => Err(StoreError::NotFound(format!(
            "{}: its folder does not exist",
            path.display()
        ))),
    }
}

/// Refuses what is no regular file, and a file with several names. Its log and its locks go by its name, so two
/// processes that come by different names would not see each other, and destroy it.
pub(crate) fn check_kind(path: &Path) -> Result<()> {
    let Ok(found) = std::fs::metadata(path) else {
        return Ok(());
    };
    if let Some(kind) = files::odd_kind(&found) {
        return Err(not_a_project(path, &format!("it is {kind}")));
    }
    match names(&found) {
        0 | 1 => Ok(()),
        names => Err(StoreError::Linked {
            path: path.to_owned(),
            names,
        }),
    }
}

pub(super) fn not_a_project(path: &Path, reason: &str) -> StoreError {
    StoreError::NotAProject {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(unix)]
fn names(found: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    found.nlink()
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Which file a path led to: device and number, where the system tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity {
    path: PathBuf,
    number: Option<(u64, u64)>,
}

impl FileIdentity {
    /// Of the file at `path` now.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            number: number(&std::fs::metadata(path)?),
        })
    }

    /// Of a file that is open, which is found at `path`.
    pub(super) fn of_open(file: &std::fs::File, path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            number: number(&file.metadata()?),
        })
    }

    /// Whether the path still leads to the file. Where that cannot be told for now, it is taken to.
    pub(super) fn still_there(&self) -> bool {
        match std::fs::metadata(&self.path) {
            Ok(found) => number(&found) == self.number,
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        }
    }

    /// Whether `path` leads to a file that is certainly another one.
    pub(super) fn is_another(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| number(&found) != self.number)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
fn number(found: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// The file beside a project whose name ends with `suffix`: `-wal`, `-shm`, `-run`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What the name of the file ends with that is locked while a run goes on.
pub(crate) const RUN_LOCK: &str = "-run";

/// Whether a run goes on in some process.
pub(super) fn is_run_on(project: &Path) -> bool {
    let lock = std::fs::File::open(beside(project, RUN_LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Makes an empty file where there is none. SQLite gives its log the mode of the file, so the file is made before SQLite
/// can. Closing the handle takes no lock of this process away: nobody has opened a file that was not there.
pub(super) fn make(path: &Path) -> Result<()> {
    match files::create_new(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::ReadOnly {
            path: path.to_owned(),
            reason: error.to_string(),
        }),
    }
}

/// Opens a connection that writes to a file that is there.
pub(super) fn writing(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    harden(&connection)?;
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly {
            path: path.to_owned(),
            reason: "the file is write-protected".to_owned(),
        });
    }
    Ok(connection)
}

/// Opens a connection that only reads, beside one that writes.
pub(super) fn reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    harden(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens a connection that reads a file of which nothing can be written, not even the files that SQLite shares locks by.
pub(super) fn reading_alone(path: &Path) -> Result<Connection> {
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    if log > 0 {
        // What is in the log belongs to the project, so the log must be readable too.
        return reading(path);
    }
    // Without a log nobody is writing, and SQLite may take the file as it is, without a lock.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(path), flags)?;
    harden(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn uri(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = "file:".to_owned();
    if cfg!(windows) {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b':' => {
                uri.push(char::from(*byte));
            }
            _ => drop(write!(uri, "%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Lets nothing in a file run: it may come from anyone. No trigger, no view, no function that a schema calls, no writing
/// past SQLite's own bookkeeping.
pub(super) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.busy_timeout(BUSY_TIMEOUT)
}
