//! A query's plan: its battles, and the order of documents for each judge that is asked.

use super::request::RunRequest;
use super::shared_work::PartKey;
use crate::domain::battle::{PROBE_GAME, Pair, SECOND_GAME};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::sampling::{self, PAIRS_PER_ROUND_PART, PlannedBattle};
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::outstanding::{CallSelection, OutstandingCall, PlannedCall};
use crate::store::rounds::TaskRow;
use crate::store::{Db, Store, StoreError};
use std::collections::{HashMap, HashSet};

/// The plan of a request for one query.
pub(super) struct QueryPlan {
    /// The battles in order, followed by those of the probe.
    pub(super) planned: Vec<PlannedBattle>,
    /// For each judge, in the order of `planned`, whether it is shown B first; `None` if it is not
    /// asked.
    pub(super) shown: Vec<Vec<Option<bool>>>,
    /// Number of documents entered from the top, in addition to those in `planned`.
    pub(super) depth: usize,
    /// The pairs that this run asks about, if it shares the plan with others.
    part: Option<HashSet<Pair>>,
}

impl QueryPlan {
    /// Limits the plan to a part that was shared out; the orders of documents stay those of the
    /// whole plan.
    pub(super) fn limited_to(self, part: Option<usize>) -> Self {
        Self {
            part: part.map(|part| sampling::pairs_of_part(&self.planned, part)),
            ..self
        }
    }

    /// Whether this run asks about a pair.
    pub(super) fn includes(&self, pair: Pair) -> bool {
        self.part.as_ref().is_none_or(|pairs| pairs.contains(&pair))
    }

    /// Number of battles that count, without those of the probe.
    pub(super) fn battles(&self) -> usize {
        let counts =
            |battle: &&PlannedBattle| battle.game != PROBE_GAME && self.includes(battle.pair);
        self.planned.iter().filter(counts).count()
    }

    /// Number of calls of all judges, whether or not they have been made.
    pub(super) fn calls(&self) -> usize {
        let of_judge = |shown: &Vec<Option<bool>>| {
            let calls = self.planned.iter().zip(shown);
            let calls =
                calls.filter(|(battle, shown)| shown.is_some() && self.includes(battle.pair));
            calls.count()
        };
        self.shown.iter().map(of_judge).sum()
    }

    /// The calls that the plan still needs from these judges, in the order of `shown`.
    pub(super) fn outstanding(
        &self,
        db: &Db,
        query: QueryKey,
        judges: &[JudgeId],
        selection: CallSelection,
    ) -> Result<Vec<OutstandingCall>, StoreError> {
        let mut calls = db.outstanding(query, &self.planned, judges, &self.shown, selection)?;
        calls.retain(|call| Pair::new(call.a, call.b).is_some_and(|pair| self.includes(pair)));
        Ok(calls)
    }

    /// The calls of all judges in a project that has no votes of them.
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
        self.planned
            .iter()
            .filter(|one| one.game == PROBE_GAME)
            .map(|battle| battle.pair)
            .collect()
    }

    /// Asks the language models about these pairs in the other order too, unless the plan already
    /// does.
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

/// The plain plan: random cycles or the listed battles, with every judge asked about every battle,
/// plus some pairs that language models also see in the other order.
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
        part: None,
    };
    plan.probe(probed, judges);
    plan
}

/// Plans a single battle. Which document comes first is drawn for each judge, with the pair as part
/// of the seed.
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
        part: None,
    }
}

/// Number of pairs to probe for each query, given its number of documents.
pub fn probe_shares(
    request: &RunRequest,
    judges: &[JudgeSpec],
    documents: impl Iterator<Item = usize>,
) -> Vec<usize> {
    let documents: Vec<usize> = documents.map(|all| entered(request, all)).collect();
    // Rounds choose their pairs from earlier votes, and an embedded judge scores each document
    // separately.
    let most = if request.rounds().is_none() && judges.iter().any(|one| !one.is_offline()) {
        request.probe
    } else {
        0
    };
    sampling::probe_shares(most, &documents, request.cycles)
}

