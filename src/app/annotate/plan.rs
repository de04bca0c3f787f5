//! A query's plan: its battles, and a presentation for each judge that is asked about them.

use super::request::RunRequest;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::sampling::{self, PlannedBattle};
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::rounds::TaskRow;
use crate::store::votes::CallSelection;
use crate::store::{Db, StoreError};
use std::collections::HashMap;

/// What a request means for one query.
pub(super) struct QueryPlan {
    /// The battles, in order.
    pub(super) planned: Vec<PlannedBattle>,
    /// For each judge, in the order of `planned`, whether it is shown B first; `None` where it is not asked.
    pub(super) shown: Vec<Vec<Option<bool>>>,
    /// Documents entered, from the top.
    pub(super) depth: usize,
}

/// The plain plan: random cycles, every judge asked about every battle.
pub(super) fn plan_query(
    request: &RunRequest,
    name: &str,
    documents: usize,
    judges: &[String],
) -> QueryPlan {
    let depth = entered(request, documents);
    let planned = sampling::plan(request.seed, name, depth, request.cycles);
    let shown = judges
        .iter()
        .map(|judge| {
            let swapped = sampling::presentations(request.seed, name, judge, &planned);
            swapped.into_iter().map(Some).collect()
        })
        .collect();
    QueryPlan {
        planned,
        shown,
        depth,
    }
}

pub(super) fn entered(request: &RunRequest, documents: usize) -> usize {
    request
        .depth
        .map_or(documents, |limit| limit.min(documents))
}

/// The plan as far as it is known: the plain one, or the rounds that have been entered.
pub(super) fn plan_so_far(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    names: &[String],
    judges: &[JudgeId],
) -> Result<QueryPlan, StoreError> {
    let info = db.query(query)?;
    if request.campaign.is_none() {
        return Ok(plan_query(request, info.id.as_str(), info.documents, names));
    }
    let tasks = db.tasks(query, judges)?;
    let (planned, shown) = in_rounds(request.seed, info.id.as_str(), &tasks, names, judges);
    Ok(QueryPlan {
        planned,
        shown,
        depth: entered(request, info.documents),
    })
}

/// The battles of the tasks, and the presentations: balanced within each round of each judge.
fn in_rounds(
    seed: u64,
    name: &str,
    tasks: &[TaskRow],
    names: &[String],
    judges: &[JudgeId],
) -> (Vec<PlannedBattle>, Vec<Vec<Option<bool>>>) {
    let mut planned: Vec<PlannedBattle> = Vec::new();
    let mut place = HashMap::new();
    for TaskRow { battle, .. } in tasks {
        place.entry((battle.pair, battle.game)).or_insert_with(|| {
            planned.push(*battle);
            planned.len() - 1
        });
    }
    let shown = names.iter().zip(judges).map(|(judge, id)| {
        let mine = tasks.iter().filter(|task| task.judge == *id);
        let mine: Vec<PlannedBattle> = mine.map(|task| task.battle).collect();
        let swapped = sampling::presentations(seed, name, judge, &mine);
        let mut shown = vec![None; planned.len()];
        for (battle, swapped) in mine.iter().zip(swapped) {
            if let Some(at) = place.get(&(battle.pair, battle.game)) {
                shown[*at] = Some(swapped);
            }
        }
        shown
    });
    let shown = shown.collect();
    (planned, shown)
}

/// What a query's plan comes to.
pub(super) struct CallForecast {
    pub(super) battles: usize,
    /// Calls to make, for each judge.
    pub(super) calls: Vec<usize>,
    /// Calls that rounds to come may ask for at most.
    pub(super) unplanned: usize,
    pub(super) already: usize,
    /// Votes that are not there, whether or not this run is to ask for them.
    pub(super) missing: usize,
}

/// Enters a query's plain plan, or makes the query ready for its rounds, and counts.
pub(super) fn enter_plan(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    ensemble: EnsembleId,
    names: &[String],
    judges: &[JudgeId],
) -> Result<CallForecast, StoreError> {
    if let Some(campaign) = &request.campaign {
        let depth = entered(request, db.query(query)?.documents);
        db.add_plan(query, &[], depth, ensemble)?;
        return forecast_calls(db, query, request, campaign, names, judges);
    }
    let info = db.query(query)?;
    let depth = entered(request, info.documents);
    let planned = sampling::plan(request.seed, info.id.as_str(), depth, request.cycles);
    // Most of a project that is run again is like this: nothing of it has to be looked at vote by vote.
    if db.is_played_out(query, &planned, depth, ensemble, judges)? {
        return Ok(CallForecast {
            battles: planned.len(),
            already: planned.len() * judges.len(),
            calls: vec![0; judges.len()],
            unplanned: 0,
            missing: 0,
        });
    }
    let plan = plan_query(request, info.id.as_str(), info.documents, names);
    db.add_plan(query, &plan.planned, plan.depth, ensemble)?;
    let (calls, missing) = count(db, query, request, &plan, judges)?;
    Ok(CallForecast {
        battles: plan.planned.len(),
        already: (plan.planned.len() * judges.len()).saturating_sub(missing),
        calls,
        unplanned: 0,
        missing,
    })
}

/// What is to be asked of a query that is played in rounds; changes nothing.
pub(super) fn forecast_calls(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    campaign: &AdaptivePlan,
    names: &[String],
    judges: &[JudgeId],
) -> Result<CallForecast, StoreError> {
    let plan = plan_so_far(db, query, request, names, judges)?;
    let played = db.played(query, plan.depth, judges)?;
    let (calls, missing) = count(db, query, request, &plan, judges)?;
    let unplanned = match request.selection {
        CallSelection::Failed => 0,
        CallSelection::Fresh | CallSelection::FreshAndFailed => campaign
            .calls(plan.depth, judges.len())
            .saturating_sub(played.calls())
            .min(
                campaign
                    .askable(plan.depth, judges.len())
                    .saturating_sub(played.met()),
            ),
    };
    let fought = played.asked.iter().filter(|entry| !entry.judges.is_empty());
    Ok(CallForecast {
        battles: fought.count(),
        calls,
        unplanned,
        already: played.votes(),
        missing: missing + unplanned,
    })
}

/// The calls that a request makes of a plan, for each judge, and the votes of it that are not there.
fn count(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    plan: &QueryPlan,
    judges: &[JudgeId],
) -> Result<(Vec<usize>, usize), StoreError> {
    let outstanding =
        |selection| db.outstanding(query, &plan.planned, judges, &plan.shown, selection);
    let mut calls = vec![0; judges.len()];
    for call in outstanding(request.selection)? {
        calls[call.judge] += 1;
    }
    let missing = outstanding(CallSelection::FreshAndFailed)?.len()
        + db.pending(query, &plan.planned, judges)?;
    Ok((calls, missing))
}

/// A judge's part of calls that are not planned yet: all judges get the same, but for a rest.
pub(super) fn share(calls: usize, judges: usize, judge_index: usize) -> usize {
    calls / judges.max(1) + usize::from(judge_index < calls % judges.max(1))
}
