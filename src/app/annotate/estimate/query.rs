//! What one query would need, by the plain plan or in rounds.

use crate::app::annotate::plan::{entered, forecast_calls, plan_query, share};
use crate::app::annotate::request::RunRequest;
use crate::domain::battle::Pair;
use crate::domain::sampling::adaptive::{AdaptivePlan, JudgeChoice};
use crate::domain::sampling::plan;
use crate::judge::JudgeEnsemble;
use crate::store::votes::CallSelection;
use crate::store::{Store, StoreError};

/// What one query would need.
pub(super) struct QueryEstimate {
    /// Pairs whose texts tell how long the calls are.
    pub(super) pairs: Vec<Pair>,
    pub(super) battles: usize,
    pub(super) already: usize,
    pub(super) pending: usize,
    /// Calls still to be made, for each judge.
    pub(super) calls: Vec<usize>,
}

impl QueryEstimate {
    pub(super) fn of_plan(
        id: &str,
        documents: usize,
        names: &[String],
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        store: Option<&Store>,
    ) -> Result<Self, StoreError> {
        let plan = plan_query(request, id, documents, names);
        let pairs: Vec<Pair> = plan.planned.iter().map(|battle| battle.pair).collect();
        let fresh = if request.selection == CallSelection::Failed {
            0
        } else {
            pairs.len()
        };
        let (mut calls, mut pending) = (vec![fresh; ensemble.len()], 0);
        if let Some(store) = store {
            let specs: Vec<_> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
            let (id, selection) = (id.to_owned(), request.selection);
            let known = store.read_blocking(move |db| {
                db.calls_left(&id, &plan.planned, &specs, &plan.shown, selection)
            })?;
            if let Some((left, owed)) = known {
                (calls, pending) = (left, owed);
            }
        }
        Ok(Self {
            battles: pairs.len(),
            already: (pairs.len() * ensemble.len())
                .saturating_sub(calls.iter().sum::<usize>() + pending),
            pending,
            calls,
            pairs,
        })
    }

    pub(super) fn of_rounds(
        id: &str,
        documents: usize,
        campaign: &AdaptivePlan,
        names: &[String],
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        store: Option<&Store>,
    ) -> Result<Self, StoreError> {
        let (depth, judges) = (entered(request, documents), ensemble.len());
        let first = plan(request.seed, id, depth, 1);
        let mut unplanned = match request.selection {
            CallSelection::Failed => 0,
            CallSelection::Fresh | CallSelection::FreshAndFailed => campaign
                .calls(depth, judges)
                .min(campaign.askable(depth, judges)),
        };
        let mut need = Self {
            pairs: first.iter().map(|battle| battle.pair).collect(),
            battles: 0,
            already: 0,
            pending: 0,
            calls: vec![0; judges],
        };
        if let Some(store) = store {
            let specs: Vec<_> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
            let (id, campaign) = (id.to_owned(), *campaign);
            let (request, names) = (request.clone(), names.to_vec());
            let known = store.read_blocking(move |db| {
                let Some(query) = db.known_query(&id)? else {
                    return Ok(None);
                };
                let judges = db.known_judges(&specs)?;
                let ahead = forecast_calls(db, query, &request, &campaign, &names, &judges)?;
                Ok(Some(ahead))
            })?;
            if let Some(ahead) = known {
                (need.battles, need.already) = (ahead.battles, ahead.already);
                (need.calls, unplanned) = (ahead.calls, ahead.unplanned);
            }
        }
        for (judge_index, calls) in need.calls.iter_mut().enumerate() {
            *calls += share(unplanned, judges, judge_index);
        }
        need.battles += match campaign.strategy.judging {
            JudgeChoice::All => unplanned.div_ceil(judges.max(1)),
            JudgeChoice::Rotate | JudgeChoice::Escalate => unplanned,
        };
        Ok(need)
    }
}
