//! A run whose work is shared.

use super::job::SharedQuery;
use crate::app::annotate::RunRequest;
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::features::remote::client::{Address, Job};
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::sync::Arc;
use std::time::Duration;

/// A run whose work is shared with others.
#[derive(Debug)]
pub struct SharedRun {
    pub address: Address,
    pub job: Job,
    /// How long a lease lasts without a sign of life.
    pub lease: Duration,
    pub store: Store,
    pub lock: Arc<RunLock>,
    pub ensemble: JudgeEnsemble,
    pub request: RunRequest,
    pub control: RunControl,
    /// The queries of the dataset with their keys in the project.
    pub queries: Vec<(SharedQuery, QueryKey)>,
    /// The maximum cost of a call in dollars, if known.
    pub worst_usd: Option<f64>,
    /// The name of this worker for people.
    pub name: String,
}
