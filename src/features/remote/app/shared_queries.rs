//! A job of a command that asks about queries: each unit is a query.

use super::job::{create_job, existing_job};
use crate::app::error::{AppError, invalid};
use crate::app::run_lock::RunLock;
use crate::app::shared_questions::SharedQuestions;
use crate::client::RunControl;
use crate::features::remote::client::{Address, Job, NewUnit, Server};
use crate::store::Store;
use crate::store::merge::Terms;
use std::sync::Arc;
use std::time::Duration;

/// Questions about queries that are shared with others.
pub struct SharedQueries {
    pub address: Address,
    pub job: Job,
    /// How long a lease lasts without a sign of life.
    pub lease: Duration,
    pub store: Store,
    pub lock: Arc<RunLock>,
    pub questions: Arc<dyn SharedQuestions>,
    pub control: RunControl,
    /// The name of this worker for people.
    pub name: String,
}

/// The job with this name, which is created if there is none. An existing job must have the same
/// terms.
///
/// # Errors
/// The job has other terms, or there is nothing to do.
pub async fn open_queries_job(
    server: &mut Server,
    name: &str,
    terms: &Terms,
    budget: Option<i64>,
    queries: Vec<String>,
) -> Result<Job, AppError> {
    if server.job(name).await?.is_none() {
        let units: Vec<NewUnit> = queries.into_iter().map(NewUnit::whole).collect();
        if units.is_empty() {
            return Err(invalid!("there is no query to ask about"));
        }
        create_job(server, name, terms, budget, &units).await?;
    }
    existing_job(server, name, terms, budget).await
}
