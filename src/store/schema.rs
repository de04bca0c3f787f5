//! Numbered migrations on `user_version`, and checks that keep Overrule from touching other
//! programs' files.

use super::completeness::{self, APPLICATION_ID};
use super::file::{self, explained, not_a_project};
use super::{Result, StoreError, upgrade};
use crate::domain::sanitize;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;
use std::path::Path;

/// Size to which the log is truncated when it restarts, so that one import does not leave a huge
/// file. Keeping some space is cheaper than growing from zero again.
const LOG_LIMIT: i64 = 64 << 20;

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
    include_str!("../../assets/migrations/0009.sql"),
    include_str!("../../assets/migrations/0010.sql"),
    include_str!("../../assets/migrations/0011.sql"),
    include_str!("../../assets/migrations/0012.sql"),
    include_str!("../../assets/migrations/0013.sql"),
    include_str!("../../assets/migrations/0014.sql"),
    include_str!("../../assets/migrations/0015.sql"),
    include_str!("../../assets/migrations/0016.sql"),
    include_str!("../../assets/migrations/0017.sql"),
    include_str!("../../assets/migrations/0018.sql"),
    include_str!("../../assets/migrations/0019.sql"),
    include_str!("../../assets/migrations/0020.sql"),
    include_str!("../../assets/migrations/0021.sql"),
    include_str!("../../assets/migrations/0022.sql"),
    include_str!("../../assets/migrations/0023.sql"),
    WITHOUT_COPIES,
    ONE_SPELLING,
    include_str!("../../assets/migrations/0026.sql"),
    include_str!("../../assets/migrations/0027.sql"),
    include_str!("../../assets/migrations/0028.sql"),
    include_str!("../../assets/migrations/0029.sql"),
    include_str!("../../assets/migrations/0030.sql"),
    include_str!("../../assets/migrations/0031.sql"),
    include_str!("../../assets/migrations/0032.sql"),
    include_str!("../../assets/migrations/0033.sql"),
    include_str!("../../assets/migrations/0034.sql"),
    include_str!("../../assets/migrations/0035.sql"),
    include_str!("../../assets/migrations/0036.sql"),
    include_str!("../../assets/migrations/0037.sql"),
    include_str!("../../assets/migrations/0038.sql"),
    include_str!("../../assets/migrations/0039.sql"),
    include_str!("../../assets/migrations/0040.sql"),
    include_str!("../../assets/migrations/0041.sql"),
    include_str!("../../assets/migrations/0042.sql"),
    include_str!("../../assets/migrations/0043.sql"),
    include_str!("../../assets/migrations/0044.sql"),
    include_str!("../../assets/migrations/0045.sql"),
];

/// The version of the schema.
#[cfg(feature = "remote")]
pub const SCHEMA_VERSION: i32 = MIGRATIONS.len() as i32;

/// The migration that removes votes which are copies of another vote on the same pair, and leaves a
/// list of them.
const WITHOUT_COPIES: &str = include_str!("../../assets/migrations/0024.sql");

/// The migration from which annotators' names are stored in a single spelling.
const ONE_SPELLING: &str = include_str!("../../assets/migrations/0025.sql");

/// The schema version with narrow votes: the migration to it does more than its statements say.
const NARROW_VOTES: usize = 13;

/// Opens the file for writing, creating or upgrading it if that is safe.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let path = file::canonical(path)?;
    let (connection, version) = open_at(&path)?;
    if (1..NARROW_VOTES as i64).contains(&version) {
        upgrade::shrink(&connection, &path)?;
    }
    Ok(connection)
}

/// Upgrades a copy that only this process uses, without a message, however long it takes.
pub(super) fn prepare_copy(copy: Connection) -> Result<Connection> {
    let version = check(Path::new(""), &copy)?;
    prepare(copy, version, None)
}

