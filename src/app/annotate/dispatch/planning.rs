//! Stores the plan of every query before the first call.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::app::annotate::plan::{CallForecast, enter_plan, played_out, probe_shares, share};
use crate::app::annotate::request::RunRequest;
use crate::app::annotate::rounds::UnfinishedQuery;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::{Db, StoreError};
use std::collections::HashMap;
use std::sync::Arc;

/// Number of queries whose plans are stored in one transaction.
const PLANNED_TOGETHER: usize = 64;

impl Dispatcher {
    /// Stores every query's plan and returns the queries with calls to make.
    pub(super) async fn plan(
        &mut self,
        request: &RunRequest,
        ensemble: EnsembleId,
        queries: Vec<QueryKey>,
    ) -> Result<Vec<QueryKey>, RunError> {
        self.progress.queries = queries.len();
        let specs: Arc<[JudgeSpec]> = self.specs().into();
        let judges: Arc<[JudgeId]> = self.judge_ids().into();
        let request = Arc::new(request.clone());
        let (of, keys) = (Arc::clone(&specs), queries.clone());
        let asked = Arc::clone(&request);
        let probe_shares = self
            .store
            .read(move |db| {
                let documents = keys.iter().map(|key| Ok(db.query(*key)?.documents));
                let documents = documents.collect::<Result<Vec<_>, StoreError>>()?;
                Ok(probe_shares(&asked, &of, documents.into_iter()))
            })
            .await?;
        let shares: HashMap<QueryKey, usize> = queries
            .iter()
            .copied()
            .zip(probe_shares.iter().copied())
            .collect();
        let mut played_out = self
            .played_out(&request, ensemble, &queries, shares)
            .await?;
        let mut waiting = Vec::new();
        let chunks = queries.chunks(PLANNED_TOGETHER);
        for (queries, shares) in chunks.zip(probe_shares.chunks(PLANNED_TOGETHER)) {
            if self.control.borrow().cancelled {
                break;
            }
            let (request, specs) = (Arc::clone(&request), Arc::clone(&specs));
            let keys: Vec<(QueryKey, usize)> = queries
                .iter()
                .copied()
                .zip(shares.iter().copied())
                .filter(|(query, _)| !played_out.contains_key(query))
                .collect();
            let judge_indices = Arc::clone(&judges);
            let mut plans = HashMap::new();
            if !keys.is_empty() {
                let entered = self.store.write(move |db| {
                    let judges = (&specs[..], &judge_indices[..]);
                    let plan = |(query, probe)| {
                        let plan =
                            enter_plan(db, query, &request, ensemble, judges, (probe, None))?;
                        Ok((query, plan))
                    };
                    keys.into_iter()
                        .map(plan)
                        .collect::<Result<_, StoreError>>()
                });
                plans = entered.await?;
            }
            for query in queries {
                let Some(plan) = plans.remove(query).or_else(|| played_out.remove(query)) else {
                    continue;
                };
                let total = plan.calls.iter().sum::<usize>() + plan.unplanned;
                for (judge_index, judge) in self.progress.judges.iter_mut().enumerate() {
                    judge.total +=
                        plan.calls[judge_index] + share(plan.unplanned, judges.len(), judge_index);
                }
                self.progress.total += total;
                self.progress.battles += plan.battles;
                self.progress.already += plan.already;
                self.progress.queries_planned += 1;
                self.missing += plan.missing;
                self.waited_for += total - plan.unplanned;
                if total > 0 {
                    let open = UnfinishedQuery {
                        place: waiting.len(),
                        calls: plan.calls,
                        unplanned: plan.unplanned,
                        short: false,
                    };
                    self.open.insert((*query).into(), open);
                    if plan.is_probed {
                        self.probed.push(waiting.len());
                    }
                    waiting.push(*query);
                } else {
                    self.progress.queries_done += 1;
                }
            }
            self.report(false);
        }
        if let Some(most) = request.at_most {
            for judge in &mut self.progress.judges {
                judge.total = judge.total.min(most);
            }
            self.progress.total = self.progress.judges.iter().map(|judge| judge.total).sum();
        }
        Ok(waiting)
    }

    /// The queries for which nothing is left to enter or ask, found on all cores.
    async fn played_out(
        &self,
        request: &Arc<RunRequest>,
        ensemble: EnsembleId,
        queries: &[QueryKey],
        shares: HashMap<QueryKey, usize>,
    ) -> Result<HashMap<QueryKey, CallForecast>, RunError> {
        let (specs, judges, queries) = (self.specs(), self.judge_ids(), queries.to_vec());
        let (store, request, control) = (
            self.store.clone(),
            Arc::clone(request),
            self.control.clone(),
        );
        let store = store.while_wanted(move || !control.borrow().cancelled);
        let work = move || {
            let mut found = HashMap::new();
            let look = |db: &Db, query| {
                let probe = shares.get(&query).copied().unwrap_or(0);
                played_out(db, query, &request, ensemble, (&specs, &judges), probe)
            };
            let looked = store.read_each(&queries, look, |query, forecast| {
                found.extend(forecast.map(|forecast| (query, forecast)));
                Ok(())
            });
            match looked {
                // The run was cancelled.
                Err(StoreError::Closed) if !store.is_wanted() => Ok(HashMap::new()),
                Err(error) => Err(error),
                Ok(()) => Ok(found),
            }
        };
        let found = tokio::task::spawn_blocking(work).await;
        Ok(found.map_err(|error| RunError::Crashed(error.to_string()))??)
    }
}
