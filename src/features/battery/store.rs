//! Batteries of judges: their pairs, chosen once. Rows are only added; the answers are calls outside
//! runs.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::QueryId;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::Margin;
use crate::store::{Db, Result};
use rusqlite::params;

/// Pairs about which a judge is asked with manipulated texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBattery {
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

const BATTERY: &str = "uid, judge, identity, model, author, created_ms";

impl Db {
    /// Stores a battery with its pairs unless it is known. Returns whether it is new.
    pub fn add_battery(&self, battery: &StoredBattery, pairs: &[FrozenPair]) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO battery_set ({BATTERY}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
            ),
            params![
                battery.uid,
                battery.judge,
                &battery.identity[..],
                battery.model,
                stored_annotator_name(&battery.author),
                battery.created_ms,
            ],
        )?;
        if added == 0 {
            return Ok(false);
        }
        for (place, pair) in pairs.iter().enumerate() {
            self.change(
                "INSERT OR IGNORE INTO battery_pair (battery_set, place, query, first, second, key,
                 vote) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    battery.uid,
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

    /// All batteries, the latest first.
    pub fn batteries(&self) -> Result<Vec<StoredBattery>> {
        self.all(
            &format!("SELECT {BATTERY} FROM battery_set ORDER BY created_ms DESC, uid DESC"),
            [],
            |row| {
                Ok(StoredBattery {
                    uid: row.get(0)?,
                    judge: row.get(1)?,
                    identity: row.get(2)?,
                    model: row.get(3)?,
                    author: row.get(4)?,
                    created_ms: row.get(5)?,
                })
            },
        )
    }

    /// The pairs of a battery, in their order.
    pub fn battery_pairs(&self, battery: &str) -> Result<Vec<FrozenPair>> {
        self.all(
            "SELECT query, first, second, key, vote FROM battery_pair WHERE battery_set = ?1
             ORDER BY place",
            [battery],
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
