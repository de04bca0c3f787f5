//! Checks the integrity of a project file.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError, schema};
use crate::domain::number_words::counted;

/// Result of a check of the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// The first lines of the damage report, empty for an intact file.
    pub damage: Vec<String>,
    /// SQLite's journal mode, which is `wal` in an intact project.
    pub journal_mode: String,
    /// Size of the file in bytes without its log.
    pub bytes: u64,
}

/// A query of a damaged project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableQuery {
    pub name: String,
    /// Why it cannot be exported; `None` if it can.
    pub fault: Option<String>,
}

/// Maximum number of lines in the damage report.
const TOLD: usize = 5;

/// Tables of pairs, whose positions must be those of documents.
const PAIRS: [&str; 5] = ["battle", "verdict", "gold", "shown", "queue_item"];

impl Db {
    /// Checks the whole file, which takes about a second per gigabyte.
    pub fn integrity(&self) -> Result<Integrity> {
        let number = |name: &str| -> Result<u64> {
            Ok(self
                .connection
                .pragma_query_value(None, name, |row| row.get(0))?)
        };
        Ok(Integrity {
            damage: self.damage()?,
            journal_mode: self
                .connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))?,
            bytes: number("page_count")? * number("page_size")?,
        })
    }

    /// Describes the damage; empty for an intact project.
    pub(super) fn damage(&self) -> Result<Vec<String>> {
        let lines: Vec<String> =
            self.all(&format!("PRAGMA quick_check({TOLD})"), [], |row| row.get(0))?;
        let mut damage: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
        if schema::is_outdated(&self.connection)? {
            // The tables and columns used by the other checks were added in later versions.
            return Ok(damage);
        }
        let missing = schema::missing_parts(&self.connection)?;
        if !missing.is_empty() {
            damage.extend(missing.into_iter().take(TOLD));
            // The checks of rows need these tables and columns.
            return Ok(damage);
        }
        let dangling: usize = self.value("SELECT count(*) FROM pragma_foreign_key_check", [])?;
        let pools: usize = self.value(
            "SELECT count(*) FROM query LEFT JOIN (
                 SELECT query AS id, count(*) AS there, min(position) AS first,
                 max(position) AS last
                 FROM document GROUP BY query
             ) AS pool USING (id)
             WHERE documents != coalesce(there, 0) OR first != 0 OR last != there - 1",
            [],
        )?;
        let mut pairs = 0;
        for pairs_of in PAIRS {
            pairs += self.value::<usize>(
                &format!(
                    "SELECT count(*) FROM {pairs_of} AS pair JOIN query ON query.id = pair.query
                     WHERE min(a, b) < 0 OR max(a, b) >= documents OR a = b"
                ),
                [],
            )?;
        }
        let counts = [
            (dangling, "without the row that they belong to", "row"),
            (pools, "whose documents are not all there", "query"),
            (pairs, "that name a document that is not there", "pair"),
        ];
        damage.extend(
            counts
                .into_iter()
                .filter(|(count, ..)| *count > 0)
                .map(|(count, what, noun)| format!("{} {what}", counted(count, noun))),
        );
        Ok(damage)
    }

    /// All queries, each with the reason if it cannot be exported.
    pub fn readable_queries(&mut self) -> Result<Vec<ReadableQuery>> {
        let names = self.query_names()?;
        Ok(names
            .into_iter()
            .map(|(key, name)| {
                let read = self.guarded(|db| {
                    db.pool(key)?;
                    db.view(key)?;
                    db.verdicts_ever(Some(key))
                });
                let fault = read.err().map(|error| error.to_string());
                ReadableQuery { name, fault }
            })
            .collect())
    }

    /// Rejects a query with missing documents, or whose verdicts refer to other documents: all code
    /// uses pool positions to find documents.
    pub(super) fn check_positions(&self, query: QueryKey) -> Result<()> {
        if self.checked.borrow().contains(&query.0) {
            return Ok(());
        }
        let found = self.maybe(
            "SELECT name, documents = (SELECT count(*) FROM document WHERE query = id)
                 AND documents = (SELECT count(*) FROM document WHERE query = id
                 AND position BETWEEN 0 AND documents - 1),
                 NOT EXISTS (SELECT 1 FROM verdict WHERE query = id AND (min(a, b) < 0 OR max(a,
                 b) >= documents OR a = b))
                 AND NOT EXISTS (SELECT 1 FROM gold WHERE query = id AND (min(a, b) < 0 OR max(a,
                 b) >= documents OR a = b))
             FROM query WHERE id = ?1",
            [query.0],
            |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let damaged =
            |name: String, what: &str| Err(StoreError::Corrupt(format!("query {name:?}: {what}")));
        match found {
            Some((name, false, _)) => damaged(name, "its documents are not all there"),
            Some((name, _, false)) => damaged(name, "a pair names a document that is not there"),
            _ => {
                self.checked.borrow_mut().insert(query.0);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;

    #[test]
    fn a_sound_project_is_sound_and_a_dangling_row_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let sound = store.read_blocking(|db| db.integrity()).unwrap();
        assert_eq!(sound.damage, [""; 0]);
        assert_eq!(sound.journal_mode, "wal");
        assert!(sound.bytes > 0);
        rusqlite::Connection::open(store.path())
            .unwrap()
            .execute_batch(
                "PRAGMA foreign_keys = OFF; INSERT INTO summary (query, revision, value) VALUES (99, 0, '')",
            )
            .unwrap();
        let found = store.read_blocking(|db| db.integrity()).unwrap();
        assert_eq!(found.damage, ["1 row without the row that they belong to"]);
    }
}
