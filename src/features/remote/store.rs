//! What the feature reads and keeps in a project.

mod items;
mod judgments;
mod shared;

pub use items::{Item, check_query_name};
pub use judgments::{JudgmentRows, RefusedJudgment, judgments_as_project, text_hash};
pub use shared::{Shared, Unsynced};

use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

impl Db {
    /// Number of votes and failures on a query, which grows with each of them.
    pub fn kept_calls(&self, query: QueryKey) -> Result<i64> {
        self.value(
            "SELECT coalesce(sum(votes + failures), 0) FROM call_total WHERE query = ?1",
            [query.0],
        )
    }
}
