//! Imported files, for the audit log.

use super::{Db, Result};
use rusqlite::params;
use uuid::Uuid;

/// An imported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportRow {
    /// Globally unique.
    pub uid: String,
    pub by: String,
    /// The file and the result of the import, in one sentence.
    pub told: String,
    /// Time of the import in milliseconds since the Unix epoch.
    pub imported_ms: i64,
}

impl ImportRow {
    pub fn new(by: &str, told: &str, now_ms: i64) -> Self {
        Self {
            uid: Uuid::now_v7().to_string(),
            by: by.to_owned(),
            told: told.to_owned(),
            imported_ms: now_ms,
        }
    }
}

impl Db {
    /// Stores an import. Returns whether it was new.
    pub fn add_import(&self, import: &ImportRow) -> Result<bool> {
        let added = self.change(
            "INSERT INTO import (uid, annotator, told, imported_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (uid) DO NOTHING",
            params![import.uid, import.by, import.told, import.imported_ms],
        )?;
        Ok(added > 0)
    }

    /// All imports, earliest first.
    pub fn imports(&self) -> Result<Vec<ImportRow>> {
        self.all(
            "SELECT uid, annotator, told, imported_ms FROM import ORDER BY imported_ms, uid",
            [],
            |row| {
                Ok(ImportRow {
                    uid: row.get(0)?,
                    by: row.get(1)?,
                    told: row.get(2)?,
                    imported_ms: row.get(3)?,
                })
            },
        )
    }

    /// The names of everyone who has given a verdict or ruled on a label.
    pub fn annotators(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT annotator FROM verdict UNION SELECT annotator FROM ruling ORDER BY annotator",
            [],
            |row| row.get(0),
        )
    }
}
