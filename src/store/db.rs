//! One connection to the project, and work that is kept whole or not at all.

use super::error::{Result, StoreError};
use super::schema;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One connection to the project.
#[derive(Debug)]
pub struct Db {
    pub(crate) connection: Connection,
}

impl Db {
    /// [`Db::atomically`] for work that may panic: the thread and the connection outlive it.
    pub(super) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = catch_unwind(AssertUnwindSafe(|| self.atomically(work)));
        result.unwrap_or_else(|_| {
            drop(
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step"),
            );
            Err(StoreError::Corrupt(
                "a request to the project failed; the log has more".to_owned(),
            ))
        })
    }

    /// A project in memory, for trying something out.
    pub(crate) fn scratch() -> Result<Self> {
        let connection = schema::open_in_memory()?;
        Ok(Self { connection })
    }

    /// Runs `work` and keeps nothing of what it did.
    pub(crate) fn rehearsed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT rehearsal")?;
        let result = work(self);
        self.connection
            .execute_batch("ROLLBACK TO rehearsal; RELEASE rehearsal")?;
        result
    }

    /// Runs `work` inside a savepoint: all of it or none of it is kept.
    pub(crate) fn atomically<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT step")?;
        match work(self) {
            Ok(value) => {
                self.connection.execute_batch("RELEASE step")?;
                Ok(value)
            }
            // On a full disk SQLite may have taken back everything already, this savepoint with it.
            Err(error) if self.connection.is_autocommit() => Err(error),
            Err(error) => {
                self.connection
                    .execute_batch("ROLLBACK TO step; RELEASE step")?;
                Err(error)
            }
        }
    }

    /// Lets rows name others that come later in the same transaction.
    pub(crate) fn defer_foreign_keys(&self) -> Result<()> {
        Ok(self
            .connection
            .pragma_update(None, "defer_foreign_keys", true)?)
    }
}
