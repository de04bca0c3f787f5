//! Why the project could not do what was asked.

use rusqlite::ErrorCode;
use std::path::PathBuf;

/// Why the project could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else.
    #[error("{}: not an Overrule project: {reason}", path.display())]
    NotAProject {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The file was written by a later version.
    #[error("{}: written by a newer version of overrule (schema {found}, this one knows {known}); upgrade overrule", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The latest schema version known here.
        known: i64,
    },
    /// What was asked contradicts what the project holds.
    #[error("{0}")]
    Conflict(String),
    /// What was asked for is not there.
    #[error("{0}")]
    NotFound(String),
    /// The file was written by an earlier version, and cannot be brought up to date where it is.
    #[error("{}: written by an older version of overrule (schema {found}, this one reads {known}) and cannot be upgraded here, because it cannot be written; copy it to a folder where you may write", path.display())]
    Outdated {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The schema version of this version.
        known: i64,
    },
    /// The file has several names. SQLite would keep a log for each, and lose what is in one of them.
    #[error("{}: the file has {names} names (hard links), and writing under two of them would destroy it; delete the others, or work on a copy", path.display())]
    Linked {
        /// The name that was given.
        path: PathBuf,
        /// How many there are.
        names: u64,
    },
    /// The file can be read and not written.
    #[error("{}: cannot be written: {reason}; it can be read here, and a copy in a folder where you may write takes changes", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no room for what was to be written; nothing of it was kept.
    #[error(
        "the disk is full: free some space and repeat the command; what was confirmed before is kept"
    )]
    DiskFull,
    /// The file is not where it was when it was opened.
    #[error("{}: the project was moved, deleted or replaced while it was open, and nothing more is written to it; move it back, with the files beside it whose names begin alike, or name another one with --project, and repeat the command", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The disk did not confirm what was written. It may be lost when the machine stops, and nothing more is written.
    #[error(
        "project database: the disk did not confirm what was written: {0}; check the disk, then repeat the command"
    )]
    Unsynced(String),
    /// SQLite refused.
    #[error("project database: {0}")]
    Sql(#[source] rusqlite::Error),
    /// A row holds what no version of Overrule wrote.
    #[error("project database: {0}")]
    Corrupt(String),
    /// The transaction did not reach the disk; nothing of it was kept.
    #[error("project database: could not be written: {0}")]
    Uncommitted(String),
    /// The store's thread is gone.
    #[error("the project has been closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // Where the room for the log's index is missing, SQLite speaks of an error of input and output.
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match &error {
            rusqlite::Error::FromSqlConversionFailure(_, _, why) => Self::Corrupt(why.to_string()),
            // A number that is out of range, and nothing where something must be: a row, not a statement, is wrong.
            rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..) => Self::Corrupt(error.to_string()),
            _ if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => Self::DiskFull,
            // Only readers are interrupted, and only where nobody waits for them any more.
            _ if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Self::Closed,
            _ if extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => Self::DiskFull,
            _ => Self::Sql(error),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Corrupt(error.to_string())
    }
}

impl StoreError {
    /// Whether the project could be read all the same.
    pub(super) fn hinders_only_writing(&self) -> bool {
        match self {
            Self::ReadOnly { .. } | Self::DiskFull => true,
            Self::Sql(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::ReadOnly
                        | ErrorCode::CannotOpen
                        | ErrorCode::PermissionDenied
                        | ErrorCode::SystemIoFailure
                )
            ),
            _ => false,
        }
    }
}

/// The result of asking the project.
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
        for (damage, mend) in [
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
            set(mend).unwrap();
            assert_eq!(db.standing_verdicts(None).unwrap().len(), 1, "{mend}");
        }
        let missing = db
            .connection
            .execute("SELECT * FROM nowhere", [])
            .unwrap_err();
        assert!(matches!(StoreError::from(missing), StoreError::Sql(_)));
    }
}
