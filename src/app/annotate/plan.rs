//! A query's plan: its battles, and a presentation for each judge that is asked about them.

use super::request::RunRequest;
use crate::domain::battle::{PROBE_GAME, Pair, SECOND_GAME};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::sampling::{self, PlannedBattle};
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::outstanding::{CallSelection, PlannedCall};
use crate::store::rounds::TaskRow;
use crate::store::{Db, Store, StoreError};
use std::collections::{HashMap, HashSet};

/// What a request means for one query.
pub(super) struct QueryPlan {
    /// The battles, in order, and after them those of the probe.
    pub(super) planned: Vec<PlannedBattle>,
    /// For each judge, in the order of `planned`, whether it is shown B first; `None` where it is not asked.
    pub(super) shown: Vec<Vec<Option<bool>>>,
    /// Documents entered, from the top, beside those of the battles.
    pub(super) depth: usize,
}

impl QueryPlan {
    /// Battles that count: those of the probe left out.
    pub(super) fn battles(&self) -> usize {
        let counts = |battle: &&PlannedBattle| battle.game != PROBE_GAME;
        self.planned.iter().filter(counts).count()
    }

    /// Calls of all judges, whether or not they have been made.
    pub(super) fn calls(&self) -> usize {
        self.shown.iter().flatten().flatten().count()
    }

    /// The calls of all judges in a project that holds no vote of them.
    pub(super) fn fresh_calls(&self, selection: CallSelection) -> Vec<PlannedCall> {
        if selection == CallSelection::Failed {
            return Vec::new();
        }
        let of_judge = |(judge, shown): (usize, &Vec<Option<bool>>)| {
            let calls = self
                .planned
                .iter()
                .zip(shown)
                .filter_map(move |(battle, later_first)| {
                    Some(PlannedCall {
                        pair: battle.pair,
                        judge,
                        later_first: (*later_first)?,
                    })
                });
            calls.collect::<Vec<_>>()
        };
        self.shown.iter().enumerate().flat_map(of_judge).collect()
    }

    /// The pairs of the probe.
    pub(super) fn probed(&self) -> HashSet<Pair> {
        let probe = self.planned.iter().filter(|one| one.game == PROBE_GAME);
        probe.map(|battle| battle.pair).collect()
    }

    /// Asks the language models about these pairs in the other order too, unless the plan does so by itself.
    fn probe(&mut self, pairs: &[Pair], judges: &[JudgeSpec]) {
        let repeated: HashSet<Pair> = self
            .planned
            .iter()
            .filter(|battle| battle.game == SECOND_GAME)
            .map(|battle| battle.pair)
            .collect();
        for pair in pairs.iter().filter(|pair| !repeated.contains(pair)) {
            let first = |battle: &PlannedBattle| battle.pair == *pair && battle.game == 0;
            let Some(at) = self.planned.iter().position(first) else {
                continue;
            };
            self.planned.push(PlannedBattle {
                game: PROBE_GAME,
                ..self.planned[at]
            });
            for (judge, shown) in judges.iter().zip(&mut self.shown) {
                let asked = shown[at].filter(|_| !judge.is_offline());
                shown.push(asked.map(|later_first| !later_first));
            }
        }
    }
}

/// The plain plan: random cycles or the battles that are named, every judge asked about every battle; and language models
/// about some pairs in the other order too.
pub(super) fn plan_query(
    request: &RunRequest,
    name: &str,
    documents: usize,
    judges: &[JudgeSpec],
    probed: &[Pair],
) -> QueryPlan {
    if let Some(battle) = request.pair {
        return pair_plan(request, name, judges, battle);
    }
    let (planned, depth) = match &request.listed {
        // Documents without a battle get no score.
        Some(listed) => (listed.of(name), 0),
        None => {
            let depth = entered(request, documents);
            let planned = sampling::plan(request.seed, name, depth, request.cycles);
            (planned, depth)
        }
    };
    let shown = judges
        .iter()
        .map(|judge| {
            let swapped = sampling::presentations(request.seed, name, &judge.name, &planned);
            swapped.into_iter().map(Some).collect()
        })
        .collect();
    let mut plan = QueryPlan {
        planned,
        shown,
        depth,
    };
    plan.probe(probed, judges);
    plan
}

