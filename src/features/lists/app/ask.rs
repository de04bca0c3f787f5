//! Plans list calls in rounds, and asks them. Each call is stored before it is asked.

use super::answered::{AnsweredList, answered_lists};
use super::identities::identities;
use super::list_judge::question;
use crate::app::annotate::prompt_inputs::{LackingInputs, check_project};
use crate::app::choose_judges::{JudgeConfiguration, check_budget, is_paid};
use crate::app::error::{AppError, invalid};
use crate::client::call_key::identity_of;
use crate::client::{RunControl, now_ms};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sampling::SeededRng;
use crate::features::lists::domain::{
    Block, CallCount, ListKind, ListModel, ListPlan, ListRound, PairShare, PlanState, fit_blocks,
};
use crate::features::lists::store::StoredList;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::list_judge::{ListQuestion, ask_lists};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::judge::{JudgeEnsemble, JudgeQuestion, JudgeSpec, PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// What is wanted.
#[derive(Clone, Debug)]
pub struct ListWish {
    /// Names of judges; all that can answer if empty.
    pub judges: Vec<String>,
    /// Names of queries; all if empty.
    pub queries: Vec<String>,
    pub kind: ListKind,
    pub plan: ListPlan,
    /// Number of calls per query, including the lists that the project has.
    pub calls: CallCount,
    /// The share of these calls that is spent on pairs.
    pub mix: Option<PairShare>,
    pub seed: u64,
}

/// A prepared run.
#[derive(Clone, Debug)]
pub struct ListRun {
    judges: JudgeEnsemble,
    /// The identities of each judge's lists.
    identities: Vec<Vec<[u8; 32]>>,
    queries: Vec<NamedQuery>,
    kind: ListKind,
    plan: ListPlan,
    /// Number of calls about each query, with those on pairs.
    calls: HashMap<QueryKey, usize>,
    mix: Option<PairShare>,
    top: usize,
    seed: u64,
    /// Queries with too few documents for a list.
    pub too_small: usize,
    pub notes: Vec<String>,
}

/// The remaining calls of a run and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ListEstimate {
    pub queries: usize,
    /// Calls whose answers the project holds, malformed ones included.
    pub answered: usize,
    /// Calls that open batches make. The next round of their queries waits for them, and is not
    /// priced.
    pub in_batches: usize,
    pub expected: CallVolume,
    /// Votes on pairs with the same information ([`ListKind::votes`]), one per call.
    pub votes: CallVolume,
    /// If every list shows the longest documents of its query and every reply is as long as allowed.
    pub most: CallVolume,
}

/// A query in the terms of the judges.
pub(super) struct QueryLists {
    pub(super) key: QueryKey,
    pub(super) name: QueryId,
    pub(super) documents: Vec<DocId>,
    pub(super) pool: Arc<PoolText>,
    /// Lists of this kind to the judges as they are configured.
    pub(super) lists: Vec<AnsweredList>,
}

/// How often a list is drawn again that a judge has seen.
const MOST_DRAWS: usize = 200;

/// A query with its name.
type NamedQuery = (QueryKey, QueryId);

/// The next calls of some queries, which the project holds.
pub(super) struct ListCallRound {
    /// The queries that have any.
    pub(super) queries: Vec<NamedQuery>,
    /// Those without an answer that no open batch makes.
    pub(super) open: Vec<ListQuestion>,
    /// The hashes of all of them.
    planned: Vec<[u8; 32]>,
}

/// A list call to ask.
pub(super) struct OpenList {
    question: ListQuestion,
    /// Not yet stored.
    new: Option<StoredList>,
}

