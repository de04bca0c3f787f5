//! The calls and answers of one day, as the log shows them.

use rusqlite::Row;

/// A judge's answers on one day (UTC) for score calibration across queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleDay {
    pub judge: String,
    /// Number of graded documents or answered links.
    pub answers: usize,
    /// Number of queries that they belong to.
    pub queries: usize,
    /// Time of the last answer in milliseconds since the Unix epoch.
    pub last_ms: i64,
    /// The smallest UID among the answers, which no other day shares.
    pub uid: String,
}

impl ScaleDay {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            judge: row.get(0)?,
            answers: row.get(2)?,
            queries: row.get(3)?,
            last_ms: row.get(4)?,
            uid: row.get(5)?,
        })
    }
}

/// Calls on one day (UTC): of a judge about pools, or of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedDay {
    /// The judge, or the method with its judges.
    pub name: String,
    pub calls: usize,
    /// Calls that ended without an answer.
    pub failed: usize,
    /// Number of queries concerned.
    pub queries: usize,
    /// Cost of all calls in US dollars; `None` if the price of any call is unknown.
    pub cost_usd: Option<f64>,
    /// Total latency of all calls in seconds; `None` if that of any call is unknown.
    pub seconds: Option<f64>,
    /// Time at which the last call ended, in milliseconds since the Unix epoch.
    pub last_ms: i64,
    /// Unique to this day.
    pub uid: String,
}

impl AskedDay {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            calls: row.get(2)?,
            failed: row.get(3)?,
            queries: row.get(4)?,
            cost_usd: row.get(5)?,
            seconds: row.get(6)?,
            last_ms: row.get(7)?,
            uid: row.get(8)?,
        })
    }
}
