//! Whether a project's file is sound.

use super::{Db, Result};

/// What a look through the whole file found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// What SQLite says of damage, the first lines of it; nothing in a sound file.
    pub damage: Vec<String>,
    /// Rows that name a row that is not there.
    pub dangling: usize,
    /// How changes reach the file: `wal` in a project that is in order.
    pub journal_mode: String,
    /// The size of the file in bytes, its log not counted.
    pub bytes: u64,
}

/// Lines of damage that are told.
const TOLD: usize = 5;

impl Db {
    /// Looks through the whole file, which takes about a second for each gigabyte.
    pub fn integrity(&self) -> Result<Integrity> {
        let mut statement = self
            .connection
            .prepare(&format!("PRAGMA quick_check({TOLD})"))?;
        let damage: Vec<String> = statement
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let sound = damage.iter().all(|line| line == "ok");
        let number = |name: &str| -> Result<u64> {
            Ok(self
                .connection
                .pragma_query_value(None, name, |row| row.get(0))?)
        };
        Ok(Integrity {
            damage: if sound { Vec::new() } else { damage },
            dangling: self.connection.query_row(
                "SELECT count(*) FROM pragma_foreign_key_check",
                [],
                |row| row.get(0),
            )?,
            journal_mode: self
                .connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))?,
            bytes: number("page_count")? * number("page_size")?,
        })
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
        assert_eq!((sound.damage.len(), sound.dangling), (0, 0));
        assert_eq!(sound.journal_mode, "wal");
        assert!(sound.bytes > 0);
        rusqlite::Connection::open(store.path())
            .unwrap()
            .execute_batch(
                "PRAGMA foreign_keys = OFF; INSERT INTO summary (query, revision, value) VALUES (99, 0, '')",
            )
            .unwrap();
        let found = store.read_blocking(|db| db.integrity()).unwrap();
        assert_eq!(found.dangling, 1);
    }
}
