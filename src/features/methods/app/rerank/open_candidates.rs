//! The candidates that methods are currently using; those of a query are read once for all methods.

use super::candidates::Candidates;
use super::plan::RerankPlan;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

#[derive(Debug, Default)]
pub(super) struct OpenCandidates {
    open: HashMap<QueryKey, Weak<Candidates>>,
}

impl OpenCandidates {
    pub(super) async fn of(
        &mut self,
        store: &Store,
        plan: &Arc<RerankPlan>,
        key: QueryKey,
    ) -> Result<Arc<Candidates>, StoreError> {
        if let Some(known) = self.open.get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let plan = Arc::clone(plan);
        let read = store.read(move |db| plan.candidates.read(db, key)).await?;
        let read = Arc::new(read);
        self.open.retain(|_, pool| pool.strong_count() > 0);
        self.open.insert(key, Arc::downgrade(&read));
        Ok(read)
    }
}
