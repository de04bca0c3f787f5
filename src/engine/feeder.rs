//! One judge's way through the plan: which questions its worker is given, in order.
//!
//! A feeder holds no more than the texts of the query it works on, and waits while its worker has enough, so that memory
//! does not grow with the number of battles.

use super::plan::plan_so_far;
use super::question::{BattleQuestion, call_key};
use super::rounds::Visit;
use super::{EngineError, Request, now_ms};
use crate::client::Control;
use crate::client::worker::lock;
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::judge::{Case, Ensemble, PoolText, offline};
use crate::store::Store;
use crate::store::calls::{Holes, Outstanding};
use crate::store::corpus::QueryKey;
use crate::store::runs::RunId;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::{mpsc, watch};

/// Pools that are kept between their rounds.
const KEPT: usize = 16;
/// Questions that wait for the worker at most.
pub(super) const WAITING: usize = 64;

/// What feeders tell the run.
#[derive(Debug)]
pub(super) enum Fed {
    /// A judge is about to make its calls on a query.
    Found {
        seat: usize,
        query: QueryKey,
        calls: usize,
    },
    /// The answer of an identical call counts for a call, and that is on disk.
    Reused { seat: usize, query: QueryKey },
    /// The project failed.
    Failed(EngineError),
}

/// What all feeders of a run have in common.
#[derive(Debug)]
pub(super) struct RunShared {
    pub(super) store: Store,
    pub(super) run: RunId,
    pub(super) ensemble: Ensemble,
    pub(super) judges: Vec<JudgeId>,
    pub(super) names: Vec<String>,
    pub(super) request: Request,
    pub(super) queries: Vec<QueryKey>,
    pub(super) control: watch::Receiver<Control>,
    pub(super) pools: Mutex<HashMap<QueryKey, Weak<PoolText>>>,
    /// The latest of them, where their queries' next rounds are to come.
    pub(super) kept: Mutex<VecDeque<Arc<PoolText>>>,
}

impl RunShared {
    /// A query's texts, loaded once while any judge works on them.
    async fn pool(&self, query: QueryKey) -> Result<Arc<PoolText>, EngineError> {
        let known =
            |pools: &HashMap<QueryKey, Weak<PoolText>>| pools.get(&query).and_then(Weak::upgrade);
        if let Some(pool) = known(&lock(&self.pools)) {
            return Ok(pool);
        }
        // Offline judges weigh terms by the whole pool; others need only what is put before them.
        let lexical = self.ensemble.iter().any(|judge| judge.spec().is_offline());
        let depth = self.request.depth.filter(|_| !lexical);
        let (text, documents) = self
            .store
            .read(move |db| {
                let info = db.query(query)?;
                let depth = depth.map_or(info.documents, |limit| limit.min(info.documents));
                let documents = (0..depth)
                    .map(|at| db.document_text(query, at))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok((info.text, documents))
            })
            .await?;
        let pool = Arc::new(PoolText::new(text, documents));
        if lexical {
            // The first look at a pool takes a while where it is large, and would hold up every other task.
            let analysed = Arc::clone(&pool);
            tokio::task::spawn_blocking(move || {
                offline::analysis(&analysed);
            })
            .await
            .map_err(|error| EngineError::Crashed(error.to_string()))?;
        }
        let mut pools = lock(&self.pools);
        if let Some(pool) = known(&pools) {
            return Ok(pool);
        }
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(query, Arc::downgrade(&pool));
        if self.request.campaign.is_some() {
            let mut kept = lock(&self.kept);
            kept.push_back(Arc::clone(&pool));
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        Ok(pool)
    }
}

/// What gives one judge's worker its questions.
pub(super) struct Feeder {
    pub(super) shared: Arc<RunShared>,
    pub(super) seat: usize,
    pub(super) visits: mpsc::UnboundedReceiver<Visit>,
    pub(super) questions: mpsc::Sender<BattleQuestion>,
    pub(super) fed: mpsc::Sender<Fed>,
    /// Queries to look at, by their place in the run.
    waiting: BTreeMap<usize, Holes>,
    /// Battles that the worker was given, where their queries are looked at again for further rounds.
    given: HashSet<BattleId>,
}

impl Feeder {
    pub(super) fn new(
        shared: Arc<RunShared>,
        seat: usize,
        visits: mpsc::UnboundedReceiver<Visit>,
        questions: mpsc::Sender<BattleQuestion>,
        fed: mpsc::Sender<Fed>,
    ) -> Self {
        Self {
            shared,
            seat,
            visits,
            questions,
            fed,
            waiting: BTreeMap::new(),
            given: HashSet::new(),
        }
    }

    /// Goes through the queries until there are no more, or the worker takes no more.
    pub(super) async fn work(mut self) {
        if let Err(error) = self.through_queries().await {
            drop(self.fed.send(Fed::Failed(error)).await);
        }
    }