/// One battle and no other. Which document comes first is drawn for each judge, the pair being part of the seed.
fn pair_plan(
    request: &RunRequest,
    name: &str,
    judges: &[JudgeSpec],
    battle: PlannedBattle,
) -> QueryPlan {
    let key = format!(
        "{name}\u{0}{}\u{0}{}",
        battle.pair.low(),
        battle.pair.high()
    );
    let first = PlannedBattle { game: 0, ..battle };
    let shown = judges.iter().map(|judge| {
        let swapped = sampling::presentations(request.seed, &key, &judge.name, &[first]);
        let turned = battle.game % 2 == 1;
        swapped
            .into_iter()
            .map(|swapped| Some(swapped != turned))
            .collect()
    });
    QueryPlan {
        planned: vec![battle],
        shown: shown.collect(),
        depth: 0,
    }
}

/// How many pairs of each query a run probes, from the documents of each.
pub(super) fn probe_shares(
    request: &RunRequest,
    judges: &[JudgeSpec],
    documents: impl Iterator<Item = usize>,
) -> Vec<usize> {
    let documents: Vec<usize> = documents.map(|all| entered(request, all)).collect();
    // Rounds choose their pairs from the votes so far, and an embedded judge looks at each document by itself.
    let most = match request.rounds().is_none() && judges.iter().any(|one| !one.is_offline()) {
        true => request.probe,
        false => 0,
    };
    sampling::probe_shares(most, &documents, request.cycles)
}

/// The pairs that a query's probe is to have: so many of its plan.
pub(super) fn probe_pairs(
    request: &RunRequest,
    name: &str,
    documents: usize,
    count: usize,
) -> Vec<Pair> {
    if count == 0 {
        return Vec::new();
    }
    let depth = entered(request, documents);
    let planned = sampling::plan(request.seed, name, depth, request.cycles);
    sampling::probe_pairs(request.seed, name, &planned, count)
}

pub(super) fn entered(request: &RunRequest, documents: usize) -> usize {
    request
        .depth
        .map_or(documents, |limit| limit.min(documents))
}

/// The plain plan of a query that is in the project: these pairs are probed, and those that are probed there already, but
/// for pairs that have a second battle, which shows them in both orders anyway.
pub(super) fn plan_of_query(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    specs: &[JudgeSpec],
    probe: &[Pair],
) -> Result<QueryPlan, StoreError> {
    let info = db.query(query)?;
    let mut probed = probe.to_vec();
    if request.probe > 0 {
        let known = db.probed_pairs(query)?;
        probed.extend(known.into_iter().filter(|pair| !probe.contains(pair)));
        let repeated: HashSet<Pair> = db.repeated_pairs(query)?.into_iter().collect();
        probed.retain(|pair| !repeated.contains(pair));
    }
    Ok(plan_query(
        request,
        info.id.as_str(),
        info.documents,
        specs,
        &probed,
    ))
}