/// Samples `count` pairs of a query's plan to probe.
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

/// The plain plan of a query in the project. It probes these pairs and those already probed there,
/// except pairs with a second battle, which are shown in both orders anyway.
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

/// The known part of the plan: the plain plan, or the rounds stored so far.
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
        part: None,
    })
}

/// The known part of the plan, limited to a part that was shared out.
pub(super) fn plan_of_part(
    db: &Db,
    key: PartKey,
    request: &RunRequest,
    specs: &[JudgeSpec],
    judges: &[JudgeId],
) -> Result<QueryPlan, StoreError> {
    let PartKey { query, round, part } = key;
    let (Some(round), Some(part)) = (round, part) else {
        return Ok(plan_so_far(db, query, request, specs, judges)?.limited_to(part));
    };
    let info = db.query(query)?;
    // The orders of documents are balanced within a round. Other machines have the votes of earlier
    // rounds on the same pairs.
    let mut tasks = db.tasks(query, judges)?;
    tasks.retain(|task| task.battle.cycle == round);
    let (planned, shown) = in_rounds(request.seed, info.id.as_str(), &tasks, specs, judges);
    Ok(QueryPlan {
        planned,
        shown,
        depth: entered(request, info.documents),
        part: Some(pairs_of_round_part(db, query, round, part)?),
    })
}

/// The pairs of a part of a round, which is counted from 0.
pub fn pairs_of_round_part(
    db: &Db,
    query: QueryKey,
    round: usize,
    part: usize,
) -> Result<HashSet<Pair>, StoreError> {
    let pairs = db.pairs_of_round(query, round)?.into_iter();
    let first = part.saturating_mul(PAIRS_PER_ROUND_PART);
    Ok(pairs.skip(first).take(PAIRS_PER_ROUND_PART).collect())
}

/// The battles of the tasks, with document orders that are balanced within each round of each
/// judge.
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

/// Number of calls for a query's plan.
pub(super) struct CallForecast {
    pub(super) battles: usize,
    /// Calls to make, for each judge.
    pub(super) calls: Vec<usize>,
    /// Maximum number of calls that future rounds may ask for.
    pub(super) unplanned: usize,
    pub(super) already: usize,
    /// Missing votes, whether or not this run asks for them.
    pub(super) missing: usize,
    /// Whether some of the pairs are probed.
    pub(super) is_probed: bool,
}

