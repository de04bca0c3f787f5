//! Refits queries whose votes have changed.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::app::annotate::progress::RunPhase;
use crate::store::Db;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::summary_cache::KeptExtent;
use tokio::sync::watch;

impl Dispatcher {
    /// Refits a query and stores its summary.
    pub(super) async fn summarize(&self, query: QueryKey) -> Result<(), RunError> {
        self.store.summarize(query).await?;
        Ok(())
    }

    /// Estimates the prior and the noise of the battles once all votes are in. The prior affects
    /// the scores of every query, and both affect its intervals.
    pub(super) async fn estimate_dispersion(
        &mut self,
        ensemble: EnsembleId,
    ) -> Result<(), RunError> {
        let basis = self
            .store
            .read(move |db| {
                let basis = db.estimate_basis(ensemble)?;
                Ok((!db.is_estimated_from(ensemble, &basis)?).then_some(basis))
            })
            .await?;
        let Some(basis) = basis else {
            return Ok(());
        };
        let learned = self.store.read(move |db| db.learn_prior(ensemble)).await?;
        let changed = self
            .store
            .write(move |db| db.keep_prior(ensemble, learned))
            .await?;
        let mut times = i64::from(!changed.is_empty());
        self.summarize_all(changed, KeptExtent::Summary).await?;
        let changed = self
            .store
            .write(move |db| db.estimate_phi(ensemble))
            .await?;
        times += i64::from(!changed.is_empty());
        // No score changes after this, so compute the data of the judge cards as well.
        self.summarize_all(changed, KeptExtent::WithTally).await?;
        let done = move |db: &mut Db| db.estimated_from(ensemble, basis, times);
        self.store.write(done).await?;
        Ok(())
    }

    /// Refits queries on all cores and stores their summaries. After a cancel, the remaining ones
    /// stay marked as stale and are computed when someone looks at them.
    pub(super) async fn summarize_all(
        &mut self,
        queries: Vec<QueryKey>,
        extent: KeptExtent,
    ) -> Result<(), RunError> {
        if queries.is_empty() {
            return Ok(());
        }
        self.progress.enter(RunPhase::Refitting, queries.len());
        self.report(true);
        // Use separate threads: a fit here would block this task, and with it pause, cancel and the
        // screen.
        let (counts, mut counted) = watch::channel(0);
        let (store, control) = (self.store.clone(), self.control.clone());
        let work = tokio::task::spawn_blocking(move || {
            store.summarize_all(&queries, extent, |_, _| {
                counts.send_modify(|count| *count += 1);
                !control.borrow().cancelled
            })
        });
        // The channel closes when the work ends.
        while counted.changed().await.is_ok() {
            self.progress.step_done = *counted.borrow_and_update();
            self.report(false);
        }
        work.await
            .map_err(|error| RunError::Crashed(error.to_string()))??;
        Ok(())
    }
}