/// Reads what a run needs. Changes nothing.
///
/// # Errors
/// No judge can answer, there is no such query, or no query has enough documents.
pub fn prepare_lists(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    wish: &ListWish,
) -> std::result::Result<ListRun, AppError> {
    let kind = question(wish.kind.form()).kind();
    let chosen = configuration.choose_rerankers(&wish.judges, kind)?;
    if chosen.ensemble.is_empty() {
        return Err(invalid!("no configured judge can order a list"));
    }
    let lacking = LackingInputs::of(&chosen.ensemble);
    let (names, size, calls) = (wish.queries.clone(), wish.kind.size(), wish.calls);
    let specs: Vec<JudgeSpec> = chosen.ensemble.iter().map(|of| of.spec().clone()).collect();
    let (queries, calls, too_small, top, identities) = store.read_blocking(move |db| {
        check_project(db, lacking, &[])?;
        let identities = specs.iter().map(|spec| identities(db, spec));
        let identities: Vec<_> = identities.collect::<Result<_>>()?;
        let mut queries = Vec::new();
        for name in &names {
            let key = db.find_query(name)?;
            if !queries.iter().any(|(known, _)| *known == key) {
                queries.push((key, db.query(key)?.id));
            }
        }
        let all = db.queries()?;
        if names.is_empty() {
            queries = all.iter().map(|of| (of.key, of.id.clone())).collect();
        }
        let large = all.iter().filter(|of| of.documents >= size);
        let calls: HashMap<QueryKey, usize> = large
            .map(|of| (of.key, calls.of(of.documents, size)))
            .collect();
        let before = queries.len();
        queries.retain(|(key, _)| calls.contains_key(key));
        let (too_small, top) = (before - queries.len(), db.settings()?.top);
        Ok((queries, calls, too_small, top, identities))
    })?;
    if queries.is_empty() {
        return Err(invalid!(
            "no query has the {size} documents that a list needs; ask about smaller lists (--size; \
             --lists of annotate)"
        ));
    }
    Ok(ListRun {
        judges: chosen.ensemble,
        identities,
        queries,
        kind: wish.kind,
        plan: wish.plan,
        calls,
        mix: wish.mix,
        top,
        seed: wish.seed,
        too_small,
        notes: chosen.notes,
    })
}

impl ListRun {
    pub fn judges(&self) -> &JudgeEnsemble {
        &self.judges
    }

    pub(super) fn queries(&self) -> &[NamedQuery] {
        &self.queries
    }

    pub fn kind(&self) -> ListKind {
        self.kind
    }

    pub(super) fn mix(&self) -> Option<PairShare> {
        self.mix
    }

    /// Number of calls about each query, with those on pairs.
    pub(super) fn calls(&self) -> impl Iterator<Item = usize> {
        let of = |(key, _): &NamedQuery| self.calls.get(key).copied().unwrap_or(0);
        self.queries.iter().map(of)
    }

    /// Number of list calls about a query: at most as many as there are different ones.
    fn lists_of(&self, query: &QueryLists) -> usize {
        let calls = self.calls.get(&query.key).copied().unwrap_or(0);
        let calls = self.mix.map_or(calls, |mix| mix.lists(calls));
        let (documents, size) = (query.documents.len(), self.kind.size());
        let orders = (0..size).map(|at| documents.saturating_sub(at));
        let orders = orders.fold(1, usize::saturating_mul);
        calls.min(orders.saturating_mul(self.judges.len()))
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub fn is_paid(&self) -> bool {
        self.judges.iter().any(|judge| is_paid(judge.as_ref()))
    }

    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64) -> std::result::Result<(), AppError> {
        check_budget(budget, &self.judges)
    }

    /// The judge that is asked about list number `at` of a query.
    fn seat(&self, at: usize) -> usize {
        at % self.judges.len().max(1)
    }

    pub(super) fn read(&self, db: &Db, key: QueryKey, name: &QueryId) -> Result<QueryLists> {
        let mut query = self.read_lists(db, key, name, |of| {
            !of.is_probe() && self.seat_of(&of.list).is_some()
        })?;
        let mut lists = std::mem::take(&mut query.lists);
        lists.retain(|of| self.is_valid(&query, of));
        query.lists = lists;
        Ok(query)
    }

    /// Whether a call is answered, is being made, or can still be asked.
    pub(super) fn is_valid(&self, query: &QueryLists, of: &AnsweredList) -> bool {
        !of.is_outstanding() || self.repeated(query, &of.list).is_some()
    }

    /// The probes of the judge at a seat, instead of the lists of a run, with those that cannot be
    /// asked anymore.
    pub(super) fn read_probes(
        &self,
        db: &Db,
        key: QueryKey,
        name: &QueryId,
        seat: usize,
    ) -> Result<QueryLists> {
        self.read_lists(db, key, name, |of| {
            of.is_probe() && self.seat_of(&of.list) == Some(seat)
        })
    }

