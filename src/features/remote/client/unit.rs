//! A unit of the work of a job.

use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

/// A leased unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub id: i32,
    pub query: String,
    /// The round of the query that it is a part of, if pairs are chosen in rounds.
    #[serde(default)]
    pub round: Option<i32>,
    /// The part of the query's plan or of the round; `None` for the whole query, or for planning
    /// the round.
    pub part: Option<i32>,
}

impl Unit {
    /// Reads the columns `id`, `query`, `round` and `part`.
    pub(super) fn of_row(row: Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            id: row.try_get(0)?,
            query: row.try_get(1)?,
            round: row.try_get(2)?,
            part: row.try_get(3)?,
        })
    }

    /// Whether it stands for planning a round, and not for calls.
    pub fn is_planning(&self) -> bool {
        self.round.is_some() && self.part.is_none()
    }
}
