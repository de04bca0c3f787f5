//! Checks that a project file is complete and that the log next to it belongs to it, before SQLite
//! opens them.
//!
//! SQLite applies any log that it finds, and treats a file without its log as empty. A copy without
//! its log, or an older file next to a newer log, would be read as a project that never existed.
//! The checks read bytes and change nothing.

use super::error::{Result, StoreError};
use super::file::{self, sibling};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Marks a database as an Overrule project: "OVRL" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x4f56_524c;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Bytes to read from the first page: the header of the file and that of the schema table.
const START: usize = 112;

/// The byte whose page SQLite uses only for locks and never writes.
const LOCK_BYTE: u64 = 0x4000_0000;

/// State of the log, if the check finds no faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogState {
    /// The log is empty, or a process is using it.
    Usual,
    /// Left by a process that ended early. Its rows are merged into the file on open.
    LeftBehind,
}

/// Checks the project at `path`. No connection of this process may have it open: closing the
/// handles used here would release SQLite's locks.
pub(super) fn check(path: &Path) -> Result<LogState> {
    let log_path = sibling(path, "-wal");
    let log_bytes = std::fs::metadata(&log_path).map_or(0, |log| log.len());
    let unreadable = |error: io::Error| file::unreadable(path, &error);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match log_bytes {
                0 => Ok(LogState::Usual),
                // SQLite would delete the log of a file that it creates.
                _ => Err(orphaned(path, "is missing")),
            };
        }
        Err(error) => return Err(unreadable(error)),
    };
    let length = file.metadata().map_err(unreadable)?.len();
    let mut start = Vec::with_capacity(START);
    (&file)
        .take(START as u64)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    if length == 0 {
        return match log_bytes {
            0 => Ok(LogState::Usual),
            _ => Err(orphaned(path, "is empty")),
        };
    }
    let Some(header) = Header::read(&start) else {
        return if MAGIC.starts_with(&start) || start.starts_with(MAGIC) {
            Err(cut_short(path, length, None))
        } else {
            Ok(LogState::Usual)
        };
    };
    let is_foreign = header.has_tables && i64::from(header.application) != APPLICATION_ID;
    // Another process that has the file open has already checked it, and is changing both files.
    if is_foreign || is_in_use(path) {
        return Ok(LogState::Usual);
    }
    let log = match log_bytes {
        0 => None,
        _ => match File::open(&log_path) {
            Ok(log) => Log::read(BufReader::with_capacity(1 << 18, log)).map_err(unreadable)?,
            // SQLite cannot read it either, and will report that.
            Err(_) => None,
        },
    };
    let found = match &log {
        None => header.alone(path, length),
        Some(log) => match header.mismatch(length, log) {
            Some(reason) => Err(mismatched(path, &reason)),
            None => Ok(()),
        },
    };
    match found {
        // Another process may have opened the file since then and be writing to it.
        Err(_) if is_in_use(path) => Ok(LogState::Usual),
        Err(error) => Err(error),
        Ok(()) if log.is_some() => Ok(LogState::LeftBehind),
        Ok(()) => Ok(LogState::Usual),
    }
}

fn log_name(path: &Path) -> String {
    let name = sibling(path, "-wal");
    name.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn incomplete(path: &Path, reason: String) -> StoreError {
    StoreError::Incomplete {
        path: path.to_owned(),
        reason,
    }
}

fn orphaned(path: &Path, state: &str) -> StoreError {
    let log = log_name(path);
    incomplete(
        path,
        format!(
            "the file {state}, but {log} next to it may hold the latest changes of a project; put the project back, or move {log} to another folder"
        ),
    )
}

fn cut_short(path: &Path, length: u64, expected: Option<u64>) -> StoreError {
    let expected = expected.map_or(String::new(), |bytes| format!(" of {bytes}"));
    incomplete(
        path,
        format!(
            "the file is cut short: it has {length}{expected} bytes; copy it again, or restore a backup"
        ),
    )
}

/// The error for a log that belongs to another state of the file.
pub(super) fn mismatched(path: &Path, reason: &str) -> StoreError {
    let log = log_name(path);
    incomplete(
        path,
        format!(
            "{log} next to it is the log of a different version of this file ({reason}); nothing was changed: put back the file that was here with {log}, or move {log} to another folder to open this file without the changes in it"
        ),
    )
}

/// The fields of the first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    page_size: u64,
    uses_log: bool,
    has_tables: bool,
    application: u32,
    first: FirstPage,
}

/// The numbers on the first page that distinguish states of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FirstPage {
    /// Grows with changes and never shrinks.
    changes: u32,
    /// Number of pages in the file; `None` if the last writer was a program that does not count
    /// them.
    pages: Option<u32>,
    free_pages: u32,
    user_version: u32,
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|part| part.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

impl FirstPage {
    fn read(page: &[u8]) -> Self {
        let changes = number(page, 24);
        Self {
            changes,
            pages: (number(page, 92) == changes).then(|| number(page, 28)),
            free_pages: number(page, 36),
            user_version: number(page, 60),
        }
    }
}

