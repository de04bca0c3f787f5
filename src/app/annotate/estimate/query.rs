//! What one query would need, by the plain plan or in rounds.

use crate::app::annotate::plan::{entered, forecast_calls, plan_query, probe_pairs, share};
use crate::app::annotate::request::RunRequest;
use crate::domain::battle::Pair;
use crate::domain::sampling::adaptive::{AdaptivePlan, JudgeChoice};
use crate::domain::sampling::plan;
use crate::judge::JudgeSpec;
use crate::store::outstanding::CallSelection;
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
    /// Pairs that language models are asked about in both orders.
    pub(super) probed: usize,
}

impl QueryEstimate {
    pub(super) fn of_plan(
        id: &str,
        documents: usize,
        specs: &[JudgeSpec],
        request: &RunRequest,
        (store, probe): (Option<&Store>, usize),
    ) -> Result<Self, StoreError> {
        let probed = probe_pairs(request, id, documents, probe);
        let mut plan = plan_query(request, id, documents, specs, &probed);
        let (mut calls, mut pending) = (vec![0; specs.len()], 0);
        if request.selection != CallSelection::Failed {
            let of_judge = |shown: &Vec<Option<bool>>| shown.iter().flatten().count();
            calls = plan.shown.iter().map(of_judge).collect();
        }
        if let Some(store) = store {
            let (specs, name, request) = (specs.to_vec(), id.to_owned(), request.clone());
            let known = store.read_blocking(move |db| {
                let mut probed = probed;
                if let Some(query) = db.known_query(&name)?.filter(|_| request.probe > 0) {
                    // With what an earlier run probed.
                    let before = db.probed_pairs(query)?;
                    probed.extend(
                        before
                            .into_iter()
                            .filter(|pair| !plan.probed().contains(pair)),
                    );
                }
                let plan = plan_query(&request, &name, documents, &specs, &probed);
                let left =
                    db.calls_left(&name, &plan.planned, &specs, &plan.shown, request.selection)?;
                Ok((plan, left))
            })?;
            plan = known.0;
            if let Some((left, owed)) = known.1 {
                (calls, pending) = (left, owed);
            }
        }
        let battles = plan.battles();
        Ok(Self {
            battles,
            already: plan
                .calls()
                .saturating_sub(calls.iter().sum::<usize>() + pending),
            pending,
            calls,
            probed: plan.planned.len() - battles,
            pairs: plan.planned.iter().map(|battle| battle.pair).collect(),
        })
    }

    pub(super) fn of_rounds(
        id: &str,
        documents: usize,
        campaign: &AdaptivePlan,
        specs: &[JudgeSpec],
        request: &RunRequest,
        store: Option<&Store>,
    ) -> Result<Self, StoreError> {
        let (depth, judges) = (entered(request, documents), specs.len());
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
            probed: 0,
        };
        if let Some(store) = store {
            let (id, campaign) = (id.to_owned(), *campaign);
            let (request, specs) = (request.clone(), specs.to_vec());
            let known = store.read_blocking(move |db| {
                let Some(query) = db.known_query(&id)? else {
                    return Ok(None);
                };
                let judges = db.known_judges(&specs)?;
                let ahead = forecast_calls(db, query, &request, &campaign, &specs, &judges)?;
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
