//! Frozen pairs of judges and the rounds in which they were asked. Rows are only added; the answers
//! are calls outside runs.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::QueryId;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::{JudgeId, Margin};
use crate::store::{Db, Result};
use rusqlite::{Row, params};

/// Pairs on which a judge is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSet {
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

/// A round in which a judge is asked about all pairs of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRound {
    pub number: usize,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

const SET: &str = "uid, judge, identity, model, author, created_ms";

fn read_set(row: &Row<'_>) -> rusqlite::Result<StoredSet> {
    Ok(StoredSet {
        uid: row.get(0)?,
        judge: row.get(1)?,
        identity: row.get(2)?,
        model: row.get(3)?,
        author: row.get(4)?,
        created_ms: row.get(5)?,
    })
}

impl Db {
    /// Stores a set with its pairs unless it is known. Returns whether it is new.
    pub fn add_drift_set(&self, set: &StoredSet, pairs: &[FrozenPair]) -> Result<bool> {
        let added = self.change(
            &format!("INSERT OR IGNORE INTO drift_set ({SET}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
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
        for (place, pair) in pairs.iter().enumerate() {
            self.change(
                "INSERT OR IGNORE INTO drift_pair (drift_set, place, query, first, second, key, vote)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
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

    /// Stores a round. Returns whether it is new: a known one stays as it is.
    pub fn add_drift_round(&self, set: &str, round: &StoredRound) -> Result<bool> {
        let added = self.change(
            "INSERT OR IGNORE INTO drift_round (drift_set, number, author, created_ms)
             VALUES (?1, ?2, ?3, ?4)",
            params![
                set,
                round.number,
                stored_annotator_name(&round.author),
                round.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// All sets, the one that was asked last first.
    pub fn drift_sets(&self) -> Result<Vec<StoredSet>> {
        self.all(
            &format!(
                "SELECT {SET} FROM drift_set
                 ORDER BY (SELECT max(drift_round.created_ms) FROM drift_round
                           WHERE drift_round.drift_set = uid) DESC, created_ms DESC, uid DESC"
            ),
            [],
            read_set,
        )
    }

    /// The pairs of a set, in their order.
    pub fn drift_pairs(&self, set: &str) -> Result<Vec<FrozenPair>> {
        self.all(
            "SELECT query, first, second, key, vote FROM drift_pair WHERE drift_set = ?1
             ORDER BY place",
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

    /// The rounds of a set, in their order.
    pub fn drift_rounds(&self, set: &str) -> Result<Vec<StoredRound>> {
        self.all(
            "SELECT number, author, created_ms FROM drift_round WHERE drift_set = ?1
             ORDER BY number",
            [set],
            |row| {
                Ok(StoredRound {
                    number: row.get(0)?,
                    author: row.get(1)?,
                    created_ms: row.get(2)?,
                })
            },
        )
    }

    /// The fingerprints of a judge's weights that have replaced others since this time.
    pub fn weights_replaced_since(&self, judge: JudgeId, since_ms: i64) -> Result<Vec<String>> {
        self.all(
            "SELECT fingerprint
             FROM (SELECT *, lag(fingerprint) OVER (ORDER BY seen_ms, id) AS before
                   FROM judge_weights WHERE judge = ?1)
             WHERE seen_ms > ?2 AND before IS NOT NULL AND before != fingerprint",
            params![judge.0, since_ms],
            |row| row.get(0),
        )
    }
}