/// The plan as far as it is known: the plain one, or the rounds that have been entered.
pub(super) fn plan_so_far(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    specs: &[JudgeSpec],
    judges: &[JudgeId],
) -> Result<QueryPlan, StoreError> {
    let info = db.query(query)?;
    if request.rounds().is_none() {
        return plan_of_query(db, query, request, specs, &[]);
    }
    let tasks = db.tasks(query, judges)?;
    let (planned, shown) = in_rounds(request.seed, info.id.as_str(), &tasks, specs, judges);
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
    specs: &[JudgeSpec],
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
    let shown = specs.iter().zip(judges).map(|(judge, id)| {
        let mine = tasks.iter().filter(|task| task.judge == *id);
        let mine: Vec<PlannedBattle> = mine.map(|task| task.battle).collect();
        let swapped = sampling::presentations(seed, name, &judge.name, &mine);
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
    /// Whether some of the pairs are probed.
    pub(super) is_probed: bool,
}

/// Enters a query's plain plan, or makes the query ready for its rounds, and counts.
pub(super) fn enter_plan(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    ensemble: EnsembleId,
    (specs, judges): (&[JudgeSpec], &[JudgeId]),
    probe: usize,
) -> Result<CallForecast, StoreError> {
    if let Some(battle) = request.pair {
        db.add_pair(query, &battle, (ensemble, judges))?;
        let plan = plan_so_far(db, query, request, specs, judges)?;
        let (calls, missing) = count(db, query, request, &plan, judges)?;
        return Ok(CallForecast {
            battles: 1,
            already: plan.calls().saturating_sub(missing),
            calls,
            unplanned: 0,
            missing,
            is_probed: false,
        });
    }
    if let Some(campaign) = request.rounds() {
        let depth = entered(request, db.query(query)?.documents);
        db.add_plan(query, &[], depth, ensemble)?;
        return forecast_calls(db, query, request, campaign, specs, judges);
    }
    if request.listed.is_some() {
        check_judges(db, query, judges)?;
    }
    let info = db.query(query)?;
    let probed = probe_pairs(request, info.id.as_str(), info.documents, probe);
    let plan = plan_of_query(db, query, request, specs, &probed)?;
    // Most of a project that is run again is like this: nothing of it has to be looked at vote by vote.
    let probing = specs.iter().map(|judge| !judge.is_offline());
    let judges_probed: Vec<(JudgeId, bool)> = judges.iter().copied().zip(probing).collect();
    if db.is_played_out(query, &plan.planned, plan.depth, ensemble, &judges_probed)? {
        return Ok(CallForecast {
            battles: plan.battles(),
            already: plan.calls(),
            calls: vec![0; judges.len()],
            unplanned: 0,
            missing: 0,
            is_probed: false,
        });
    }
    db.add_plan(query, &plan.planned, plan.depth, ensemble)?;
    let (calls, missing) = count(db, query, request, &plan, judges)?;
    Ok(CallForecast {
        battles: plan.battles(),
        already: plan.calls().saturating_sub(missing),
        calls,
        unplanned: 0,
        missing,
        is_probed: !plan.probed().is_empty(),
    })
}

/// Refuses judges that are not those whose votes count for a query: the votes that are there would count no more.
pub fn check_judges(db: &Db, query: QueryKey, asked: &[JudgeId]) -> Result<(), StoreError> {
    let known = db.judges_of(query)?;
    let ids: HashSet<&JudgeId> = known.iter().map(|(id, _)| id).collect();
    if ids.is_empty() || ids == asked.iter().collect() {
        return Ok(());
    }
    let names: Vec<String> = known.into_iter().map(|(_, spec)| spec.name).collect();
    Err(StoreError::Conflict(format!(
        "query {:?} is judged by {}: a sample is judged by the same judges; name them with --judges",
        db.query(query)?.id.as_str(),
        names.join(",")
    )))
}

/// Enters the battles that a request names, so that a run with the same request asks about them; calls nobody.
pub fn enter_listed(
    store: &Store,
    ensemble: &JudgeEnsemble,
    request: &RunRequest,
) -> Result<(), StoreError> {
    let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
    let request = request.clone();
    store.write_blocking(move |db| {
        let judges = specs.iter().map(|spec| db.judge(spec));
        let judges = judges.collect::<Result<Vec<_>, _>>()?;
        let ensemble = db.ensemble(&judges)?;
        for query in request.queries.iter().flatten() {
            enter_plan(db, *query, &request, ensemble, (&specs, &judges), 0)?;
        }
        Ok(())
    })
}

/// What is to be asked of a query that is played in rounds; changes nothing.
pub(super) fn forecast_calls(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    campaign: &AdaptivePlan,
    specs: &[JudgeSpec],
    judges: &[JudgeId],
) -> Result<CallForecast, StoreError> {
    let plan = plan_so_far(db, query, request, specs, judges)?;
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
        is_probed: false,
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
