//! How a project is shared, and what of it is not on the server.

use crate::store::changes::{JUDGMENT_TABLES, QUERY_KIND};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use rusqlite::types::Value;
use rusqlite::{Params, params};
use uuid::Uuid;

/// How a project is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The project on the server.
    pub project: Uuid,
    /// This file among the copies of the project.
    pub copy: Uuid,
    /// The number of the file; a copied file is another copy of the project.
    pub file: Option<i64>,
    /// The server's transaction from which changes are read next.
    pub reached: String,
    /// Whose rights judgments were read with; `None` if all of them can be read.
    pub reader: Option<String>,
}

/// Something that was changed here and is not on the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsynced {
    /// The kind of a state, or the table of a judgment.
    pub kind: String,
    /// The key of the query, the ID of the judgment, or 0.
    key: Value,
    /// The name of the query, the ID of the judgment, or an empty text.
    pub subject: String,
    /// The number of the last change.
    change: i64,
}

impl Unsynced {
    /// The query that was changed.
    pub fn query(&self) -> Option<QueryKey> {
        match self.key {
            Value::Integer(key) if self.kind == QUERY_KIND => Some(QueryKey(key)),
            _ => None,
        }
    }
}

const UNSYNCED: &str = "SELECT count(*) FROM unsynced";

/// Whether a change is a judgment of the person `?1`.
const BY_PERSON: &str = "?1 = CASE kind
    WHEN 'shown' THEN (SELECT annotator FROM shown WHERE uid = subject)
    WHEN 'verdict' THEN (SELECT annotator FROM verdict WHERE uid = subject)
    WHEN 'undo' THEN (SELECT annotator FROM undo WHERE uid = subject)
    WHEN 'ruling' THEN (SELECT annotator FROM ruling WHERE uid = subject)
    WHEN 'ruling_undo' THEN (SELECT annotator FROM ruling_undo WHERE uid = subject)
    END";

/// The tables of judgments as a JSON list.
fn judgment_tables() -> Result<String> {
    Ok(serde_json::to_string(&JUDGMENT_TABLES)?)
}

impl Db {
    /// How the project is shared; `None` if it is not.
    pub fn shared(&self) -> Result<Option<Shared>> {
        type Columns = (Vec<u8>, Vec<u8>, Option<i64>, String, Option<String>);
        let row: Option<Columns> = self.maybe(
            "SELECT project, copy, file, reached, reader FROM sync",
            [],
            |row| row.try_into(),
        )?;
        let uuid = |bytes: Vec<u8>| {
            Uuid::from_slice(&bytes).map_err(|_| {
                StoreError::Corrupt("the ID of a shared project is not one".to_owned())
            })
        };
        row.map(|(project, copy, file, reached, reader)| {
            Ok(Shared {
                project: uuid(project)?,
                copy: uuid(copy)?,
                file,
                reached,
                reader,
            })
        })
        .transpose()
    }

    /// Shares the project. Everything in it counts as changed, and nothing of the server as read.
    pub fn share(&self, shared: &Shared) -> Result<()> {
        self.change("DELETE FROM sync", [])?;
        self.change("DELETE FROM synced", [])?;
        self.change("DELETE FROM unsynced", [])?;
        self.change(
            "INSERT INTO sync (id, project, copy, file, reached) VALUES (1, ?1, ?2, ?3, ?4)",
            params![
                &shared.project.as_bytes()[..],
                &shared.copy.as_bytes()[..],
                shared.file,
                shared.reached
            ],
        )?;
        self.note_everything()
    }

    /// Notes from which transaction to read next.
    pub fn reach(&self, reached: &str) -> Result<()> {
        self.change("UPDATE sync SET reached = ?1", [reached])?;
        Ok(())
    }

    /// Sends everything again, and reads everything again: the server lacks some of what it had.
    pub fn start_over(&self) -> Result<()> {
        self.change("DELETE FROM synced", [])?;
        self.change("UPDATE sync SET reached = '0'", [])?;
        self.note_everything()
    }