/// The connection, and the previous schema version of the file.
fn open_at(path: &Path) -> Result<(Connection, i64)> {
    file::check_kind(path)?;
    file::make(path)?;
    let connection = file::writing(path)?;
    let version = check(path, &connection)?;
    // A run of an older version could no longer store its paid answers.
    if (1..NARROW_VOTES as i64).contains(&version) && file::is_run_on(path) {
        return Err(StoreError::Conflict(format!(
            "{}: a run of an older version of overrule is going on, and could not store its \
             answers once the project is upgraded; wait until it has ended, or stop it",
            path.display()
        )));
    }
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(|error| explained(path, error))?;
    let prepared = prepare(connection, version, Some(path));
    Ok((
        prepared.map_err(|error| file::narrowed(path, error))?,
        version,
    ))
}

pub(super) fn open_in_memory() -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    file::harden(&mut connection, Path::new(":memory:"))?;
    prepare(connection, 0, None)
}

/// `path` names the file in progress reports of upgrades.
fn prepare(mut connection: Connection, version: i64, path: Option<&Path>) -> Result<Connection> {
    connection.set_prepared_statement_cache_capacity(64);
    // A commit does not wait for the disk: the sync thread does, and answers afterwards.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    if (version as usize) < MIGRATIONS.len() {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

/// Opens a read-only file, which must have this schema version.
pub(super) fn open_reading(path: &Path) -> Result<Connection> {
    let path = file::canonical(path)?;
    file::check_kind(&path)?;
    let connection = file::reading_alone(&path)?;
    let known = MIGRATIONS.len() as i64;
    match check(&path, &connection)? {
        0 => Err(not_a_project(&path, "it is empty")),
        found if found < known => Err(StoreError::Outdated { path, found, known }),
        _ => {
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        }
    }
}

/// The schema version, 0 for an empty file; an error for anything that is not an Overrule project
/// of a known version.
pub(super) fn check(path: &Path, connection: &Connection) -> Result<i64> {
    let pragma = |name: &str| -> Result<i64> {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(|error| explained(path, error))
    };
    let version = pragma("user_version")?;
    let application = pragma("application_id")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| explained(path, error))?;
    if tables == 0 && application == 0 && version == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(not_a_project(
            path,
            "it is another program's SQLite database",
        ));
    }
    refuse_foreign_parts(path, connection)?;
    if version > MIGRATIONS.len() as i64 {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: MIGRATIONS.len() as i64,
        });
    }
    Ok(version)
}

fn migrate(connection: &mut Connection, path: Option<&Path>) -> Result<()> {
    migrate_to(MIGRATIONS.len(), connection, path)
}

fn migrate_to(known: usize, connection: &mut Connection, path: Option<&Path>) -> Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (index, sql) in MIGRATIONS[..known]
        .iter()
        .enumerate()
        .skip(version as usize)
    {
        transaction.execute_batch(sql)?;
        if index + 1 == NARROW_VOTES {
            upgrade::narrow_votes(&transaction, path)?;
            transaction.execute_batch("DROP TABLE wide_vote")?;
        }
        if *sql == WITHOUT_COPIES {
            upgrade::tell_of_copies(&transaction, path)?;
            transaction.execute_batch("DROP TABLE copied_vote")?;
        }
        if *sql == ONE_SPELLING {
            upgrade::spell_names_alike(&transaction)?;
        }
        transaction.pragma_update(None, "user_version", index as i64 + 1)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()?;
    Ok(())
}

/// Creates a project as left by the version with this number.
#[cfg(test)]
pub(super) fn project_of_version(version: usize, path: &Path) -> Connection {
    let mut connection = Connection::open(path).unwrap();
    migrate_to(version, &mut connection, None).unwrap();
    connection
}

/// Rejects a project with a trigger, a view or a virtual table: no version has created one, and
/// each could change what is written or read.
fn refuse_foreign_parts(path: &Path, connection: &Connection) -> Result<()> {
    let found: Option<(String, String)> = connection
        .query_row(
            "SELECT type, name FROM sqlite_schema
             WHERE type NOT IN ('table', 'index') OR coalesce(rootpage, 0) = 0
             OR sql LIKE '%virtual table%' LIMIT 1",
            [],
            |row| row.try_into(),
        )
        .optional()
        .map_err(|error| explained(path, error))?;
    match found {
        None => Ok(()),
        Some((kind, name)) => {
            let kind = match kind.as_str() {
                "trigger" | "view" => kind.as_str(),
                _ => "virtual table",
            };
            let name = sanitize::line(&name);
            Err(not_a_project(
                path,
                &format!(
                    "it holds the {kind} {name:?}, which overrule does not make and which could \
                     change verdicts; do not trust this file"
                ),
            ))
        }
    }
}

