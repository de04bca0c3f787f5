//! The calls that one query needs, by the plain plan or in rounds.

use crate::app::annotate::plan::{
    entered, forecast_calls, plan_of_query, plan_query, probe_pairs, share,
};
use crate::app::annotate::request::RunRequest;
use crate::domain::battle::Pair;
use crate::domain::sampling::adaptive::{AdaptivePlan, JudgeChoice};
use crate::domain::sampling::plan;
use crate::judge::JudgeSpec;
use crate::store::outstanding::{CallSelection, PlannedCall};
use crate::store::{Store, StoreError};

/// The calls that one query needs.
pub(super) struct QueryEstimate {
    /// Pairs that cover all documents of the plan or, in rounds, of the opening cycle. Their texts
    /// give the expected and the maximum length of a call.
    pub(super) pairs: Vec<Pair>,
    pub(super) battles: usize,
    pub(super) already: usize,
    pub(super) pending: usize,
    /// Calls to make, for each judge.
    pub(super) calls: Vec<usize>,
    /// The same calls one by one, as far as they are known.
    pub(super) planned: Vec<PlannedCall>,
    /// Number of pairs on which language models are asked in both orders.
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
        let plan = plan_query(request, id, documents, specs, &probed);
        let fresh = plan.fresh_calls(request.selection);
        let (plan, calls, pending) = match store {
            None => (plan, fresh, 0),
            Some(store) => {
                let (specs, name, request) = (specs.to_vec(), id.to_owned(), request.clone());
                store.read_blocking(move |db| {
                    let Some(query) = db.known_query(&name)? else {
                        return Ok((plan, fresh, 0));
                    };
                    let plan = plan_of_query(db, query, &request, &specs, &probed)?;
                    let judges = db.known_judges(&specs)?;
                    let calls = db.planned_calls(
                        query,
                        &plan.planned,
                        &judges,
                        &plan.shown,
                        request.selection,
                    )?;
                    let pending = db.pending(query, &plan.planned, &judges)?;
                    Ok((plan, calls, pending))
                })?
            }
        };
        let mut of_judge = vec![0; specs.len()];
        for call in &calls {
            of_judge[call.judge] += 1;
        }
        let battles = plan.battles();
        Ok(Self {
            battles,
            already: plan.calls().saturating_sub(calls.len() + pending),
            pending,
            probed: plan.planned.len() - battles,
            pairs: plan.planned.iter().map(|battle| battle.pair).collect(),
            calls: of_judge,
            planned: calls,
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
            planned: Vec::new(),
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