    fn read_lists(
        &self,
        db: &Db,
        key: QueryKey,
        name: &QueryId,
        wanted: impl Fn(&AnsweredList) -> bool,
    ) -> Result<QueryLists> {
        let mut lists = answered_lists(db, Some(name))?;
        lists.retain(|of| of.kind == Some(self.kind) && wanted(of));
        Ok(QueryLists {
            key,
            name: name.clone(),
            documents: db.document_ids(key)?,
            pool: Arc::new(db.pool_text(key, None)?),
            lists,
        })
    }

    /// The question of a stored call; `None` if it would not be the same call, because a text has
    /// changed.
    pub(super) fn repeated(&self, query: &QueryLists, list: &StoredList) -> Option<ListQuestion> {
        let shown = query.places(&list.shown)?;
        let question = self.question(query, self.seat_of(list)?, &shown)?;
        (question.key() == list.key).then_some(question)
    }

    fn seat_of_judge(&self, question: &ListQuestion) -> Option<usize> {
        let name = &question.judge.spec().name;
        let mut judges = self.judges.iter();
        judges.position(|judge| judge.spec().name == *name)
    }

    /// The seat of the judge as it is configured now.
    pub(super) fn seat_of(&self, list: &StoredList) -> Option<usize> {
        let mut judges = self.judges.iter().zip(&self.identities);
        judges.position(|(judge, known)| {
            judge.spec().name == list.judge && known.contains(&list.identity)
        })
    }

    /// Number of missing calls that are not in an open batch.
    pub(super) fn left(&self, query: &QueryLists) -> usize {
        let made = query.lists.iter().filter(|of| !of.is_outstanding()).count();
        self.lists_of(query).saturating_sub(made)
    }

    /// Whether a round depends on the answers of the one before.
    pub(super) fn waits_for_answers(&self) -> bool {
        self.plan != ListPlan::Random
    }

    /// Number of calls in open batches, as far as they are wanted.
    pub(super) fn in_batches(&self, query: &QueryLists) -> usize {
        let answered = query.lists.iter().filter(|of| of.reply.is_some()).count();
        let in_batches = query.lists.iter().filter(|of| of.is_in_batch()).count();
        in_batches.min(self.lists_of(query).saturating_sub(answered))
    }

    /// Stored calls that can be asked, as far as they are wanted.
    fn outstanding(&self, query: &QueryLists) -> Vec<OpenList> {
        let open = query.lists.iter().filter(|of| of.is_outstanding());
        open.filter_map(|of| self.repeated(query, &of.list))
            .take(self.left(query))
            .map(|question| OpenList {
                question,
                new: None,
            })
            .collect()
    }

    pub(super) fn question(
        &self,
        query: &QueryLists,
        seat: usize,
        shown: &[usize],
    ) -> Option<ListQuestion> {
        let judge = self.judges.get(seat)?;
        let shown = shown.to_vec();
        Some(ListQuestion::new(
            judge,
            query.key,
            &query.pool,
            shown,
            question(self.kind.form()),
        ))
    }

    /// The question about a list in an order in which the judge has not seen it: after a few
    /// attempts, about other documents. `None` if none is found.
    fn new_question(
        &self,
        query: &QueryLists,
        seat: usize,
        list: &[usize],
        known: &HashSet<[u8; 32]>,
    ) -> Option<(Vec<usize>, ListQuestion)> {
        let mut list = list.to_vec();
        let mut rng = SeededRng::new(self.seed, &["lists", "another order", query.name.as_str()]);
        for attempt in 0..MOST_DRAWS {
            let question = self.question(query, seat, &list)?;
            if !known.contains(&question.key()) {
                return Some((list, question));
            }
            if attempt > MOST_DRAWS / 4 {
                let mut documents: Vec<usize> = (0..query.documents.len()).collect();
                rng.shuffle(&mut documents);
                documents.truncate(list.len());
                list = documents;
            }
            rng.shuffle(&mut list);
        }
        None
    }

