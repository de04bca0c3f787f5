//! One connection to the project, and all-or-nothing execution of work on it.

use super::error::{Result, StoreError};
use super::file;
use super::replies::Replies;
use super::schema;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// One connection to the project.
#[derive(Debug)]
pub struct Db {
    pub(crate) connection: Connection,
    pub(super) replies: Replies,
    /// Keys of queries whose rows were checked for consistency.
    pub(super) checked: RefCell<HashSet<i64>>,
}

impl Db {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            replies: Replies::default(),
            checked: RefCell::default(),
        }
    }

    /// Executes a statement and returns the number of changed rows.
    pub(crate) fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(values)?)
    }

    /// The only row, which must exist.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(self
            .connection
            .prepare_cached(sql)?
            .query_row(values, read)?)
    }

    /// The first row, if any.
    pub(crate) fn maybe<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(values, read).optional()?)
    }

    /// The first column of [`Db::one`].
    pub(crate) fn value<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<T> {
        self.one(sql, values, |row| row.get(0))
    }

    /// The first column of [`Db::maybe`].
    pub(crate) fn maybe_value<T: FromSql>(
        &self,
        sql: &str,
        values: impl Params,
    ) -> Result<Option<T>> {
        self.maybe(sql, values, |row| row.get(0))
    }

    /// All rows.
    pub(crate) fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(values, read)?;
        Ok(rows.collect::<rusqlite::Result<C>>()?)
    }

    /// [`Db::atomically`] for work that may panic: the thread and the connection survive. An error
    /// names its cause if the file reveals it.
    pub(super) fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(|| self.atomically(work)))
            .unwrap_or_else(|_| Err(self.after_panic()))
            .map_err(|error| self.narrowed(error))
    }

    /// Rolls back the work that panicked.
    fn after_panic(&mut self) -> StoreError {
        drop(
            self.connection
                .execute_batch("ROLLBACK TO step; RELEASE step"),
        );
        self.damage_or(StoreError::Internal(
            "a request to the project failed; the log (--log-file) has more".to_owned(),
        ))
    }

    fn narrowed(&self, error: StoreError) -> StoreError {
        match self.connection.path() {
            Some(path) => file::narrowed(Path::new(path), error),
            None => error,
        }
    }

    /// The damage found in the project, or else `error`: inconsistent rows can cause errors that no
    /// code expects.
    fn damage_or(&self, error: StoreError) -> StoreError {
        match self.damage() {
            Ok(damage) if damage.is_empty() => error,
            Ok(damage) => StoreError::Corrupt(damage.join("; ")),
            Err(damaged) => damaged,
        }
    }

    /// An in-memory project for experiments.
    pub(crate) fn scratch() -> Result<Self> {
        Ok(Self::new(schema::open_in_memory()?))
    }

    /// Runs `work` and rolls back all its changes.
    pub(crate) fn rehearsed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT rehearsal")?;
        let result = work(self);
        self.connection
            .execute_batch("ROLLBACK TO rehearsal; RELEASE rehearsal")?;
        result
    }

    /// Runs `work` inside a savepoint, so that either all of it is kept or none.
    pub(crate) fn atomically<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin_step()?;
        let result = work(self);
        self.end_step(result.is_ok())?;
        result
    }

    /// Runs `work` inside a savepoint, and keeps its changes only if it also returns true.
    pub(crate) fn kept_if<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(T, bool)>,
    ) -> Result<T> {
        self.begin_step()?;
        let result = work(self);
        self.end_step(matches!(result, Ok((_, true))))?;
        result.map(|(value, _)| value)
    }

    fn begin_step(&self) -> Result<()> {
        Ok(self.connection.execute_batch("SAVEPOINT step")?)
    }

    fn end_step(&self, is_kept: bool) -> Result<()> {
        // On a full disk, SQLite may already have rolled back everything, including this savepoint.
        if is_kept {
            self.connection.execute_batch("RELEASE step")?;
        } else if !self.connection.is_autocommit() {
            self.connection
                .execute_batch("ROLLBACK TO step; RELEASE step")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rehearsal_leaves_nothing() {
        let mut db = Db::scratch().unwrap();
        let told = db.rehearsed(|db| {
            db.remember("a", "1")?;
            db.remembered("a")
        });
        assert_eq!(told.unwrap().as_deref(), Some("1"));
        assert_eq!(db.remembered("a").unwrap(), None);
    }
}
