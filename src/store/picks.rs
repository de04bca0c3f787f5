//! Picks: judges' answers about whole pools.

use super::corpus::QueryKey;
use super::days::AskedDay;
use super::{Db, Result, StoreError};
use crate::domain::adjudication::PickRecord;
use rusqlite::params;

impl Db {
    /// Stores the result of a judge's call about a pool. Returns whether it was new.
    ///
    /// # Errors
    /// The project does not have the query.
    pub fn add_pick(&self, record: &PickRecord) -> Result<bool> {
        let query = self.find_query(record.query.as_str())?;
        let text = serde_json::to_string(record)
            .map_err(|error| StoreError::Corrupt(format!("a pick cannot be written: {error}")))?;
        let added = self.change(
            "INSERT INTO pick (query, permutation, call, attempt, created_ms, record)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            params![
                query.0,
                record.permutation,
                record.call,
                record.attempt,
                record.created_ms,
                text
            ],
        )?;
        Ok(added > 0)
    }

    /// All picks, in the order in which they arrived.
    pub fn picks(&self) -> Result<Vec<PickRecord>> {
        self.some_picks(None)
    }

    /// The picks of a query, in the order in which they arrived.
    pub fn picks_of(&self, query: QueryKey) -> Result<Vec<PickRecord>> {
        self.some_picks(Some(query))
    }

    /// The judges' calls about pools, for one query or all, by judge and day.
    pub fn pick_days(&self, query: Option<QueryKey>) -> Result<Vec<AskedDay>> {
        self.all(
            "SELECT record ->> '$.judge' AS judge, date(created_ms / 1000, 'unixepoch') AS day,
             count(*),
                 count(record ->> '$.failure'), count(DISTINCT query),
                 CASE WHEN count(record ->> '$.cost_usd') = count(*) THEN sum(record ->> '$.cost_usd') END,
                 sum(record ->> '$.latency_ms') / 1000.0,
                 max(created_ms), min(call) || ' ' || max(created_ms)
             FROM pick WHERE ?1 IS NULL OR query = ?1
             GROUP BY judge, day ORDER BY judge, day",
            [query.map(|query| query.0)],
            AskedDay::read,
        )
    }

    fn some_picks(&self, query: Option<QueryKey>) -> Result<Vec<PickRecord>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT record FROM pick WHERE ?1 IS NULL OR query = ?1 ORDER BY id")?;
        let key = query.map(|query| query.0);
        let texts = statement.query_map([key], |row| row.get::<_, String>(0))?;
        texts
            .map(|text| {
                serde_json::from_str(&text?)
                    .map_err(|error| StoreError::Corrupt(format!("a pick cannot be read: {error}")))
            })
            .collect()
    }
}