impl Header {
    fn read(start: &[u8]) -> Option<Self> {
        if start.len() < START || !start.starts_with(MAGIC) {
            return None;
        }
        Some(Self {
            page_size: match u64::from(number(start, 16) >> 16) {
                1 => 65_536,
                size => size,
            },
            uses_log: start[19] == 2,
            // Otherwise just an empty leaf page.
            has_tables: start[100] != 13 || start[103] != 0 || start[104] != 0,
            application: number(start, 68),
            first: FirstPage::read(start),
        })
    }

    /// Checks whether a file of this length can be a complete project without a log.
    fn alone(&self, path: &Path, length: u64) -> Result<()> {
        if self.uses_log && !self.has_tables {
            let log = log_name(path);
            return Err(incomplete(
                path,
                format!(
                    "everything that it holds is in {log}, which is missing or damaged; copy both files, or make the copy with `overrule backup FILE`"
                ),
            ));
        }
        match self
            .first
            .pages
            .map(|pages| u64::from(pages) * self.page_size)
        {
            Some(expected) if expected > length => Err(cut_short(path, length, Some(expected))),
            _ => Ok(()),
        }
    }

    /// Why a log cannot belong to this file, if it cannot.
    fn mismatch(&self, length: u64, log: &Log) -> Option<String> {
        if log.page_size != self.page_size {
            return Some(format!(
                "pages of {} bytes instead of {}",
                log.page_size, self.page_size
            ));
        }
        let known = log.first_pages.last();
        match known {
            // The log never changed the number of pages.
            None => {
                let pages = self.first.pages?;
                if pages != log.pages {
                    return Some(format!("{} pages instead of {pages}", log.pages));
                }
            }
            Some(latest) => {
                let newest = log.first_pages.iter().map(|page| page.changes).max();
                if newest.is_some_and(|newest| self.first.changes > newest) {
                    return Some("the file is newer than its log".to_owned());
                }
                if self.first.user_version > latest.user_version {
                    return Some("the file was upgraded after the log".to_owned());
                }
            }
        }
        // Pages beyond the end of the file are new, so the log must contain them, except for free
        // ones.
        let (there, pages) = (length / self.page_size, u64::from(log.pages));
        let lock_page = LOCK_BYTE / self.page_size + 1;
        let new = there + 1..=pages;
        let is_expected = |page: &u64| new.contains(page) && *page != lock_page;
        let written = log.written.iter().filter(|page| is_expected(page)).count() as u64;
        let expected = pages.saturating_sub(there) - u64::from(new.contains(&lock_page));
        let free = known.map_or(self.first.free_pages, |latest| latest.free_pages);
        (expected - written > u64::from(free))
            .then(|| format!("it belongs to a file of {pages} pages, and this one has {there}"))
    }
}

/// The content of a log's committed transactions.
#[derive(Debug, Default)]
struct Log {
    page_size: u64,
    /// Pages of the file after the last transaction.
    pages: u32,
    written: HashSet<u64>,
    /// Each version of the file's first page in the log.
    first_pages: Vec<FirstPage>,
}

impl Log {
    /// Reads a log as SQLite does: up to the last transaction before the first damaged frame.
    /// Returns `None` if there is no such transaction.
    fn read(mut bytes: impl Read) -> io::Result<Option<Self>> {
        let mut header = [0; 32];
        if !is_filled(&mut bytes, &mut header)? {
            return Ok(None);
        }
        let magic = number(&header, 0);
        let mut sums = Checksum {
            big_endian: magic & 1 == 1,
            sums: (0, 0),
        };
        sums.add(&header[..24]);
        let page_size = number(&header, 8);
        if magic & !1 != 0x377f_0682
            || !sums.are(&header[24..])
            || !page_size.is_power_of_two()
            || !(512..=65_536).contains(&page_size)
        {
            return Ok(None);
        }
        let mut log = Self {
            page_size: u64::from(page_size),
            ..Self::default()
        };
        let (mut written, mut first_pages) = (Vec::new(), Vec::new());
        let mut frame = vec![0; 24 + page_size as usize];
        while is_filled(&mut bytes, &mut frame)? {
            let (about, page) = frame.split_at(24);
            sums.add(&about[..8]);
            sums.add(page);
            if about[8..16] != header[16..24] || !sums.are(&about[16..]) {
                break;
            }
            let at = number(about, 0);
            written.push(u64::from(at));
            if at == 1 {
                first_pages.push(FirstPage::read(page));
            }
            let pages = number(about, 4);
            if pages > 0 {
                log.pages = pages;
                log.written.extend(written.drain(..));
                log.first_pages.append(&mut first_pages);
            }
        }
        Ok((log.pages > 0).then_some(log))
    }
}

fn is_filled(bytes: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match bytes.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// SQLite's running checksum of a log.
struct Checksum {
    big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let word = |four: &[u8; 4]| {
            if self.big_endian {
                u32::from_be_bytes(*four)
            } else {
                u32::from_le_bytes(*four)
            }
        };
        let (words, _) = bytes.as_chunks::<4>();
        let (pairs, _) = words.as_chunks::<2>();
        let (mut one, mut other) = self.sums;
        for [first, second] in pairs {
            one = one.wrapping_add(word(first)).wrapping_add(other);
            other = other.wrapping_add(word(second)).wrapping_add(one);
        }
        self.sums = (one, other);
    }

    fn are(&self, stored: &[u8]) -> bool {
        self.sums == (number(stored, 0), number(stored, 4))
    }
}

