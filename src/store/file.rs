//! The file behind a project: one name a file, nothing in it that runs, and whether it is still where it was.

use super::error::{Result, StoreError};
use crate::formats::file as files;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection waits for another process's lock at a time.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of a file, whatever links lead to it. SQLite names its log after the name that a file is opened by, so every
/// connection and every lock goes by this one.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    match path.canonicalize() {
        Ok(canonical) => return Ok(canonical),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(path, &error)),
    }
    if path.is_symlink() {
        return Err(StoreError::NotFound(format!(
            "{}: is a link to a file that does not exist",
            path.display()
        )));
    }
    let absolute = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
    let folder = absolute.parent().and_then(|path| path.canonicalize().ok());
    match (folder.filter(|folder| folder.is_dir()), path.file_name()) {
        (Some(folder), Some(name)) => Ok(folder.join(name)),
        _ => Err(StoreError::NotFound(format!(
            "{}: its folder does not exist",
            path.display()
        ))),
    }
}

/// Whether there is a file at `path`, or may be one: whoever opens it learns why that cannot be told.
pub(crate) fn may_exist(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Why a file cannot be read, with the remedy.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    let reason = match error.kind() {
        io::ErrorKind::PermissionDenied => match std::fs::metadata(path) {
            Ok(found) => format!(
                "you have no permission to read it{}; ask its owner for permission or for a copy",
                owner(&found)
            ),
            Err(_) => {
                "you have no permission to enter its folder; ask the folder's owner for permission or for a copy"
                    .to_owned()
            }
        },
        io::ErrorKind::InvalidFilename => {
            format!("its name is too long; use one of at most {LONGEST_NAME} bytes")
        }
        _ => format!("{error}; check the disk, or restore a backup"),
    };
    StoreError::Unreadable {
        path: path.to_owned(),
        reason,
    }
}

/// Whose a file is, where that is somebody else.
#[cfg(unix)]
fn owner(found: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    if found.uid() == rustix::process::geteuid().as_raw() {
        String::new()
    } else {
        format!(" (it belongs to the user with the number {})", found.uid())
    }
}

#[cfg(not(unix))]
fn owner(_: &Metadata) -> String {
    String::new()
}

/// Bytes of a name to which SQLite can still append `-journal`.
const LONGEST_NAME: usize = 255 - "-journal".len();

/// Refuses what is no regular file, a file that may not be read, and a file with several names. Its
/// log and its locks go by its name, so two processes that come by different names would not see
/// each other, and destroy it.
pub(crate) fn check_kind(path: &Path) -> Result<()> {
    if let Err(error) = std::fs::metadata(sibling(path, "-journal"))
        && error.kind() == io::ErrorKind::InvalidFilename
    {
        return Err(unreadable(path, &error));
    }
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(path, &error)),
    };
    if let Some(kind) = files::odd_kind(&found) {
        return Err(not_a_project(path, &format!("it is {kind}")));
    }
    for part in [path.to_owned(), sibling(path, "-wal")] {
        if !is_permitted(&part, Permission::Read) {
            return Err(unreadable(&part, &io::ErrorKind::PermissionDenied.into()));
        }
    }
    match names(&found) {
        0 | 1 => Ok(()),
        names => Err(StoreError::Linked {
            path: path.to_owned(),
            names,
        }),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permission {
    Read,
    Write,
}

/// Whether the system lets this process read or write a file. No handle is opened: closing one would
/// release SQLite's locks.
#[cfg(unix)]
fn is_permitted(path: &Path, wanted: Permission) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let access = match wanted {
        Permission::Read => Access::READ_OK,
        Permission::Write => Access::WRITE_OK,
    };
    let denied = accessat(CWD, path, access, AtFlags::EACCESS).err();
    // A system that cannot tell lets SQLite try.
    !matches!(
        denied,
        Some(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM | rustix::io::Errno::ROFS)
    )
}

#[cfg(not(unix))]
fn is_permitted(path: &Path, wanted: Permission) -> bool {
    let protected = || std::fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    wanted == Permission::Read || !protected()
}

