//! Caches vectors on disk, so that no text is embedded (and paid for) twice. A small separate
//! SQLite file: deleting it at any time only costs embedding the texts again.

use crate::formats::file;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Marks a database as a vector cache of Overrule: "OVEC" in ASCII.
const APPLICATION_ID: i64 = 0x4f56_4543;

#[derive(Debug, thiserror::Error)]
pub enum VectorCacheError {
    /// The file is not a vector cache, or cannot be opened.
    #[error("{}: holds no embeddings: {reason}; name another file with --vectors", path.display())]
    NotACache { path: PathBuf, reason: String },
    /// The server serves a different model from the one that made the vectors here.
    #[error(
        "the server answered as the model {served:?}, and the vectors in {} were made by \
         {known:?}. Vectors of two models \
         cannot be compared: have the server serve {known} again, or keep the vectors of {served} \
         in another file (--vectors \
         of pool build, --vector-cache of other commands)", path.display()
    )]
    AnotherModel {
        path: PathBuf,
        known: String,
        served: String,
    },
    #[error("the file of embeddings: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

#[derive(Debug)]
pub struct VectorCache(Connection);

impl VectorCache {
    pub fn open(path: &Path) -> Result<Self, VectorCacheError> {
        let not = |reason: String| VectorCacheError::NotACache {
            path: path.to_owned(),
            reason,
        };
        if let Some(kind) = std::fs::metadata(path)
            .ok()
            .and_then(|found| file::odd_kind(&found))
        {
            return Err(not(format!("it is {kind}")));
        }
        // Create the file before SQLite does, which would let others read it. If that fails, SQLite
        // reports why.
        drop(file::create_new(path));
        let connection = Connection::open(path).map_err(|error| not(error.to_string()))?;
        // The file may come from anyone, so nothing in it may be executed.
        for (option, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(option, on)?;
        }
        connection.busy_timeout(Duration::from_secs(10))?;
        let (id, tables): (i64, i64) = connection
            .query_row(
                "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM \
                 pragma_application_id",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| not(error.to_string()))?;
        if id != APPLICATION_ID && (id, tables) != (0, 0) {
            return Err(not("it is another database".to_owned()));
        }
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT;
             CREATE TABLE IF NOT EXISTS served (embedder BLOB PRIMARY KEY, model TEXT NOT NULL) \
             STRICT",
        )?;
        Ok(Self(connection))
    }

    /// The vector of a text, if cached.
    pub fn get(&self, key: &[u8; 32]) -> Result<Option<Vec<f32>>, VectorCacheError> {
        let mut statement = self
            .0
            .prepare_cached("SELECT vector FROM vector WHERE key = ?1")?;
        let bytes: Option<Vec<u8>> = statement.query_row([key], |row| row.get(0)).optional()?;
        let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
        Ok(bytes.map(|bytes| bytes.as_chunks().0.iter().map(number).collect()))
    }

    /// The model that made an embedder's vectors, as reported by its server.
    pub fn served(&self, embedder: &[u8; 32]) -> Result<Option<String>, VectorCacheError> {
        let sql = "SELECT model FROM served WHERE embedder = ?1";
        let mut statement = self.0.prepare_cached(sql)?;
        Ok(statement
            .query_row([embedder], |row| row.get(0))
            .optional()?)
    }

    /// Stores vectors of an embedder, whose server reports `model`; they are on disk when this
    /// returns.
    ///
    /// # Errors
    /// The embedder's stored vectors were made by another model.
    pub fn put<'a>(
        &mut self,
        embedder: &[u8; 32],
        model: Option<&str>,
        vectors: impl IntoIterator<Item = (&'a [u8; 32], &'a Vec<f32>)>,
    ) -> Result<(), VectorCacheError> {
        let transaction = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(served) = model {
            transaction.execute(
                "INSERT OR IGNORE INTO served (embedder, model) VALUES (?1, ?2)",
                (embedder, served),
            )?;
            let sql = "SELECT model FROM served WHERE embedder = ?1";
            let known: String = transaction.query_row(sql, [embedder], |row| row.get(0))?;
            if known != served {
                return Err(VectorCacheError::AnotherModel {
                    path: transaction.path().unwrap_or_default().into(),
                    known,
                    served: served.to_owned(),
                });
            }
        }
        {
            let mut statement = transaction
                .prepare_cached("INSERT OR REPLACE INTO vector (key, vector) VALUES (?1, ?2)")?;
            for (key, vector) in vectors {
                let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                statement.execute((key, bytes))?;
            }
        }
        Ok(transaction.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_bit_for_bit_and_other_databases_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        let vector = vec![0.1f32, -0.0, f32::MIN_POSITIVE];
        let mut cache = VectorCache::open(&path).unwrap();
        let embedder = [9; 32];
        cache.put(&embedder, None, [(&[1; 32], &vector)]).unwrap();
        drop(cache);
        let mut cache = VectorCache::open(&path).unwrap();
        assert_eq!(cache.get(&[1; 32]).unwrap(), Some(vector.clone()));
        assert_eq!(cache.get(&[2; 32]).unwrap(), None);

        assert_eq!(cache.served(&embedder).unwrap(), None);
        for model in [Some("bge"), None, Some("bge")] {
            cache.put(&embedder, model, [(&[3; 32], &vector)]).unwrap();
        }
        let error = cache
            .put(&embedder, Some("e5"), [(&[4; 32], &vector)])
            .unwrap_err();
        assert!(error.to_string().contains("as the model \"e5\""), "{error}");
        assert_eq!(cache.get(&[4; 32]).unwrap(), None);
        assert_eq!(cache.served(&embedder).unwrap().as_deref(), Some("bge"));
        cache
            .put(&[8; 32], Some("e5"), [(&[4; 32], &vector)])
            .unwrap();

        let other = folder.path().join("other.db");
        Connection::open(&other)
            .and_then(|db| db.execute_batch("CREATE TABLE t (x)"))
            .unwrap();
        std::fs::write(folder.path().join("text"), "not a database, by any means").unwrap();
        for name in ["other.db", "text"] {
            let error = VectorCache::open(&folder.path().join(name)).unwrap_err();
            assert!(error.to_string().contains("--vectors"), "{error}");
        }
    }
}