/// Stores a query's plain plan, or prepares the query for its rounds, and counts the calls.
pub(super) fn enter_plan(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    ensemble: EnsembleId,
    (specs, judges): (&[JudgeSpec], &[JudgeId]),
    (probe, part): (usize, Option<usize>),
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
    let plan = plain_plan(db, query, request, specs, (probe, part))?;
    if let Some(forecast) = nothing_to_ask(db, query, &plan, ensemble, (specs, judges))? {
        return Ok(forecast);
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

/// Enters a query for a part of a round that is in the project, and counts the calls of the part.
pub(super) fn enter_round_part(
    db: &Db,
    key: PartKey,
    request: &RunRequest,
    ensemble: EnsembleId,
    (specs, judges): (&[JudgeSpec], &[JudgeId]),
) -> Result<CallForecast, StoreError> {
    let plan = plan_of_part(db, key, request, specs, judges)?;
    db.add_plan(key.query, &[], plan.depth, ensemble)?;
    let (calls, missing) = count(db, key.query, request, &plan, judges)?;
    Ok(CallForecast {
        battles: plan.battles(),
        already: plan.calls().saturating_sub(missing),
        calls,
        unplanned: 0,
        missing,
        is_probed: false,
    })
}

/// The plain plan of a query with its probe, or a part of it.
fn plain_plan(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    specs: &[JudgeSpec],
    (probe, part): (usize, Option<usize>),
) -> Result<QueryPlan, StoreError> {
    let info = db.query(query)?;
    let probed = probe_pairs(request, info.id.as_str(), info.documents, probe);
    Ok(plan_of_query(db, query, request, specs, &probed)?.limited_to(part))
}

/// The forecast of a plan that was entered and whose calls were all answered. Most queries of a
/// project that is run again are in this state; this avoids checking them vote by vote.
fn nothing_to_ask(
    db: &Db,
    query: QueryKey,
    plan: &QueryPlan,
    ensemble: EnsembleId,
    (specs, judges): (&[JudgeSpec], &[JudgeId]),
) -> Result<Option<CallForecast>, StoreError> {
    let probing = specs.iter().map(|judge| !judge.is_offline());
    let judges_probed: Vec<(JudgeId, bool)> = judges.iter().copied().zip(probing).collect();
    let is_played_out = db.is_entered(query, plan.depth, ensemble)?
        && db.is_played_out(query, &plan.planned, &judges_probed)?;
    Ok(is_played_out.then(|| CallForecast {
        battles: plan.battles(),
        already: plan.calls(),
        calls: vec![0; judges.len()],
        unplanned: 0,
        missing: 0,
        is_probed: false,
    }))
}

/// The forecast of [`enter_plan`] for a query of a plain request for which nothing is left to enter
/// or ask; `None` for others. Changes nothing.
pub(super) fn played_out(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    ensemble: EnsembleId,
    (specs, judges): (&[JudgeSpec], &[JudgeId]),
    probe: usize,
) -> Result<Option<CallForecast>, StoreError> {
    let is_plain = request.pair.is_none() && request.listed.is_none();
    if !is_plain || request.rounds().is_some() {
        return Ok(None);
    }
    let depth = entered(request, db.query(query)?.documents);
    if !db.is_entered(query, depth, ensemble)? {
        return Ok(None);
    }
    let plan = plain_plan(db, query, request, specs, (probe, None))?;
    nothing_to_ask(db, query, &plan, ensemble, (specs, judges))
}

/// Rejects judges that differ from those whose votes count for a query, since the existing votes
/// would no longer count.
pub fn check_judges(db: &Db, query: QueryKey, asked: &[JudgeId]) -> Result<(), StoreError> {
    let known = db.judges_of(query)?;
    let ids: HashSet<&JudgeId> = known.iter().map(|(id, _)| id).collect();
    if ids.is_empty() || ids == asked.iter().collect() {
        return Ok(());
    }
    let names: Vec<String> = known.into_iter().map(|(_, spec)| spec.name).collect();
    Err(StoreError::Conflict(format!(
        "query {:?} was judged by {}; other pairs must be judged by the same judges: name them with \
         --judges",
        db.query(query)?.id.as_str(),
        names.join(",")
    )))
}

/// Stores the battles listed in a request, so that a run with the same request asks about them.
/// Makes no calls.
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
            enter_plan(db, *query, &request, ensemble, (&specs, &judges), (0, None))?;
        }
        Ok(())
    })
}

/// The calls to make for a query that is played in rounds; changes nothing.
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

/// Number of calls that a request makes for a plan, for each judge, and of the plan's missing
/// votes.
fn count(
    db: &Db,
    query: QueryKey,
    request: &RunRequest,
    plan: &QueryPlan,
    judges: &[JudgeId],
) -> Result<(Vec<usize>, usize), StoreError> {
    let outstanding = |selection| plan.outstanding(db, query, judges, selection);
    let mut calls = vec![0; judges.len()];
    for call in outstanding(request.selection)? {
        calls[call.judge] += 1;
    }
    let missing = outstanding(CallSelection::FreshAndFailed)?.len()
        + db.pending(query, &plan.planned, judges)?;
    Ok((calls, missing))
}

/// A judge's share of calls that are not planned yet: equal for all judges, except for a remainder.
pub(super) fn share(calls: usize, judges: usize, judge_index: usize) -> usize {
    calls / judges.max(1) + usize::from(judge_index < calls % judges.max(1))
}