    /// The next calls of a query: those that were planned and have no answer, or else those of the
    /// next round, which waits for open batches unless the plan is *random*: that has one round.
    pub(super) fn next(&self, query: &QueryLists) -> Vec<OpenList> {
        let mut open = self.outstanding(query);
        let (mut planned, calls) = (query.lists.len(), self.lists_of(query));
        let is_waiting = self.waits_for_answers() && self.in_batches(query) > 0;
        if !open.is_empty() || is_waiting || planned >= calls {
            return open;
        }
        let size = query.documents.len();
        let (mut blocks, mut shown) = (Vec::new(), vec![0; size]);
        for of in &query.lists {
            if let (Some(kind), Some(order)) = (of.kind, of.order())
                && let Some(order) = query.places(order)
                && let Some(seat) = self.seat_of(&of.list)
            {
                blocks.extend(Block::list(seat, kind, &order));
            }
            if let Some(places) = query.places(&of.list.shown) {
                places.into_iter().for_each(|document| shown[document] += 1);
            }
        }
        let fit = (!blocks.is_empty())
            .then(|| fit_blocks(size, &blocks, &ListModel::default()))
            .flatten();
        let mut known: HashSet<[u8; 32]> = query.lists.iter().map(|of| of.list.key).collect();
        let mut number = query
            .lists
            .iter()
            .map(|of| of.list.round + 1)
            .max()
            .unwrap_or(0);
        while planned < calls {
            let state = PlanState {
                documents: size,
                shown: &shown,
                fit: fit.as_ref(),
                top: self.top,
            };
            let round = ListRound {
                seed: self.seed,
                query: query.name.as_str(),
                number,
            };
            let mut lists = self.plan.next_lists(self.kind.size(), &state, &round);
            if lists.is_empty() {
                break;
            }
            lists.truncate(calls - planned);
            for list in lists {
                // A judge that has seen all orders is replaced.
                let mut seats = (0..self.judges.len()).map(|more| self.seat(planned + more));
                let new = seats.find_map(|seat| self.new_question(query, seat, &list, &known));
                if let Some((list, question)) = new {
                    list.iter().for_each(|document| shown[*document] += 1);
                    known.insert(question.key());
                    let new = self.stored(query, &question, &list, number, self.plan.name());
                    open.push(OpenList {
                        new: Some(new),
                        question,
                    });
                }
                planned += 1;
            }
            number += 1;
            if self.waits_for_answers() {
                break;
            }
        }
        open
    }

    /// The next calls of the queries that have any, without those that were attempted.
    fn next_of(
        &self,
        db: &Db,
        queries: &[NamedQuery],
        attempted: &HashSet<[u8; 32]>,
    ) -> Result<Vec<(NamedQuery, Vec<OpenList>)>> {
        let mut found = Vec::new();
        for (key, name) in queries {
            let mut open = self.next(&self.read(db, *key, name)?);
            open.retain(|list| !attempted.contains(&list.question.key()));
            if !open.is_empty() {
                found.push(((*key, name.clone()), open));
            }
        }
        Ok(found)
    }

    pub(super) fn stored(
        &self,
        query: &QueryLists,
        question: &ListQuestion,
        shown: &[usize],
        round: usize,
        plan: &str,
    ) -> StoredList {
        let spec = question.judge.spec();
        let names = shown.iter().filter_map(|at| query.documents.get(*at));
        StoredList {
            uid: Uuid::now_v7().to_string(),
            query: query.name.clone(),
            judge: spec.name.clone(),
            identity: identity_of(spec),
            form: self.kind.form().to_string(),
            shown: names.cloned().collect(),
            plan: plan.to_owned(),
            round,
            key: question.key(),
            created_ms: now_ms(),
        }
    }

