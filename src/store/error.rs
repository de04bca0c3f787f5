//! Errors of the project store.

use rusqlite::ErrorCode;
use std::path::PathBuf;

/// An error of the project store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is not a project.
    #[error("{}: not an Overrule project: {reason}", path.display())]
    NotAProject {
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file was written by a later version.
    #[error("{}: written by a newer version of overrule (schema {found}, this one knows {known}); upgrade overrule", path.display())]
    Newer {
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest schema version known here.
        known: i64,
    },
    /// The request contradicts the content of the project.
    #[error("{0}")]
    Conflict(String),
    /// The requested item does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The file was written by an earlier version and cannot be upgraded in place.
    #[error("{}: written by an older version of overrule (schema {found}, this one reads {known}) \
             and cannot be upgraded here, because it is not writable; copy it to a folder that you \
             can write to", path.display())]
    Outdated {
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The schema version of this program.
        known: i64,
    },
    /// The file has several hard links. SQLite would keep one log per name and lose the content of
    /// one of them.
    #[error("{}: the file has {names} names (hard links), and writing under two of them would destroy it; delete the others, or work on a copy", path.display())]
    Linked {
        /// The name that was used.
        path: PathBuf,
        /// Number of hard links.
        names: u64,
    },
    /// The file can be read but not written.
    #[error("{}: cannot be written: {reason}; it can be read here, and a copy in a folder that you \
             can write to can be changed", path.display())]
    ReadOnly {
        path: PathBuf,
        /// Why it cannot be written.
        reason: String,
    },
    /// The file cannot be read at all.
    #[error("{}: cannot be read: {reason}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The cause and the remedy.
        reason: String,
    },
    /// A part of the project is missing, or its parts do not belong together.
    #[error("{}: {reason}", path.display())]
    Incomplete {
        path: PathBuf,
        /// What is missing, and the remedy.
        reason: String,
    },
    /// Another program has locked the file.
    #[error(
        "{0} is locked by another program, such as a database browser, a backup or a cloud client; close the project there and repeat the command"
    )]
    Locked(String),
    /// The disk is full; none of the change was kept.
    #[error(
        "the disk is full: free some space and repeat the command; what was confirmed before is kept"
    )]
    DiskFull,
    /// A file has reached the size limit of this process; none of the change was kept.
    #[error(
        "the project has reached the limit of file sizes for this process, {0} bytes (`ulimit -f`); raise the limit and repeat the command; what was confirmed before is kept"
    )]
    TooLarge(u64),
    /// The disk failed to read or write.
    #[error(
        "the disk reports an error ({0}); check the disk or the network drive, and keep a copy of the project before repeating the command"
    )]
    Disk(String),
    /// The file has been moved or deleted since it was opened.
    #[error("{}: the project was moved, deleted or replaced while it was open, and nothing more is written to it; move it back together with its -wal and -shm files, or name another project with --project, and repeat the command", path.display())]
    Gone {
        /// Its former path.
        path: PathBuf,
    },
    /// The log has been moved or deleted since the project was opened.
    #[error("{}: was deleted or replaced while the project was open; close every overrule that has the project open, so that what is still in memory is written into the project, then repeat the command", path.display())]
    LogGone {
        /// Its former path.
        path: PathBuf,
    },
    /// The disk did not confirm a write. The data may be lost when the machine stops, and writing
    /// ends.
    #[error(
        "project database: the disk did not confirm what was written: {0}; check the disk, then repeat the command"
    )]
    Unsynced(String),
    /// An error of SQLite.
    #[error("project database: {0}")]
    Sql(#[source] rusqlite::Error),
    /// Rows that no version of Overrule wrote, or that lack the rows they reference.
    #[error("the project is damaged: {0}; `overrule doctor` shows what can be exported")]
    Corrupt(String),
    /// A bug in the program.
    #[error("internal error: {0}")]
    Internal(String),
    /// The transaction did not reach the disk; none of it was kept.
    #[error("project database: could not be written: {0}")]
    Uncommitted(String),
    /// The store's thread has ended.
    #[error("the project has been closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Sqlite;
        tracing::debug!(?error, "SQLite");
        match &error {
            Sqlite::FromSqlConversionFailure(_, _, why) => return Self::Corrupt(why.to_string()),
            // The statements are correct, so a table or column is missing, or a value is not JSON.
            Sqlite::SqlInputError { msg, .. } | Sqlite::SqliteFailure(_, Some(msg))
                if ["no such ", "malformed JSON"]
                    .iter()
                    .any(|start| msg.starts_with(start)) =>
            {
                return Self::Corrupt(msg.clone());
            }
            Sqlite::QueryReturnedNoRows => return Self::Corrupt("a row is missing".to_owned()),
            Sqlite::IntegralValueOutOfRange(..) => {
                return Self::Corrupt("a number is out of range".to_owned());
            }
            Sqlite::InvalidColumnType(_, column, _) => {
                return Self::Corrupt(format!("a value of {column} is of another kind"));
            }
            Sqlite::Utf8Error(..) => return Self::Corrupt("a text is not UTF-8".to_owned()),
            Sqlite::SqliteFailure(failure, Some(msg))
                if failure.code == ErrorCode::ConstraintViolation =>
            {
                return Self::Corrupt(format!("rows contradict each other ({msg})"));
            }
            _ => {}
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            // Only readers are interrupted, and only if nobody waits for them any more.
            Some(ErrorCode::OperationInterrupted) => Self::Closed,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked("the project".to_owned())
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt("parts of its file are not readable".to_owned())
            }
            Some(ErrorCode::SystemIoFailure) => io_failure(&error),
            _ => Self::Sql(error),
        }
    }
}

