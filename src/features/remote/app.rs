//! Working on a shared job, and fetching its answers.

pub mod background;
pub mod fetch;
mod identity;
mod job;
mod lessee;
mod planner;
mod query_worker;
pub mod servers;
mod shared_queries;
mod shared_run;
pub mod sync;
pub mod team;
pub mod watch;
mod worker;

pub use job::{SharedQuery, open_job, queries, terms};
pub use query_worker::{QueriesEnd, QueryFront, take_part_in_queries};
pub use shared_queries::{SharedQueries, open_queries_job};
pub use shared_run::SharedRun;
pub use worker::{Participation, take_part};

use crate::app::error::AppError;
use crate::features::remote::client::ServerError;

impl From<ServerError> for AppError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Address(why) => Self::Invalid(why),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// Millionths of a dollar, rounded up.
pub fn micros(usd: f64) -> i64 {
    (usd * 1e6).ceil() as i64
}

/// Dollars.
pub fn dollars(micros: i64) -> f64 {
    micros as f64 / 1e6
}