    /// The remaining calls, in batches or not. The documents of later rounds depend on answers; they
    /// are taken to cost as much as those of the next round.
    pub fn estimate(
        &self,
        store: &Store,
        in_batches: bool,
    ) -> std::result::Result<ListEstimate, AppError> {
        let run = self.clone();
        Ok(store.read_blocking(move |db| {
            let mut tests = in_batches.then(|| TestCalls::new(run.judges.len()));
            let mut estimate = ListEstimate {
                queries: run.queries.len(),
                answered: 0,
                in_batches: 0,
                expected: CallVolume::NONE,
                votes: CallVolume::NONE,
                most: CallVolume::NONE,
            };
            for (key, name) in &run.queries {
                let query = run.read(db, *key, name)?;
                let answered = query.lists.iter().filter(|of| of.reply.is_some()).count();
                estimate.answered += answered;
                estimate.in_batches += run.in_batches(&query);
                let next = run.next(&query);
                let left = run.left(&query);
                if next.is_empty() || left == 0 {
                    continue;
                }
                let share = left as f64 / next.len() as f64;
                let questions = || next.iter().map(|open| &open.question);
                let of_round = questions().map(|of| match &mut tests {
                    Some(tests) => tests.add(run.seat_of_judge(of), of, share),
                    None => of.estimate().0,
                });
                let of_round: CallVolume = of_round.sum();
                if let Some(tests) = &mut tests {
                    // Calls that were stored before may be fewer than a round.
                    let a_round = if next.iter().all(|open| open.new.is_some()) {
                        next.len()
                    } else {
                        (query.documents.len() / run.kind.size()).max(1)
                    };
                    let later = left.saturating_sub(next.len()).div_ceil(a_round);
                    tests.rounds = tests.rounds.max(1 + later);
                }
                let vote = |of| vote_on_its_pairs(of, in_batches);
                let votes: CallVolume = questions().map(vote).sum();
                let votes = votes.times(share * run.kind.votes());
                estimate.expected = [estimate.expected, of_round.times(share)].into_iter().sum();
                estimate.votes = [estimate.votes, votes].into_iter().sum();
                let mut longest: Vec<usize> = (0..query.documents.len()).collect();
                longest.sort_by_key(|at| {
                    std::cmp::Reverse(query.pool.documents.get(*at).map_or(0, |text| text.len()))
                });
                longest.truncate(run.kind.size());
                let most = (0..left).filter_map(|at| {
                    let seat = run.seat(at);
                    let question = run.question(&query, seat, &longest)?;
                    Some(match &mut tests {
                        Some(tests) => tests.add_longest(seat, &question),
                        None => question.estimate().1,
                    })
                });
                let most: CallVolume = most.sum();
                estimate.most = [estimate.most, most].into_iter().sum();
            }
            if let Some(tests) = tests {
                tests.add_to(&mut estimate);
            }
            Ok(estimate)
        })?)
    }

    /// Stores the next calls of these queries, without those that were attempted.
    pub(super) async fn next_round(
        &self,
        store: &Store,
        queries: Vec<NamedQuery>,
        attempted: &HashSet<[u8; 32]>,
    ) -> std::result::Result<ListCallRound, AppError> {
        let (run, known) = (self.clone(), attempted.clone());
        let planned = store
            .read(move |db| run.next_of(db, &queries, &known))
            .await?;
        let queries = planned.iter().map(|(query, _)| query.clone()).collect();
        let (mut open, mut new) = (Vec::new(), Vec::new());
        for list in planned.into_iter().flat_map(|(_, lists)| lists) {
            open.push(list.question);
            new.extend(list.new);
        }
        let planned: Vec<[u8; 32]> = open.iter().map(ListQuestion::key).collect();
        let keys = planned.clone();
        let answered = store
            .write(move |db| {
                for list in &new {
                    db.add_list_call(list)?;
                }
                // A probe or a call in a batch may be the same.
                let mut answered = HashSet::new();
                for key in keys {
                    if db.rerank_answer(&key, false)?.is_some() || db.is_list_being_made(&key)? {
                        answered.insert(key);
                    }
                }
                Ok(answered)
            })
            .await?;
        open.retain(|list| !answered.contains(&list.key()));
        Ok(ListCallRound {
            queries,
            open,
            planned,
        })
    }

    /// Asks all remaining calls, in rounds. Returns how many calls are left without an answer.
    ///
    /// No call is attempted twice in a run. A round in which most calls fail is the last one.
    pub async fn ask(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> std::result::Result<usize, AppError> {
        let mut attempted: HashSet<[u8; 32]> = HashSet::new();
        // A query without a further call has none in later rounds either.
        let mut queries = self.queries.clone();
        loop {
            let round = self.next_round(store, queries, &attempted).await?;
            if round.queries.is_empty() || control.borrow().cancelled {
                break;
            }
            let ListCallRound { open, planned, .. } = round;
            queries = round.queries;
            attempted.extend(planned);
            let asked = open.len();
            let missing = ask_lists(store, &self.judges, &open, control.clone(), &events).await?;
            if 2 * missing > asked {
                break;
            }
        }
        let run = self.clone();
        let missing = store
            .read(move |db| {
                let mut missing = 0;
                for (key, name) in &run.queries {
                    let query = run.read(db, *key, name)?;
                    // Documents with equal texts have fewer different lists.
                    if !run.next(&query).is_empty() {
                        missing += run.left(&query);
                    }
                }
                Ok(missing)
            })
            .await?;
        Ok(missing)
    }
}

/// The calls that are made before batches at the full price: one for each judge and round.
struct TestCalls {
    rounds: usize,
    /// The price of all calls outside of batches.
    alone: Prices,
    /// By judge: what a test call costs more than in a batch.
    judges: Vec<Prices>,
}

/// US dollars; `None` if a price is unknown.
#[derive(Clone, Copy)]
struct Prices {
    expected: Option<f64>,
    most: Option<f64>,
}

impl Prices {
    const NONE: Self = Self {
        expected: Some(0.0),
        most: Some(0.0),
    };
}

impl TestCalls {
    fn new(judges: usize) -> Self {
        Self {
            rounds: 0,
            alone: Prices::NONE,
            judges: vec![Prices::NONE; judges],
        }
    }

