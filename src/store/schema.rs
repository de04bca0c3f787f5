//! Numbered migrations on `user_version`, and the checks that keep Overrule's hands off other people's files.

use super::{Result, StoreError};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// Marks a database as an Overrule project: "OVRL" in ASCII.
const APPLICATION_ID: i64 = 0x4f56_524c;

/// In order, never edited once released; migration `n` leads to `user_version` `n + 1`.
const MIGRATIONS: &[&str] = &[
    include_str!("../../assets/migrations/0001.sql"),
    include_str!("../../assets/migrations/0002.sql"),
    include_str!("../../assets/migrations/0003.sql"),
    include_str!("../../assets/migrations/0004.sql"),
    include_str!("../../assets/migrations/0005.sql"),
    include_str!("../../assets/migrations/0006.sql"),
    include_str!("../../assets/migrations/0007.sql"),
    include_str!("../../assets/migrations/0008.sql"),
];

/// Opens the file for writing, creating or upgrading it where that is safe.
pub(super) fn open(path: &Path) -> Result<Connection> {
    if path.is_dir() {
        return Err(not_a_project(path, "it is a folder"));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(StoreError::NotFound(format!(
            "{}: its folder does not exist",
            path.display()
        )));
    }
    let mut connection =
        Connection::open(path).map_err(|error| not_a_project(path, &error.to_string()))?;
    connection.busy_timeout(Duration::from_secs(10))?;
    let version = check(path, &connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(|error| read_only(path, error))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    if (version as usize) < MIGRATIONS.len() {
        migrate(&mut connection)?;
    }
    Ok(connection)
}

/// The schema version, 0 for an empty file; an error for anything that is not an Overrule project of a known version.
pub(super) fn check(path: &Path, connection: &Connection) -> Result<i64> {
    let pragma = |name: &str| -> Result<i64> {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(|error| not_a_project(path, &error.to_string()))
    };
    let version = pragma("user_version")?;
    let application = pragma("application_id")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| not_a_project(path, &error.to_string()))?;
    if tables == 0 && application == 0 && version == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(not_a_project(
            path,
            "it is another program's SQLite database",
        ));
    }
    if version > MIGRATIONS.len() as i64 {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: MIGRATIONS.len() as i64,
        });
    }
    Ok(version)
}

fn migrate(connection: &mut Connection) -> Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (index, sql) in MIGRATIONS.iter().enumerate().skip(version as usize) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", index as i64 + 1)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(())
}

/// A project keeps votes as they come, so it must be writable even for looking; says so instead of quoting SQLite.
fn read_only(path: &Path, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen) => {
            StoreError::NotFound(format!(
                "{}: cannot be written; copy it to a folder where you may write",
                path.display()
            ))
        }
        _ => error.into(),
    }
}

fn not_a_project(path: &Path, reason: &str) -> StoreError {
    StoreError::NotAProject {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes.db");
        std::fs::write(
            &text,
            "a text file that is not a database, and long enough to have a header",
        )
        .unwrap();
        assert!(matches!(open(&text), Err(StoreError::NotAProject { .. })));
        assert!(
            std::fs::read_to_string(&text)
                .unwrap()
                .starts_with("a text file")
        );

        let foreign = folder.path().join("foreign.db");
        let other = Connection::open(&foreign).unwrap();
        other.execute_batch("CREATE TABLE theirs (x)").unwrap();
        drop(other);
        let before = std::fs::read(&foreign).unwrap();
        assert!(matches!(
            open(&foreign),
            Err(StoreError::NotAProject { .. })
        ));
        assert_eq!(std::fs::read(&foreign).unwrap(), before);
    }

    #[test]
    fn a_newer_project_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule.db");
        let connection = open(&path).unwrap();
        connection.pragma_update(None, "user_version", 999).unwrap();
        drop(connection);
        let error = open(&path).unwrap_err();
        assert!(error.to_string().contains("newer version"), "{error}");
    }

    #[test]
    fn an_older_project_is_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(MIGRATIONS[0]).unwrap();
        old.execute_batch("INSERT INTO judge VALUES (7, 'a', 'b', 'c', 'd', 'e')")
            .unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        drop(old);
        let count = |sql: &str| -> i64 {
            let new = open(&path).unwrap();
            new.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count("SELECT count(*) FROM judge WHERE id = 7"), 1);
        assert_eq!(count("SELECT count(*) FROM batch"), 0);
    }

    #[test]
    fn opening_twice_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule.db");
        drop(open(&path).unwrap());
        let version: i64 = open(&path)
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        assert_eq!(version, MIGRATIONS.len() as i64);
    }
}
