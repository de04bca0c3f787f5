//! Context shared by all judges of a run: the plan's queries, and the texts of those in progress.

use super::error::RunError;
use super::request::RunRequest;
use crate::client::{RunControl, lock};
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec, PoolText};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::runs::RunId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::watch;

/// Number of pools kept in memory between their rounds.
const KEPT: usize = 16;

/// Context shared by all question sources of a run.
#[derive(Debug)]
pub(super) struct RunContext {
    pub(super) store: Store,
    pub(super) run: RunId,
    pub(super) ensemble: JudgeEnsemble,
    pub(super) judges: Vec<JudgeId>,
    pub(super) specs: Vec<JudgeSpec>,
    pub(super) request: RunRequest,
    pub(super) queries: Vec<QueryKey>,
    /// Indices of the queries with pairs to probe.
    pub(super) probed: Vec<usize>,
    pub(super) control: watch::Receiver<RunControl>,
    pub(super) pools: Mutex<HashMap<QueryKey, Weak<PoolText>>>,
    /// The most recent pools, whose queries may have further rounds.
    pub(super) kept: Mutex<VecDeque<Arc<PoolText>>>,
}

impl RunContext {
    /// A query's texts, which are loaded once while any judge works on them.
    pub(super) async fn pool(&self, query: QueryKey) -> Result<Arc<PoolText>, RunError> {
        let known =
            |pools: &HashMap<QueryKey, Weak<PoolText>>| pools.get(&query).and_then(Weak::upgrade);
        if let Some(pool) = known(&lock(&self.pools)) {
            return Ok(pool);
        }
        // Offline judges compute term weights over the whole pool; others need only the texts they
        // are shown.
        let lexical = self.ensemble.iter().any(|judge| judge.spec().is_offline());
        let depth = self.request.text_depth().filter(|_| !lexical);
        let pool = self
            .store
            .read(move |db| db.pool_text(query, depth))
            .await?;
        let pool = Arc::new(pool);
        if lexical {
            // The first analysis of a large pool takes a while and would block all other tasks.
            let analyzed = Arc::clone(&pool);
            tokio::task::spawn_blocking(move || {
                analyzed.analysis();
            })
            .await
            .map_err(|error| RunError::Crashed(error.to_string()))?;
        }
        // Check again: no lock was held while the text was read, so another judge may have loaded
        // it, and two copies of a large pool would stay in memory.
        let mut pools = lock(&self.pools);
        if let Some(pool) = known(&pools) {
            return Ok(pool);
        }
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(query, Arc::downgrade(&pool));
        if self.request.rounds().is_some() {
            let mut kept = lock(&self.kept);
            kept.push_back(Arc::clone(&pool));
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        Ok(pool)
    }
}