    async fn through_queries(&mut self) -> Result<(), EngineError> {
        let shared = Arc::clone(&self.shared);
        let mut left = shared.request.at_most.unwrap_or(usize::MAX);
        while let Some((place, holes)) = self.next_visit().await {
            let Some(query) = shared.queries.get(place).copied() else {
                continue;
            };
            let mut calls = self.outstanding(query, holes).await?;
            // A judge that was away still has the calls of the rounds before it.
            calls.retain(|call| !self.given.contains(&call.battle));
            let found = Fed::Found {
                seat: self.seat,
                query,
                calls: calls.len(),
            };
            drop(self.fed.send(found).await);
            if calls.is_empty() {
                continue;
            }
            calls.truncate(left);
            left -= calls.len();
            if shared.request.campaign.is_some() {
                self.given.extend(calls.iter().map(|call| call.battle));
            }
            let pool = shared.pool(query).await?;
            // So many prompts are in memory at a time, however large the pool.
            for calls in calls.chunks(WAITING) {
                let questions = calls.iter().map(|call| self.question(query, *call, &pool));
                for question in self.unknown(questions.collect()).await? {
                    if self.questions.send(question).await.is_err() {
                        return Ok(());
                    }
                }
            }
            if left == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    fn question(&self, query: QueryKey, call: Outstanding, pool: &Arc<PoolText>) -> BattleQuestion {
        let judge = &self.shared.ensemble[self.seat];
        let case = Case {
            pool: Arc::clone(pool),
            first: if call.swapped { call.b } else { call.a },
            second: if call.swapped { call.a } else { call.b },
        };
        let prompt = judge.prompt(&case);
        let call_key = call_key(judge.as_ref(), &prompt);
        // What was owed when the last run ended is asked as it would have been then.
        let again = call.again.and_then(|cause| judge.reask(&prompt, cause));
        BattleQuestion {
            shared: Arc::clone(&self.shared),
            seat: self.seat,
            query,
            call,
            case,
            call_key,
            once_more: again.is_some(),
            prompt: again.unwrap_or(prompt),
        }
    }

    /// The questions that no identical call has answered; the answers of the others count for them.
    async fn unknown(
        &self,
        questions: Vec<BattleQuestion>,
    ) -> Result<Vec<BattleQuestion>, EngineError> {
        let keys: Vec<[u8; 32]> = questions.iter().filter_map(|one| one.call_key).collect();
        if keys.is_empty() {
            return Ok(questions);
        }
        let store = &self.shared.store;
        let known = store.read(move |db| db.votes_by_calls(&keys)).await?;
        let mut unknown = Vec::with_capacity(questions.len());
        for question in questions {
            let vote = question.call_key.and_then(|key| known.get(&key)).copied();
            let Some(vote) = vote else {
                unknown.push(question);
                continue;
            };
            let (call, judge) = (question.call, self.shared.judges[self.seat]);
            let run = self.shared.run;
            let reuse = move |db: &mut crate::store::Db| {
                let (battle, swapped, attempt) = (call.battle, call.swapped, call.attempt);
                db.reuse_vote(vote, battle, judge, swapped, attempt, run, now_ms())
            };
            store.write(reuse).await?;
            let reused = Fed::Reused {
                seat: self.seat,
                query: question.query,
            };
            drop(self.fed.send(reused).await);
        }
        Ok(unknown)
    }

    /// The next query to look at, once there is one; `None` when there is none to come.
    async fn next_visit(&mut self) -> Option<(usize, Holes)> {
        loop {
            while let Ok(visit) = self.visits.try_recv() {
                self.waiting.insert(visit.place, visit.holes);
            }
            if self.shared.control.borrow().cancelled || self.questions.is_closed() {
                return None;
            }
            if let Some(first) = self.waiting.pop_first() {
                return Some(first);
            }
            tokio::select! {
                visit = self.visits.recv() => {
                    let visit = visit?;
                    self.waiting.insert(visit.place, visit.holes);
                }
                () = self.questions.closed() => return None,
            }
        }
    }

    async fn outstanding(
        &self,
        query: QueryKey,
        holes: Holes,
    ) -> Result<Vec<Outstanding>, EngineError> {
        let (shared, seat) = (Arc::clone(&self.shared), self.seat);
        let calls = self
            .shared
            .store
            .read(move |db| {
                let names = std::slice::from_ref(&shared.names[seat]);
                let judges = std::slice::from_ref(&shared.judges[seat]);
                let plan = plan_so_far(db, query, &shared.request, names, judges)?;
                db.outstanding(query, &plan.planned, judges, &plan.shown, holes)
            })
            .await?;
        Ok(calls)
    }
}