    /// Reads the judgments again, with other rights: some of them could not be read before.
    pub fn read_as(&self, reader: Option<&str>) -> Result<()> {
        self.change("UPDATE sync SET reader = ?1, reached = '0'", [reader])?;
        Ok(())
    }

    /// Notes that judgments on an item are to be read, whatever was read so far.
    pub fn note_unread(&self, item: &[u8]) -> Result<()> {
        self.change("INSERT OR IGNORE INTO unread (item) VALUES (?1)", [item])?;
        Ok(())
    }

    /// Up to `limit` items whose judgments are to be read, after an item in their order.
    pub fn unread(&self, after: &[u8], limit: i64) -> Result<Vec<Vec<u8>>> {
        self.all(
            "SELECT item FROM unread WHERE item > ?1 ORDER BY item LIMIT ?2",
            params![after, limit],
            |row| row.get(0),
        )
    }

    /// Notes that the judgments on an item were read.
    pub fn note_read(&self, item: &[u8]) -> Result<()> {
        self.change("DELETE FROM unread WHERE item = ?1", [item])?;
        Ok(())
    }

    /// Gives the file another place among the copies of the project.
    pub fn become_copy(&self, copy: Uuid, file: Option<i64>) -> Result<()> {
        self.change(
            "UPDATE sync SET copy = ?1, file = ?2",
            params![&copy.as_bytes()[..], file],
        )?;
        Ok(())
    }

    /// Merges rows of the server, which do not count as changes. To be called in a transaction.
    pub fn merging<T>(&self, merge: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.change("UPDATE sync SET is_merging = 1", [])?;
        let merged = merge(self)?;
        self.change("UPDATE sync SET is_merging = 0", [])?;
        Ok(merged)
    }

    /// Notes that votes on a query were set aside, and their costs added to the ledger.
    pub fn note_set_aside(&self, query: &str) -> Result<()> {
        self.change("UPDATE sync SET changes = changes + 1", [])?;
        self.change(
            "INSERT INTO unsynced (kind, subject, change)
             SELECT 'query', query.id, changes FROM query JOIN sync ON sync.id = 1
             WHERE query.name = ?1
             ON CONFLICT DO UPDATE SET change = excluded.change",
            [query],
        )?;
        self.change(
            "INSERT INTO unsynced (kind, subject, change)
             SELECT 'ledger', 0, changes FROM sync WHERE id = 1
             ON CONFLICT DO UPDATE SET change = excluded.change",
            [],
        )?;
        Ok(())
    }

    /// Lets changes count, whatever the project says.
    pub fn end_merging(&self) -> Result<()> {
        self.change("UPDATE sync SET is_merging = 0 WHERE is_merging <> 0", [])?;
        Ok(())
    }

    /// Number of changed queries, parts and judgments that wait for the server. Of annotators, only
    /// their own judgments do.
    pub fn unsynced_count(&self) -> Result<i64> {
        match self.judgment_reader()? {
            None => self.value(UNSYNCED, []),
            Some(reader) => self.value(&format!("{UNSYNCED} WHERE {BY_PERSON}"), [reader]),
        }
    }

    /// Number of changes that stay here, since an annotator does not send them.
    pub fn kept_count(&self) -> Result<i64> {
        Ok(self.value::<i64>(UNSYNCED, [])? - self.unsynced_count()?)
    }

    /// Whose rights judgments were read with; `None` if all of them can be read.
    pub fn judgment_reader(&self) -> Result<Option<String>> {
        let reader = self.maybe_value("SELECT reader FROM sync", [])?;
        Ok(reader.flatten())
    }

    /// All changed queries and parts, the queries first.
    pub fn unsynced_states(&self) -> Result<Vec<Unsynced>> {
        self.unsynced(
            "SELECT kind, subject, query.name, change
             FROM unsynced LEFT JOIN query ON kind = 'query' AND query.id = subject
             WHERE kind NOT IN (SELECT value FROM json_each(?1))
             ORDER BY kind <> 'query', kind, query.id",
            [judgment_tables()?],
        )
    }

