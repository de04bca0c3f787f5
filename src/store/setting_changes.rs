//! Changes to the project's settings, for the audit log.

use super::{Db, Result};
use rusqlite::params;
use uuid::Uuid;

/// A change to a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Globally unique.
    pub uid: String,
    pub by: String,
    pub setting: String,
    /// The old and the new value, in words.
    pub before: String,
    pub after: String,
    /// In milliseconds since the Unix epoch.
    pub changed_ms: i64,
}

impl SettingChange {
    pub fn new(by: &str, setting: &str, before: String, after: String, now_ms: i64) -> Self {
        Self {
            uid: Uuid::now_v7().to_string(),
            by: by.to_owned(),
            setting: setting.to_owned(),
            before,
            after,
            changed_ms: now_ms,
        }
    }
}

impl Db {
    pub fn add_setting_change(&self, change: &SettingChange) -> Result<()> {
        self.change(
            "INSERT INTO setting_change (uid, annotator, setting, before, after, changed_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (uid) DO NOTHING",
            params![
                change.uid,
                change.by,
                change.setting,
                change.before,
                change.after,
                change.changed_ms
            ],
        )?;
        Ok(())
    }

    /// All changes, earliest first.
    pub fn setting_changes(&self) -> Result<Vec<SettingChange>> {
        self.all(
            "SELECT uid, annotator, setting, before, after, changed_ms FROM setting_change
             ORDER BY changed_ms, uid",
            [],
            |row| {
                Ok(SettingChange {
                    uid: row.get(0)?,
                    by: row.get(1)?,
                    setting: row.get(2)?,
                    before: row.get(3)?,
                    after: row.get(4)?,
                    changed_ms: row.get(5)?,
                })
            },
        )
    }
}
