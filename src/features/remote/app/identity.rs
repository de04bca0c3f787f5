//! Which worker of a job a project is.

use crate::client::now_ms;
use crate::features::remote::client::{Job, Unit};
use crate::store::file::inode;
use crate::store::{Db, Result, StoreError};
use serde::{Deserialize, Serialize};
use std::path::Path;
use uuid::Uuid;

/// A worker of a job, as stored in its project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) worker: Uuid,
    /// The number of the project file; a copy of the file is another worker.
    file: Option<u64>,
    /// When it joined first, in milliseconds since the Unix epoch.
    pub(super) joined_ms: i64,
    /// The spending of the project that is not this worker's, in dollars.
    pub(super) other_usd: f64,
    /// The worst case of open calls in the last report, in dollars.
    #[serde(default)]
    pub(super) open_usd: f64,
    /// The spending of the project when this worker ended in order, in dollars; `None` while it
    /// works, or if it was killed.
    #[serde(default)]
    ended_usd: Option<f64>,
    /// Units whose last answers may not be on the server.
    pub(super) unsent: Vec<Unit>,
}

fn setting(job: &Job) -> String {
    format!("remote job {}", job.uid)
}

impl Identity {
    /// The worker that the project is; `None` if it has not worked on the job.
    pub(super) fn known(db: &Db, job: &Job) -> Result<Option<Self>> {
        let known = db.remembered(&setting(job))?;
        let known = known.map(|text| serde_json::from_str(&text));
        known.transpose().map_err(|error| {
            StoreError::Corrupt(format!("the worker of the job cannot be read: {error}"))
        })
    }

    /// The worker that the project is, or becomes now.
    pub(super) fn take(db: &Db, project: &Path, job: &Job) -> Result<Self> {
        let file = inode(project);
        if let Some(mut known) = Self::known(db, job)?.filter(|known| known.file == file) {
            if let Some(ended_usd) = known.ended_usd.take() {
                // The project was used for something else since.
                known.other_usd += db.committed_usd()? - ended_usd;
                known.keep(db, job)?;
            }
            return Ok(known);
        }
        let new = Self {
            worker: Uuid::now_v7(),
            file,
            joined_ms: now_ms(),
            other_usd: db.committed_usd()?,
            open_usd: 0.0,
            ended_usd: None,
            unsent: Vec::new(),
        };
        new.keep(db, job)?;
        Ok(new)
    }

    /// Notes that the worker has ended in order.
    pub(super) fn end(db: &Db, job: &Job) -> Result<()> {
        let committed_usd = db.committed_usd()?;
        Self::change(db, job, |worker| worker.ended_usd = Some(committed_usd))
    }

    /// Changes the worker as it is stored.
    pub(super) fn change(db: &Db, job: &Job, change: impl FnOnce(&mut Self)) -> Result<()> {
        let Some(mut known) = Self::known(db, job)? else {
            return Ok(());
        };
        change(&mut known);
        known.keep(db, job)
    }

    /// Notes units whose answers are to be stored on the server.
    pub(super) fn owe(&mut self, units: Vec<Unit>) {
        for unit in units {
            if !self.unsent.contains(&unit) {
                self.unsent.push(unit);
            }
        }
    }

    pub(super) fn keep(&self, db: &Db, job: &Job) -> Result<()> {
        db.remember(&setting(job), &serde_json::to_string(self)?)
    }

    /// The spending of the worker in dollars, with the worst case of open calls.
    pub(super) fn spent_usd(&self, db: &Db) -> Result<f64> {
        Ok((db.committed_usd()? - self.other_usd).max(0.0))
    }
}
