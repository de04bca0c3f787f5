//! The file behind a project: resolves its name, rejects files with several names, disables code in
//! it, and detects that it was moved.

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

/// Resolves all links to a file. SQLite names its log after the name that a file is opened by, so
/// every connection and every lock uses this name.
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

/// Whether there is a file at `path`, or may be one. If that is unknown, opening it reports why.
pub(crate) fn may_exist(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// The error for an unreadable file, with the remedy.
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

/// The owner of a file, if it is not the current user.
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

/// Maximum length of a name to which SQLite can still append `-journal`, in bytes.
const LONGEST_NAME: usize = 255 - "-journal".len();

/// Rejects files that are not regular, are unreadable, or have several names. The log and the locks
/// are named after the file, so two processes that use different names would not see each other and
/// would destroy it.
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

/// Whether the system lets this process read or write a file. No handle is opened: closing one
/// would release SQLite's locks.
#[cfg(unix)]
fn is_permitted(path: &Path, wanted: Permission) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let access = match wanted {
        Permission::Read => Access::READ_OK,
        Permission::Write => Access::WRITE_OK,
    };
    let denied = accessat(CWD, path, access, AtFlags::EACCESS).err();
    // If the system cannot tell, let SQLite try.
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

/// Why a project cannot be written, if the cause is its file, its log or the log's index.
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

/// The identity of a file: device and inode number, if the system provides them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity {
    path: PathBuf,
    number: Option<(u64, u64)>,
}

impl FileIdentity {
    /// Of the file currently at `path`.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            number: number(&std::fs::metadata(path)?),
        })
    }

    /// Of an open file that was found at `path`.
    pub(super) fn of_open(file: &std::fs::File, path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            number: number(&file.metadata()?),
        })
    }

    /// Whether the path still leads to the file. Also true if that is currently unknown.
    pub(super) fn still_there(&self) -> bool {
        match std::fs::metadata(&self.path) {
            Ok(found) => number(&found) == self.number,
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        }
    }

    /// Whether `path` certainly leads to a different file.
    pub(super) fn is_another(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| number(&found) != self.number)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// The inode number of a file, which a copy does not share; `None` if the system has none.
#[cfg(feature = "remote")]
pub(crate) fn inode(path: &Path) -> Option<u64> {
    let found = std::fs::metadata(path).ok()?;
    number(&found).map(|(_, inode)| inode)
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

/// The file next to a project with this suffix: `-wal`, `-shm`, `-run`.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Suffix of the file that is locked during a run.
pub(crate) const RUN_LOCK: &str = "-run";

/// Whether a run is in progress in some process.
pub(super) fn is_run_on(project: &Path) -> bool {
    let lock = std::fs::File::open(sibling(project, RUN_LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Creates an empty file if there is none. Returns whether it did. SQLite gives its log the mode of
/// the file, so the file is created before SQLite can do so. Closing the handle releases no lock of
/// this process, as nothing can have opened a file that did not exist.
pub(super) fn make(path: &Path) -> Result<bool> {
    match files::create_new(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if std::fs::metadata(path).is_ok_and(|found| found.len() == 0) {
                // A file that someone else created for the project. If its mode cannot be changed,
                // it stays.
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

/// Why a file could not be read or written, based on SQLite's error.
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

/// Narrows down the cause of a disk error, if possible.
pub(super) fn narrowed(path: &Path, error: StoreError) -> StoreError {
    /// Less than SQLite allocates in a file at once.
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

/// Free bytes on the disk of a file, if the system can tell.
#[cfg(unix)]
pub(super) fn free_room(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
pub(super) fn free_room(_: &Path) -> Option<u64> {
    None
}

/// The file size limit of this process, if the project or its log has reached it.
#[cfg(unix)]
fn size_limit(path: &Path) -> Option<u64> {
    /// Maximum size of one write by SQLite: a page, or a part of the log's index.
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

/// Opens a connection that writes to an existing file.
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

/// Opens a read-only connection while another one writes.
pub(super) fn reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    harden(&mut connection, path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens a connection to a file in a location where nothing can be written, not even the files that
/// SQLite uses for shared locks.
pub(super) fn reading_alone(path: &Path) -> Result<Connection> {
    let log = std::fs::metadata(sibling(path, "-wal")).map_or(0, |log| log.len());
    if log > 0 {
        // The log is part of the project, so it must be readable too.
        return reading(path);
    }
    // Without a log, nobody is writing, so SQLite may open the file as immutable and without a
    // lock.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(uri(path), flags)?;
    harden(&mut connection, path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// How often to reread a file that changes while it is being read.
const TRIES: usize = 3;

/// Reads a project that another process may have open. If none has, no files are left next to it.
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
        // No lock is held, so changes by another process can look like damage.
        let found = reading_alone(path).and_then(|connection| read(&connection));
        if !log.exists() && stamp()? == before {
            return found;
        }
    }
    match reading(path).and_then(|connection| read(&connection)) {
        // The folder is not writable.
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

/// Prevents anything in a file from running, since it may come from anyone: no triggers, no views,
/// no functions called by the schema, and no writes that bypass SQLite's bookkeeping.
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

/// Makes a connection wait for other programs' locks and report that after a second.
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

/// How long to wait for a lock before reporting it.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// Called when another program keeps the project locked, if a listener is set.
static WAIT_LISTENER: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the listener for waits on a locked project. Only the first call has an effect.
pub(crate) fn tell_waits(listener: fn(&Path)) {
    WAIT_LISTENER.get_or_init(|| listener);
}

/// Identities of the files that this process has open through SQLite, one for each [`OpenFile`].
static OPEN: Mutex<Vec<FileIdentity>> = Mutex::new(Vec::new());

/// A file that this process has open through SQLite.
#[derive(Debug)]
pub(super) struct OpenFile(FileIdentity);

impl OpenFile {
    /// Registers the file at `path` as open. Runs `check` first, unless this process already has
    /// the file open: closing another handle on it would release SQLite's locks.
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