/// Maximum size of a file that is checked completely after a process has left its log behind.
const LOOKED_THROUGH: u64 = 1 << 30;

/// Checks that a log left behind and the file next to it form an intact project. Changes nothing: a
/// log that belongs to another version of the file must not be applied to it.
pub(super) fn check_left_log(path: &Path) -> Result<()> {
    let connection = file::reading(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let look = || -> Result<Option<String>> {
        if !is_outdated(&connection)?
            && let Some(missing) = missing_parts(&connection)?.into_iter().next()
        {
            return Ok(Some(missing));
        }
        let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        if bytes > LOOKED_THROUGH {
            return Ok(None);
        }
        let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok((found != "ok").then(|| "together they are not sound".to_owned()))
    };
    match look() {
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(completeness::mismatched(path, &reason)),
        Err(StoreError::Corrupt(_)) => Err(completeness::mismatched(
            path,
            "together they are not readable",
        )),
        Err(error) => Err(file::narrowed(path, error)),
    }
}

/// Whether the project was last opened by an earlier version, whose schema has fewer parts.
pub(super) fn is_outdated(connection: &Connection) -> Result<bool> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(version < MIGRATIONS.len() as i64)
}

/// The tables, indexes and columns of this schema version that are missing in this file.
pub(super) fn missing_parts(connection: &Connection) -> Result<Vec<String>> {
    const PARTS: &str =
        "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'
         UNION ALL
         SELECT 'column ' || part.name || '.' || field.name
         FROM sqlite_schema AS part JOIN pragma_table_info(part.name) AS field
         WHERE part.type = 'table' AND part.name NOT LIKE 'sqlite_%'";
    let parts = |of: &Connection| -> Result<Vec<String>> {
        let mut statement = of.prepare(PARTS)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let there: HashSet<String> = parts(connection)?.into_iter().collect();
    Ok(parts(&open_in_memory()?)?
        .into_iter()
        .filter(|part| !there.contains(part))
        .map(|part| format!("the {part} is missing"))
        .collect())
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
    fn open_batches_of_an_older_project_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule.db");
        let old = project_of_version(44, &path);
        old.pragma_update(None, "foreign_keys", true).unwrap();
        old.execute_batch(
            "INSERT INTO query (id, name, text, extra, line, dataset, documents)
                 VALUES (1, 'q', 'text', '{}', '{}', '', 2);
             INSERT INTO judge VALUES (7, 'one', 'b', 'c', 'd', 'e');
             INSERT INTO ensemble (id, judges) VALUES (1, '[7]');
             INSERT INTO run (id, uid, seed, cycles, ensemble, started_ms, state)
                 VALUES (3, 'r', 0, 1, 1, 1, 'ended');
             INSERT INTO battle (id, query, a, b, game, cycle, origin) VALUES (9, 1, 0, 1, 0, 0, '');
             INSERT INTO batch (id, uid, judge, run, remote, state, submitted_ms, account, over_ms)
                 VALUES (5, 'u', 7, 3, 'batch_1', 'over', 11, 'salted', 12);
             INSERT INTO batch_call VALUES (5, 0, 9, 1, 2, 1, x'ab', 0.5, 0), (5, 1, 9, 0, 1, 0, x'cd', NULL, 1);",
        )
        .unwrap();
        drop(old);
        let db = Connection::open(&path).unwrap();
        drop(open(&path).unwrap());
        let row = |sql: &str| -> String { db.query_row(sql, [], |row| row.get(0)).unwrap() };
        assert_eq!(
            row("SELECT json_array(id, uid, judge, asked_as, run, remote, state, submitted_ms, account, over_ms)
                 FROM batch"),
            r#"[5,"u",7,"one",3,"batch_1","over",11,"salted",12]"#
        );
        assert_eq!(
            row(
                "SELECT json_group_array(json_array(number, battle, swapped, attempt, truncated,
                 hex(call_key), worst_usd, done)) FROM batch_call"
            ),
            r#"[[0,9,1,2,1,"AB",0.5,0],[1,9,0,1,0,"CD",null,1]]"#
        );
        let broken = db.query_row("PRAGMA foreign_key_check", [], |_| Ok(()));
        assert!(broken.is_err(), "every reference has its row");
        let references =
            "SELECT group_concat(\"table\") FROM pragma_foreign_key_list('batch_call')";
        assert_eq!(row(references), "battle,batch");
    }

    #[test]
    fn a_project_with_verdicts_keeps_the_rule_that_its_scores_were_made_by() {
        for (verdict, stored, expected) in [
            (true, None, Some("legacy")),
            (
                true,
                Some(r#"{"lambda":0.2,"override_mode":"replace"}"#),
                Some("legacy"),
            ),
            (
                true,
                Some(r#"{"override_mode":"beside"}"#),
                Some("legacy-beside"),
            ),
            (true, Some(r#"{"lambda":0.2}"#), Some("legacy")),
            (
                false,
                Some(r#"{"lambda":0.2,"override_mode":"replace"}"#),
                None,
            ),
            (false, None, None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("overrule.db");
            let old = project_of_version(22, &path);
            old.pragma_update(None, "foreign_keys", false).unwrap();
            if verdict {
                old.execute_batch(
                    "INSERT INTO verdict (uid, query, a, b, decision, annotator, blind, created_ms)
                     VALUES ('v', 1, 0, 1, 'a', 'ada', 0, 0)",
                )
                .unwrap();
            }
            if let Some(stored) = stored {
                old.execute("INSERT INTO setting VALUES ('rating', ?1)", [stored])
                    .unwrap();
            }
            drop(old);
            let mode: Option<String> = open(&path)
                .unwrap()
                .query_row(
                    "SELECT json_extract(value, '$.override_mode') FROM setting
                     WHERE name = 'rating'",
                    [],
                    |row| row.get(0),
                )
                .optional()
                .unwrap()
                .flatten();
            assert_eq!(mode.as_deref(), expected, "{verdict} {stored:?}");
        }
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

    #[test]
    fn what_cannot_be_written_is_read_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a %23?b.db");
        drop(open(&path).unwrap());
        let before = std::fs::read(&path).unwrap();
        let connection = open_reading(&path).unwrap();
        let judges: i64 = connection
            .query_row("SELECT count(*) FROM judge", [], |row| row.get(0))
            .unwrap();
        assert_eq!(judges, 0);
        let refused = connection.execute("INSERT INTO setting VALUES ('a', 'b')", []);
        assert!(refused.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // Neither a log nor its index was created.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_older_project_that_cannot_be_written_says_what_it_needs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(MIGRATIONS[0]).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        drop(old);
        let error = open_reading(&path).unwrap_err();
        assert!(
            matches!(error, StoreError::Outdated { found: 1, .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains("cannot be upgraded here"));
    }

    #[test]
    fn what_hinders_writing_is_told_from_what_hinders_reading() {
        let sqlite = |code| {
            let error = rusqlite::ffi::Error::new(code);
            rusqlite::Error::SqliteFailure(error, None)
        };
        let path = Path::new("p.db");
        use rusqlite::ffi;
        for code in [
            ffi::SQLITE_READONLY,
            ffi::SQLITE_READONLY_DIRECTORY,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_PERM,
        ] {
            let error = explained(path, sqlite(code));
            assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        }
        let error = explained(path, sqlite(ffi::SQLITE_FULL));
        assert!(matches!(error, StoreError::DiskFull), "{error:?}");
        let error = explained(path, sqlite(ffi::SQLITE_NOTADB));
        assert!(matches!(error, StoreError::NotAProject { .. }), "{error:?}");
        let error = explained(path, sqlite(ffi::SQLITE_CORRUPT));
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
        let error = explained(path, sqlite(ffi::SQLITE_BUSY));
        assert!(matches!(error, StoreError::Locked(_)), "{error:?}");
        // Neither means that the disk is full: it may be full or broken.
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_SHMSIZE] {
            let error = explained(path, sqlite(code));
            assert!(matches!(error, StoreError::Disk(_)), "{error:?}");
            assert!(error.hinders_only_writing());
        }
    }
}
