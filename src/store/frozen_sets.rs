//! Pairs that were chosen once, so that a judge can be asked about them again. Rows are only added;
//! the answers are calls outside runs. Features have separate tables with these columns.

use super::{Db, Result};
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::QueryId;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::Margin;
use rusqlite::{Row, params};

/// Pairs that were chosen for a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenSet {
    /// Globally unique.
    pub uid: String,
    /// The name of the judge.
    pub judge: String,
    /// Hash of the judge with its model, prompt and parameters.
    pub identity: [u8; 32],
    /// The model in its configuration.
    pub model: String,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl FrozenSet {
    pub(crate) const COLUMNS: &str = "uid, judge, identity, model, author, created_ms";

    /// Reads a row of [`Self::COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            uid: row.get(0)?,
            judge: row.get(1)?,
            identity: row.get(2)?,
            model: row.get(3)?,
            author: row.get(4)?,
            created_ms: row.get(5)?,
        })
    }
}

/// The tables of a feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrozenTables {
    /// The table of sets, and the column of `pairs` that refers to it.
    pub(crate) sets: &'static str,
    pub(crate) pairs: &'static str,
}

impl Db {
    /// Stores a set with its pairs unless it is known. Returns whether it is new.
    pub(crate) fn add_frozen_set(
        &self,
        FrozenTables { sets, pairs }: FrozenTables,
        set: &FrozenSet,
        chosen: &[FrozenPair],
    ) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO {sets} (uid, judge, identity, model, author, created_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
            ),
            params![
                set.uid,
                set.judge,
                &set.identity[..],
                set.model,
                stored_annotator_name(&set.author),
                set.created_ms,
            ],
        )?;
        if added == 0 {
            return Ok(false);
        }
        let insert = format!(
            "INSERT OR IGNORE INTO {pairs} ({sets}, place, query, first, second, key, vote)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        );
        for (place, pair) in chosen.iter().enumerate() {
            self.change(
                &insert,
                params![
                    set.uid,
                    place,
                    pair.query.as_str(),
                    pair.documents[0].as_str(),
                    pair.documents[1].as_str(),
                    &pair.key[..],
                    pair.vote.map(Margin::get),
                ],
            )?;
        }
        Ok(true)
    }

    /// The pairs of a set, in their order.
    pub(crate) fn frozen_pairs(
        &self,
        FrozenTables { sets, pairs }: FrozenTables,
        set: &str,
    ) -> Result<Vec<FrozenPair>> {
        self.all(
            &format!(
                "SELECT query, first, second, key, vote FROM {pairs} WHERE {sets} = ?1
                 ORDER BY place"
            ),
            [set],
            |row| {
                Ok(FrozenPair {
                    query: QueryId::new(row.get::<_, String>(0)?),
                    documents: [row.get(1)?, row.get(2)?],
                    key: row.get(3)?,
                    vote: row.get(4)?,
                })
            },
        )
    }
}