fn io_failure(error: &rusqlite::Error) -> StoreError {
    use rusqlite::ffi;
    let did = match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_IOERR_SHMSIZE) => "the index of the log could not grow",
        Some(ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ) => "reading failed",
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE) => "writing failed",
        Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC) => {
            "it did not confirm what was written"
        }
        Some(ffi::SQLITE_IOERR_LOCK | ffi::SQLITE_IOERR_RDLOCK | ffi::SQLITE_IOERR_UNLOCK) => {
            "locking failed"
        }
        _ => "reading or writing failed",
    };
    StoreError::Disk(did.to_owned())
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(error.to_string())
    }
}

impl StoreError {
    /// Why the project cannot be written, for [`StoreError::ReadOnly`].
    pub(super) fn into_reason(self) -> String {
        match self {
            Self::ReadOnly { reason, .. } => reason,
            Self::DiskFull => "the disk is full".to_owned(),
            Self::TooLarge(limit) => {
                format!("the limit of file sizes for this process is {limit} bytes (`ulimit -f`)")
            }
            Self::Disk(why) => format!("the disk reports an error ({why})"),
            other => other.to_string(),
        }
    }

    /// Whether the project can still be read.
    pub(super) fn hinders_only_writing(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::DiskFull | Self::TooLarge(_) | Self::Disk(_) => true,
            Self::Sql(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied)
            ),
            _ => false,
        }
    }
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Db;
    use crate::store::labels::tests::pool;
    use crate::store::verdicts::NewVerdict;

    #[test]
    fn a_row_that_no_version_wrote_is_told_from_a_statement_that_failed() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(&["{}", "{}"]), "set").unwrap().key();
        db.add_verdict(&NewVerdict {
            query,
            b: 1,
            ..NewVerdict::default()
        })
        .unwrap();
        for (damage, repair) in [
            ("decision = 'perhaps'", "decision = 'a'"),
            ("cause = 'weather'", "cause = NULL"),
            ("confidence = 'none at all'", "confidence = NULL"),
            ("b = -1", "b = 1"),
        ] {
            let set = |what: &str| {
                db.connection
                    .execute(&format!("UPDATE verdict SET {what}"), [])
            };
            set(damage).unwrap();
            let error = db.standing_verdicts(None).unwrap_err();
            assert!(
                matches!(error, StoreError::Corrupt(_)),
                "{damage}: {error:?}"
            );
            set(repair).unwrap();
            assert_eq!(db.standing_verdicts(None).unwrap().len(), 1, "{repair}");
        }
        let missing = db
            .connection
            .execute("SELECT * FROM nowhere", [])
            .unwrap_err();
        assert!(matches!(StoreError::from(missing), StoreError::Corrupt(_)));
        let failed = db.connection.execute("SELECT FROM gold", []).unwrap_err();
        assert!(matches!(StoreError::from(failed), StoreError::Sql(_)));
    }
}
