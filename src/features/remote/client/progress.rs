//! How much of a job is left, and for how many workers.

use super::error::ServerError;
use super::jobs::{Job, SILENT_S};
use super::server::Server;

/// What is left of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRest {
    /// Number of units that are not done, whoever has leased them.
    pub unfinished: i64,
    /// Those among them that the worker has not put aside.
    pub not_aside: i64,
    /// Number of workers that have not ended and were heard of lately.
    pub workers: i64,
}

impl Server {
    /// What is left of a job for a worker that has put these units aside.
    pub async fn rest(&self, job: &Job, aside: &[i32]) -> Result<JobRest, ServerError> {
        let row = self
            .answer(self.client.query_one(
                "SELECT count(*), count(*) FILTER (WHERE id <> ALL ($3)),
                     (SELECT count(*) FROM overrule.worker WHERE job = $1 AND ended IS NULL
                         AND seen > now() - $2 * interval '1 second')
                 FROM overrule.unit WHERE job = $1 AND NOT done",
                &[&job.id, &SILENT_S, &aside],
            ))
            .await?;
        let rest = || {
            Ok(JobRest {
                unfinished: row.try_get(0)?,
                not_aside: row.try_get(1)?,
                workers: row.try_get(2)?,
            })
        };
        rest().map_err(|error| self.error(&error))
    }
}