/// Whether another process has the project open: each such process holds a lock on a byte of the
/// log's index.
#[cfg(unix)]
fn is_in_use(path: &Path) -> bool {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};
    const IN_USE_BYTE: u64 = 128;
    let Ok(index) = File::open(sibling(path, "-shm")) else {
        return false;
    };
    let wanted = Flock {
        start: IN_USE_BYTE,
        length: 1,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    // If the lock cannot be queried, assume that it is held.
    !matches!(fcntl_getlk(&index, &wanted), Ok(None))
}

/// On other systems, the log's index exists while the project is open, and after a kill.
#[cfg(not(unix))]
fn is_in_use(path: &Path) -> bool {
    sibling(path, "-shm").exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// Creates a project with `rows` settings in its file and returns its path.
    fn project(folder: &TempDir, rows: usize) -> PathBuf {
        let path = folder.path().join("p.db");
        drop(crate::store::Store::open(&path).unwrap());
        add(&Connection::open(&path).unwrap(), rows);
        path
    }

    /// Adds rows that fill about one page each.
    fn add(connection: &Connection, rows: usize) {
        for _ in 0..rows {
            connection
                .execute(
                    "INSERT INTO setting SELECT 'row ' || count(*), hex(zeroblob(1500)) FROM setting",
                    [],
                )
                .unwrap();
        }
    }

    /// The state after a kill: the file, and a log with `rows` rows.
    fn killed(path: &Path, rows: usize) -> (Vec<u8>, Vec<u8>) {
        let connection = Connection::open(path).unwrap();
        connection
            .pragma_update(None, "wal_autocheckpoint", 0)
            .unwrap();
        add(&connection, rows);
        let log = sibling(path, "-wal");
        (fs::read(path).unwrap(), fs::read(log).unwrap())
    }

    fn put(folder: &TempDir, file: &[u8], log: &[u8]) -> PathBuf {
        let path = folder.path().join("put.db");
        fs::write(&path, file).unwrap();
        fs::write(sibling(&path, "-wal"), log).unwrap();
        path
    }

    #[test]
    fn a_file_and_its_own_log_are_accepted_at_every_stage_of_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let path = project(&folder, 3);
        let (file, log) = killed(&path, 9);
        let after = fs::read(&path).unwrap();
        assert!(after.len() > file.len(), "closing has copied the log");
        let found = check(&put(&folder, &file, &log)).unwrap();
        assert_eq!(found, LogState::LeftBehind);
        // A kill during the copy leaves some pages of the new state in the file.
        for length in (file.len()..=after.len()).step_by(4096) {
            let mut mixed = after[..length].to_vec();
            check(&put(&folder, &mixed, &log)).unwrap();
            mixed[..4096].copy_from_slice(&file[..4096]);
            check(&put(&folder, &mixed, &log)).unwrap();
        }
        // A kill during a commit leaves a partial frame.
        for length in (0..log.len()).step_by(1_000) {
            check(&put(&folder, &file, &log[..length])).unwrap();
        }
        assert_eq!(check(&path).unwrap(), LogState::Usual);
    }

    #[test]
    fn an_older_file_next_to_a_newer_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = project(&folder, 1);
        let older = fs::read(&path).unwrap();
        let (newer, _) = killed(&path, 20);
        assert!(newer.len() >= older.len());
        let (_, log) = killed(&path, 1);
        let error = check(&put(&folder, &older, &log)).unwrap_err();
        assert!(error.to_string().contains("different version"), "{error}");
        // An older log next to a newer file.
        let (old_file, old_log) = killed(&path, 1);
        for _ in 0..3 {
            killed(&path, 3);
        }
        let newer = fs::read(&path).unwrap();
        check(&put(&folder, &old_file, &old_log)).unwrap();
        let error = check(&put(&folder, &newer, &old_log)).unwrap_err();
        assert!(error.to_string().contains("newer than its log"), "{error}");
    }

    #[test]
    fn a_log_that_makes_no_sound_project_is_refused_and_nothing_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = project(&folder, 30);
        let (mut file, log) = killed(&path, 1);
        // Pages that are not in the log come from another state.
        let half = file.len() / 2 / 4096 * 4096;
        let (low, high) = file.split_at_mut(half);
        low[4096 * 2..4096 * 12].copy_from_slice(&high[..4096 * 10]);
        let mixed = put(&folder, &file, &log);
        let error = crate::store::Store::open_existing(&mixed).unwrap_err();
        assert!(matches!(error, StoreError::Incomplete { .. }), "{error:?}");
        assert_eq!(fs::read(&mixed).unwrap(), file);
        assert_eq!(fs::read(sibling(&mixed, "-wal")).unwrap(), log);
    }
}
