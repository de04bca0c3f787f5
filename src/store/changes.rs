//! Notes what is changed in a shared project until it is on the server, in the table `unsynced`.
//!
//! The triggers are temporary: a project file contains none, and none that it contains is run.

use super::Result;
use crate::registry;
use rusqlite::Connection;

/// What a changed row belongs to.
#[derive(Clone, Copy)]
enum Owner {
    /// The query whose key this SQL expression gives.
    Query(&'static str),
    /// The part of the project with this name, which belongs to no query.
    Part(&'static str),
    /// The row is a judgment, which never changes, or a showing, which can be put off.
    Judgment,
}

/// Kind of the rows of a query.
pub const QUERY_KIND: &str = "query";

/// Tables whose rows are judgments of people or showings, each after those that it refers to.
pub const JUDGMENT_TABLES: [&str; 5] = ["shown", "verdict", "undo", "ruling", "ruling_undo"];

/// Tables of the core with rows of queries; the columns whose changes count, if not all do.
const QUERY_TABLES: [(&str, &str, &str); 7] = [
    ("call_total", "NEW.query", ""),
    ("candidate", "NEW.query", ""),
    ("document", "NEW.query", ""),
    (
        "duplicate_vote",
        "(SELECT query FROM battle WHERE id = NEW.battle)",
        "",
    ),
    ("gold", "NEW.query", ""),
    ("pick", "NEW.query", ""),
    (
        "query",
        "NEW.id",
        "OF text, extra, line, dataset, documents, depth, ensemble",
    ),
];

/// Statements that note every query and judgment as changed.
#[cfg(feature = "remote")]
const EVERYTHING: [&str; 6] = [
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'query', id FROM query",
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'shown', uid FROM shown",
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'verdict', uid FROM verdict",
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'undo', uid FROM undo",
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'ruling', uid FROM ruling",
    "INSERT OR IGNORE INTO unsynced (kind, subject) SELECT 'ruling_undo', uid FROM ruling_undo",
];

/// Creates the triggers that note changes. They do nothing in a project that is not shared.
pub(super) fn watch(connection: &Connection) -> Result<()> {
    let mut sql = String::new();
    for (table, query, columns) in QUERY_TABLES {
        trigger(&mut sql, table, Owner::Query(query), columns);
    }
    for table in registry::QUERY_TABLES {
        trigger(&mut sql, table, Owner::Query("NEW.query"), "");
    }
    for table in JUDGMENT_TABLES {
        let columns = if table == "shown" { "OF later_ms" } else { "" };
        trigger(&mut sql, table, Owner::Judgment, columns);
    }
    for part in registry::merge_parts() {
        for table in part.tables {
            trigger(&mut sql, table, Owner::Part(part.name), "");
        }
    }
    Ok(connection.execute_batch(&sql)?)
}

/// Adds the statements for a table. With `columns`, only changes of these count.
fn trigger(sql: &mut String, table: &str, owner: Owner, columns: &str) {
    let (kind, subject) = match owner {
        Owner::Query(query) => (QUERY_KIND, query),
        Owner::Part(name) => (name, "0"),
        Owner::Judgment => (table, "NEW.uid"),
    };
    let events = match owner {
        Owner::Judgment if columns.is_empty() => &[("INSERT", "")][..],
        _ => &[("INSERT", ""), ("UPDATE", columns)],
    };
    for (event, columns) in events {
        sql.push_str(&format!(
            "CREATE TEMP TRIGGER unsynced_{table}_{event} AFTER {event} {columns} ON main.{table}
             WHEN EXISTS (SELECT 1 FROM sync WHERE NOT is_merging)
             BEGIN
                 UPDATE sync SET changes = changes + 1;
                 INSERT INTO unsynced (kind, subject, change)
                 SELECT '{kind}', {subject}, changes FROM sync WHERE true
                 ON CONFLICT DO UPDATE SET change = excluded.change;
             END;"
        ));
    }
}

#[cfg(feature = "remote")]
impl super::Db {
    /// Notes everything in the project as changed.
    pub fn note_everything(&self) -> Result<()> {
        for all in EVERYTHING {
            self.change(all, [])?;
        }
        for part in registry::merge_parts() {
            let mut has_rows = false;
            for table in part.tables {
                has_rows |=
                    self.value::<bool>(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [])?;
            }
            if has_rows {
                self.change(
                    "INSERT OR IGNORE INTO unsynced (kind, subject) VALUES (?1, 0)",
                    [part.name],
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(not(feature = "remote"))]
impl super::Db {
    /// Number of changes that wait for the server of a shared project; `None` if it is not shared.
    pub fn waiting_changes(&self) -> Result<Option<usize>> {
        self.maybe(
            "SELECT (SELECT count(*) FROM unsynced) FROM sync",
            [],
            |row| row.get(0),
        )
    }
}