    /// Adds a question of the next round, which stands for `share` questions. Returns its effort in
    /// a batch.
    fn add(&mut self, judge: Option<usize>, question: &ListQuestion, share: f64) -> CallVolume {
        let (alone, batched) = (question.estimate().0, question.estimate_in_batch().0);
        self.alone.expected = sum(self.alone.expected, alone.usd.map(|usd| usd * share));
        if let Some(judge) = judge.and_then(|judge| self.judges.get_mut(judge)) {
            judge.expected = highest(judge.expected, more(&alone, &batched));
        }
        batched
    }

    /// Adds a question about the longest documents. Returns its maximum effort in a batch.
    fn add_longest(&mut self, judge: usize, question: &ListQuestion) -> CallVolume {
        let (alone, batched) = (question.estimate().1, question.estimate_in_batch().1);
        self.alone.most = sum(self.alone.most, alone.usd);
        if let Some(judge) = self.judges.get_mut(judge) {
            judge.most = highest(judge.most, more(&alone, &batched));
        }
        batched
    }

    /// Adds the price of the tests. No call costs more than outside of batches.
    fn add_to(&self, estimate: &mut ListEstimate) {
        let rounds = self.rounds as f64;
        let judges = || self.judges.iter();
        let expected: Option<f64> = judges().map(|judge| judge.expected).sum();
        let most: Option<f64> = judges().map(|judge| judge.most).sum();
        for (volume, more, alone) in [
            (&mut estimate.expected, expected, self.alone.expected),
            (&mut estimate.most, most, self.alone.most),
        ] {
            let usd = sum(volume.usd, more.map(|usd| usd * rounds));
            volume.usd = usd.zip(alone).map(|(usd, alone)| usd.min(alone));
        }
    }
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a + b)
}

fn highest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.zip(b).map(|(a, b)| a.max(b))
}

fn more(alone: &CallVolume, batched: &CallVolume) -> Option<f64> {
    let usd = alone.usd.zip(batched.usd);
    usd.map(|(alone, batched)| (alone - batched).max(0.0))
}

/// The effort of a vote of the same judge on a pair of the list's documents, in a batch or not: the
/// mean over those that are shown next to each other.
fn vote_on_its_pairs(list: &ListQuestion, in_batch: bool) -> CallVolume {
    let shown = &list.shown.shown;
    let votes = shown.windows(2).map(|pair| {
        let case = PresentedPair {
            pool: Arc::clone(&list.shown.pool),
            first: pair[0],
            second: pair[1],
        };
        let prompt = list.judge.prompt(JudgeQuestion::Pair(&case));
        let (usage, mut usd) = list.judge.estimate(&prompt);
        if in_batch {
            let api = list.judge.batch();
            usd = api.and_then(|api| api.batch_cost(&prompt).1);
        }
        CallVolume {
            calls: 1.0,
            tokens_input: usage.input as f64,
            tokens_output: usage.output as f64,
            usd,
        }
    });
    let votes: CallVolume = votes.sum();
    votes.times(1.0 / shown.len().saturating_sub(1).max(1) as f64)
}

impl QueryLists {
    /// The pool indexes of documents; `None` if the pool lacks one.
    pub(super) fn places<'a>(
        &self,
        names: impl IntoIterator<Item = &'a DocId>,
    ) -> Option<Vec<usize>> {
        let place = |name: &DocId| self.documents.iter().position(|of| of == name);
        names.into_iter().map(place).collect()
    }
}
