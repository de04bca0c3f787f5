//! Stores the plan of every query before the first call.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::app::annotate::plan::{CallForecast, enter_plan, played_out, probe_shares, share};
use crate::app::annotate::request::RunRequest;
use crate::app::annotate::rounds::UnfinishedQuery;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::{Db, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Number of queries whose plans are stored in one transaction.
const PLANNED_TOGETHER: usize = 64;

/// A query with the number of its pairs to probe.
type ProbedQuery = (QueryKey, usize);

impl Dispatcher {
    /// Stores every query's plan and returns the queries with calls to make.
    pub(super) async fn plan(
        &mut self,
        request: &RunRequest,
        ensemble: EnsembleId,
        queries: Vec<QueryKey>,
    ) -> Result<Vec<QueryKey>, RunError> {
        self.progress.queries = queries.len();
        let request = Arc::new(request.clone());
        let (of, keys, asked) = (self.specs(), queries.clone(), Arc::clone(&request));
        let shares = self
            .store
            .read(move |db| {
                let documents = keys.iter().map(|key| Ok(db.query(*key)?.documents));
                let documents = documents.collect::<Result<Vec<_>, StoreError>>()?;
                Ok(probe_shares(&asked, &of, documents.into_iter()))
            })
            .await?;
        let mut left: Vec<ProbedQuery> = queries.into_iter().zip(shares).collect();
        let played_out = self.count_played_out(&request, ensemble, &left).await?;
        left.retain(|(query, _)| !played_out.contains(query));
        let mut waiting = Vec::new();
        for queries in left.chunks(PLANNED_TOGETHER) {
            if self.control.borrow().cancelled {
                break;
            }
            for (query, plan) in self.enter_plans(&request, ensemble, queries).await? {
                self.count_plan(query, plan, &mut waiting);
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

    /// Stores the plans of queries in one transaction.
    async fn enter_plans(
        &self,
        request: &Arc<RunRequest>,
        ensemble: EnsembleId,
        queries: &[ProbedQuery],
    ) -> Result<Vec<(QueryKey, CallForecast)>, StoreError> {
        let (specs, judges, request) = (self.specs(), self.judge_ids(), Arc::clone(request));
        let queries = queries.to_vec();
        let entered = self.store.write(move |db| {
            let plan = |(query, probe)| {
                let judges = (&specs[..], &judges[..]);
                let plan = enter_plan(db, query, &request, ensemble, judges, (probe, None))?;
                Ok((query, plan))
            };
            queries.into_iter().map(plan).collect()
        });
        entered.await
    }

    /// Counts the plan of a query, which is added to `waiting` if it has calls to make.
    fn count_plan(&mut self, query: QueryKey, plan: CallForecast, waiting: &mut Vec<QueryKey>) {
        let (total, judges) = (
            plan.calls.iter().sum::<usize>() + plan.unplanned,
            self.progress.judges.len(),
        );
        for (judge_index, judge) in self.progress.judges.iter_mut().enumerate() {
            judge.total += plan.calls[judge_index] + share(plan.unplanned, judges, judge_index);
        }
        self.progress.total += total;
        self.progress.battles += plan.battles;
        self.progress.already += plan.already;
        self.progress.queries_planned += 1;
        self.missing += plan.missing;
        self.waited_for += total - plan.unplanned;
        if total == 0 {
            self.progress.queries_done += 1;
            return;
        }
        let open = UnfinishedQuery {
            place: waiting.len(),
            calls: plan.calls,
            unplanned: plan.unplanned,
            short: false,
        };
        self.open.insert(query.into(), open);
        if plan.is_probed {
            self.probed.push(waiting.len());
        }
        waiting.push(query);
    }

    /// Counts the plans of the queries for which nothing is left to enter or ask, as they are found
    /// on all cores, and returns these queries.
    async fn count_played_out(
        &mut self,
        request: &Arc<RunRequest>,
        ensemble: EnsembleId,
        queries: &[ProbedQuery],
    ) -> Result<HashSet<QueryKey>, RunError> {
        let probes: HashMap<QueryKey, usize> = queries.iter().copied().collect();
        let queries: Vec<QueryKey> = queries.iter().map(|(query, _)| *query).collect();
        let (specs, judges) = (self.specs(), self.judge_ids());
        let (store, request, control) = (
            self.store.clone(),
            Arc::clone(request),
            self.control.clone(),
        );
        let store = store.while_wanted(move || !control.borrow().cancelled);
        let (send, mut receive) = mpsc::channel(PLANNED_TOGETHER);
        let work = tokio::task::spawn_blocking(move || {
            let look = |db: &Db, query| {
                let probe = probes.get(&query).copied().unwrap_or(0);
                played_out(db, query, &request, ensemble, (&specs, &judges), probe)
            };
            let looked = store.read_each(&queries, look, |query, forecast| {
                // The run receives until this sender is dropped.
                drop(send.blocking_send((query, forecast)));
                Ok(())
            });
            match looked {
                // The run was cancelled.
                Err(StoreError::Closed) if !store.is_wanted() => Ok(()),
                looked => looked,
            }
        });
        let mut found = HashSet::new();
        while let Some((query, forecast)) = receive.recv().await {
            if let Some(plan) = forecast
                && found.insert(query)
            {
                self.count_plan(query, plan, &mut Vec::new());
            }
            self.report(false);
        }
        work.await
            .map_err(|error| RunError::Crashed(error.to_string()))??;
        Ok(found)
    }
}