/// Why a project cannot be written, where its file, its log or the log's index are the reason.
fn write_protection(path: &Path) -> Option<String> {
    ["", "-wal", "-shm"].into_iter().find_map(|suffix| {
        let part = sibling(path, suffix);
        let found = std::fs::metadata(&part).ok()?;
        if is_permitted(&part, Permission::Write) {
            return None;
        }
        let name = part.file_name()?.to_string_lossy().into_owned();
        Some(match suffix {
            "" => "the file is write-protected".to_owned(),
            _ => format!(
                "{name} next to it, which is part of it, is write-protected{}",
                owner(&found)
            ),
        })
    })
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

/// The file next to a project whose name ends with `suffix`: `-wal`, `-shm`, `-run`.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What the name of the file ends with that is locked while a run goes on.
pub(crate) const RUN_LOCK: &str = "-run";

/// Whether a run goes on in some process.
pub(super) fn is_run_on(project: &Path) -> bool {
    let lock = std::fs::File::open(sibling(project, RUN_LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Makes an empty file where there is none, and says whether it did. SQLite gives its log the mode of the file, so the file is made before SQLite
/// can. Closing the handle takes no lock of this process away: nobody has opened a file that was not there.
pub(super) fn make(path: &Path) -> Result<bool> {
    match files::create_new(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if std::fs::metadata(path).is_ok_and(|found| found.len() == 0) {
                // A file that somebody else made for the project. Where its mode cannot be changed, it stays.
                drop(files::make_private(path));
            }
            Ok(false)
        }
        Err(error) => Err(StoreError::ReadOnly {
            path: path.to_owned(),
            reason: error.to_string(),
        }),
    }
}

/// Why a file could not be read or written, by what SQLite says.
pub(super) fn explained(path: &Path, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_a_project(path, &error.to_string()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let folder = path.parent().unwrap_or(Path::new("."));
            let reason = write_protection(path).unwrap_or_else(|| {
                if is_permitted(folder, Permission::Write) {
                    format!("it or its log cannot be opened ({error})")
                } else {
                    "its folder is write-protected".to_owned()
                }
            });
            StoreError::ReadOnly {
                path: path.to_owned(),
                reason,
            }
        }
        Some(ErrorCode::DatabaseBusy) => StoreError::Locked(path.display().to_string()),
        _ => narrowed(path, error.into()),
    }
}

/// The cause of an error of the disk, where it is known.
pub(super) fn narrowed(path: &Path, error: StoreError) -> StoreError {
    /// Less room than SQLite makes in a file at a time.
    const NONE: u64 = 1 << 16;
    match error {
        StoreError::Disk(why) => match size_limit(path) {
            Some(limit) => StoreError::TooLarge(limit),
            None if free_room(path).is_some_and(|room| room < NONE) => StoreError::DiskFull,
            None => StoreError::Disk(why),
        },
        error => error,
    }
}

/// Bytes that are free on the disk of a file, where the system tells.
#[cfg(unix)]
pub(super) fn free_room(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
pub(super) fn free_room(_: &Path) -> Option<u64> {
    None
}

/// The limit of file sizes for this process, where the project or its log has come to it.
#[cfg(unix)]
fn size_limit(path: &Path) -> Option<u64> {
    /// SQLite writes pages, or the index of the log, of this size at most.
    const LARGEST_WRITE: u64 = 1 << 16;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current?;
    ["", "-wal", "-shm"]
        .into_iter()
        .filter_map(|suffix| std::fs::metadata(sibling(path, suffix)).ok())
        .any(|found| found.len() + LARGEST_WRITE > limit)
        .then_some(limit)
}

#[cfg(not(unix))]
fn size_limit(_: &Path) -> Option<u64> {
    None
}

/// Opens a connection that writes to a file that is there.
pub(super) fn writing(path: &Path) -> Result<Connection> {
    let read_only = |reason: String| StoreError::ReadOnly {
        path: path.to_owned(),
        reason,
    };
    if let Some(reason) = write_protection(path) {
        return Err(read_only(reason));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    harden(&mut connection, path)?;
    if connection.is_readonly("main")? {
        return Err(read_only("the file is write-protected".to_owned()));
    }
    Ok(connection)
}

/// Opens a connection that only reads, next to one that writes.
pub(super) fn reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    harden(&mut connection, path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens a connection that reads a file of which nothing can be written, not even the files that SQLite shares locks by.
pub(super) fn reading_alone(path: &Path) -> Result<Connection> {
    let log = std::fs::metadata(sibling(path, "-wal")).map_or(0, |log| log.len());
    if log > 0 {
        // What is in the log belongs to the project, so the log must be readable too.
        return reading(path);
    }
    // Without a log nobody is writing, and SQLite may take the file as it is, without a lock.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(uri(path), flags)?;
    harden(&mut connection, path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// How often a file that changes while it is read is read again.
const TRIES: usize = 3;

/// Reads a project of which another process may have the file open. Where nobody has, nothing is left
/// next to the file.
pub(super) fn read_steadily<T>(path: &Path, read: impl Fn(&Connection) -> Result<T>) -> Result<T> {
    let log = sibling(path, "-wal");
    let stamp = || {
        let read = std::fs::metadata(path).and_then(|found| Ok((found.len(), found.modified()?)));
        read.map_err(|error| unreadable(path, &error))
    };
    for _ in 0..TRIES {
        if log.exists() {
            break;
        }
        let before = stamp()?;
        // Without a lock: what another process changes meanwhile can look like damage.
        let found = reading_alone(path).and_then(|connection| read(&connection));
        if !log.exists() && stamp()? == before {
            return found;
        }
    }
    match reading(path).and_then(|connection| read(&connection)) {
        // In a folder that cannot be written.
        Err(StoreError::ReadOnly { .. }) => read(&reading_alone(path)?),
        read => read,
    }
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
pub(super) fn harden(connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    wait_for_locks(connection, path)
}

/// Has a connection wait for other programs' locks, and say so after a second.
pub(super) fn wait_for_locks(connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    const STEP: Duration = Duration::from_millis(20);
    let path = path.to_owned();
    let mut began = Instant::now();
    let mut is_told = false;
    connection.busy_handler(Some(move |tries| {
        if tries == 0 {
            (began, is_told) = (Instant::now(), false);
        }
        let waited = began.elapsed();
        if waited >= BUSY_TIMEOUT {
            return false;
        }
        if waited >= TOLD_AFTER && !is_told {
            is_told = true;
            if let Some(listener) = WAIT_LISTENER.get() {
                listener(&path);
            }
        }
        std::thread::sleep(STEP);
        true
    }))
}

/// How long a lock is waited for before that is shown.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// Called when another program keeps the project locked, once a listener is set.
static WAIT_LISTENER: OnceLock<fn(&Path)> = OnceLock::new();

/// Has waits for the lock of a project told to `listener`, the first one that is given.
pub(crate) fn tell_waits(listener: fn(&Path)) {
    WAIT_LISTENER.get_or_init(|| listener);
}

/// Files that this process has open through SQLite, by their numbers, once for each [`OpenFile`].
static OPEN: Mutex<Vec<FileIdentity>> = Mutex::new(Vec::new());

/// A file that this process has open through SQLite.
#[derive(Debug)]
pub(super) struct OpenFile(FileIdentity);

impl OpenFile {
    /// Counts the file at `path` as open from now on. Runs `check` before, unless this process has
    /// the file open already: closing another handle on it would release SQLite's locks.
    pub(super) fn after<T>(
        path: &Path,
        check: impl FnOnce() -> Result<T>,
    ) -> Result<(Self, Option<T>)> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match FileIdentity::of(path) {
            Ok(identity) if open.contains(&identity) => None,
            _ => Some(check()?),
        };
        let identity = FileIdentity::of(path).map_err(|error| unreadable(path, &error))?;
        open.push(identity.clone());
        Ok((Self(identity), found))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|known| *known == self.0) {
            open.swap_remove(at);
        }
    }
}