    /// Up to `limit` new judgments, each after those that it refers to; with `person`, only those of
    /// this person.
    pub fn unsynced_judgments(&self, limit: i64, person: Option<&str>) -> Result<Vec<Unsynced>> {
        let tables = judgment_tables()?;
        match person {
            None => self.unsynced(
                "SELECT kind, subject, subject, change FROM unsynced
                 WHERE kind IN (SELECT value FROM json_each(?1))
                 ORDER BY instr(?1, json_quote(kind)), subject LIMIT ?2",
                params![tables, limit],
            ),
            Some(person) => self.unsynced(
                &format!(
                    "SELECT kind, subject, subject, change FROM unsynced
                     WHERE {BY_PERSON} ORDER BY instr(?2, json_quote(kind)), subject LIMIT ?3"
                ),
                params![person, tables, limit],
            ),
        }
    }

    fn unsynced(&self, sql: &str, values: impl Params) -> Result<Vec<Unsynced>> {
        self.all(sql, values, |row| {
            Ok(Unsynced {
                kind: row.get(0)?,
                key: row.get(1)?,
                subject: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
                change: row.get(3)?,
            })
        })
    }

    /// Notes that a change is on the server, unless there is a later one.
    pub fn note_synced(&self, of: &Unsynced) -> Result<()> {
        self.change(
            "DELETE FROM unsynced WHERE kind = ?1 AND subject = ?2 AND change = ?3",
            params![of.kind, of.key, of.change],
        )?;
        Ok(())
    }

    /// The version of a state on the server that this project contains, or 0.
    pub fn synced_version(&self, kind: &str, subject: &str) -> Result<i64> {
        let version = "SELECT version FROM synced WHERE kind = ?1 AND subject = ?2";
        let known = self.maybe_value(version, [kind, subject])?;
        Ok(known.unwrap_or(0))
    }

    pub fn note_version(&self, kind: &str, subject: &str, version: i64) -> Result<()> {
        self.change(
            "INSERT INTO synced (kind, subject, version) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET version = excluded.version",
            params![kind, subject, version],
        )?;
        Ok(())
    }

    /// The hashes of texts among these that the project lacks.
    pub fn lacking_texts(&self, hashes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let mut lacking = Vec::new();
        for hash in hashes {
            let known = "SELECT 1 FROM content WHERE hash = ?1";
            if self.maybe_value::<i64>(known, [&hash])?.is_none() {
                lacking.push(hash);
            }
        }
        Ok(lacking)
    }

    /// Stores a text that documents may refer to.
    pub fn keep_text(&self, text: &str) -> Result<()> {
        self.add_content(text)?;
        Ok(())
    }

    /// The text with this hash.
    pub fn text_with(&self, hash: &[u8]) -> Result<String> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT text, dictionary, packed FROM content WHERE hash = ?1")?;
        let mut rows = statement.query([hash])?;
        match rows.next()? {
            Some(row) => self.content_text(row, 0),
            None => Err(StoreError::Corrupt(
                "the text of a document is not there".to_owned(),
            )),
        }
    }

    /// The hashes of the texts of a query's documents.
    pub fn text_hashes_of(&self, query: QueryKey) -> Result<Vec<Vec<u8>>> {
        self.all(
            "SELECT hash FROM document JOIN content ON content.id = content WHERE query = ?1
             UNION SELECT hash FROM candidate JOIN content ON content.id = content
             WHERE query = ?1",
            [query.0],
            |row| row.get(0),
        )
    }

    /// The hashes of all texts of a piece.
    pub fn text_hashes(&self) -> Result<Vec<Vec<u8>>> {
        self.all("SELECT hash FROM content ORDER BY hash", [], |row| {
            row.get(0)
        })
    }
}
