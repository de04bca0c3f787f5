//! Frozen pairs of judges and the rounds in which they were asked. Rows are only added; the answers
//! are calls outside runs.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::JudgeId;
use crate::store::frozen_sets::{FrozenSet, FrozenTables};
use crate::store::{Db, Result};
use rusqlite::params;

/// A round in which a judge is asked about all pairs of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRound {
    pub number: usize,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

const TABLES: FrozenTables = FrozenTables {
    sets: "drift_set",
    pairs: "drift_pair",
};

impl Db {
    /// Stores a set with its pairs unless it is known. Returns whether it is new.
    pub fn add_drift_set(&self, set: &FrozenSet, pairs: &[FrozenPair]) -> Result<bool> {
        self.add_frozen_set(TABLES, set, pairs)
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
    pub fn drift_sets(&self) -> Result<Vec<FrozenSet>> {
        let columns = FrozenSet::COLUMNS;
        self.all(
            &format!(
                "SELECT {columns} FROM drift_set
                 ORDER BY (SELECT max(drift_round.created_ms) FROM drift_round
                           WHERE drift_round.drift_set = uid) DESC, created_ms DESC, uid DESC"
            ),
            [],
            FrozenSet::read,
        )
    }

    /// The pairs of a set, in their order.
    pub fn drift_pairs(&self, set: &str) -> Result<Vec<FrozenPair>> {
        self.frozen_pairs(TABLES, set)
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
