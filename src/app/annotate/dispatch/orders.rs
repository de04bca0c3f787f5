//! Measures the effect of document order on the judges while their probe is running.

use super::{Dispatcher, OrderWatch};
use crate::app::annotate::error::RunError;
use crate::store::StoreError;
use crate::store::corpus::QueryKey;
use std::time::Duration;
use tokio::time::Instant;

/// Interval between updates while calls of the probe are pending.
const READ_EVERY: Duration = Duration::from_secs(1);

impl Dispatcher {
    /// Reads the data known before the run; `waiting` are the queries in run order.
    pub(super) async fn watch_orders(
        &mut self,
        all: &[QueryKey],
        waiting: &[QueryKey],
    ) -> Result<(), RunError> {
        let probed: Vec<QueryKey> = self
            .probed
            .iter()
            .filter_map(|at| waiting.get(*at))
            .copied()
            .collect();
        let mut others = all.to_vec();
        others.retain(|query| !probed.contains(query));
        let judges = self.judge_ids();
        let keys = probed.clone();
        let (before, pairs) = self
            .store
            .read(move |db| {
                let pairs = keys.iter().map(|key| Ok(db.probed_pairs(*key)?.len()));
                let pairs = pairs.sum::<Result<usize, StoreError>>()?;
                Ok((db.both_orders(&judges, Some(&others))?, pairs))
            })
            .await?;
        self.orders = OrderWatch {
            before,
            probed,
            pairs,
            ..OrderWatch::default()
        };
        self.read_orders().await
    }

    /// Rereads the judges' answers on pairs in both orders now and then while their probe is
    /// running.
    pub(super) async fn follow_orders(&mut self) -> Result<(), RunError> {
        let is_over = self
            .ensemble
            .iter()
            .zip(&self.orders.now)
            .filter(|(judge, _)| !judge.spec().is_offline())
            .all(|(_, now)| now.pairs() >= self.orders.pairs);
        let due = |read: Instant| read.elapsed() >= READ_EVERY;
        if !is_over && self.orders.read.is_none_or(due) {
            self.read_orders().await
        } else {
            Ok(())
        }
    }

    pub(super) async fn read_orders(&mut self) -> Result<(), RunError> {
        let (judges, probed) = (self.judge_ids(), self.orders.probed.clone());
        let now = self
            .store
            .read(move |db| db.both_orders(&judges, Some(&probed)))
            .await?;
        let known = now.iter().zip(&self.orders.before);
        for (judge, (now, before)) in self.progress.judges.iter_mut().zip(known) {
            judge.both_orders = *before;
            judge.both_orders.join(*now);
        }
        self.orders.now = now;
        self.orders.read = Some(Instant::now());
        Ok(())
    }
}
