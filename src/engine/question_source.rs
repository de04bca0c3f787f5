//! One judge's way through the plan: which questions its worker is given, in order.
//!
//! A feeder holds no more than the texts of the query it works on, and waits while its worker has enough, so that memory
//! does not grow with the number of battles.

use super::battle_question::{BattleQuestion, call_key};
use super::plan::plan_so_far;
use super::rounds::SourceTask;
use super::{RunError, RunRequest, now_ms};
use crate::client::RunControl;
use crate::client::worker::lock;
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, PoolText, PresentedPair};
use crate::store::Store;
use crate::store::calls::{CallSelection, OutstandingCall};
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
pub(super) enum SourceEvent {
    /// A judge is about to make its calls on a query.
    Found {
        judge_index: usize,
        query: QueryKey,
        calls: usize,
    },
    /// The answer of an identical call counts for a call, and that is on disk.
    Reused { judge_index: usize, query: QueryKey },
    /// The project failed.
    Failed(RunError),
}

/// What all feeders of a run have in common.
#[derive(Debug)]
pub(super) struct RunContext {
    pub(super) store: Store,
    pub(super) run: RunId,
    pub(super) ensemble: JudgeEnsemble,
    pub(super) judges: Vec<JudgeId>,
    pub(super) names: Vec<String>,
    pub(super) request: RunRequest,
    pub(super) queries: Vec<QueryKey>,
    pub(super) control: watch::Receiver<RunControl>,
    pub(super) pools: Mutex<HashMap<QueryKey, Weak<PoolText>>>,
    /// The latest of them, where their queries' next rounds are to come.
    pub(super) kept: Mutex<VecDeque<Arc<PoolText>>>,
}

impl RunContext {
    /// A query's texts, loaded once while any judge works on them.
    async fn pool(&self, query: QueryKey) -> Result<Arc<PoolText>, RunError> {
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
                analysed.analysis();
            })
            .await
            .map_err(|error| RunError::Crashed(error.to_string()))?;
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
pub(super) struct QuestionSource {
    pub(super) shared: Arc<RunContext>,
    pub(super) judge_index: usize,
    pub(super) visits: mpsc::UnboundedReceiver<SourceTask>,
    pub(super) questions: mpsc::Sender<BattleQuestion>,
    pub(super) fed: mpsc::Sender<SourceEvent>,
    /// Queries to look at, by their place in the run.
    waiting: BTreeMap<usize, CallSelection>,
    /// Battles that the worker was given, where their queries are looked at again for further rounds.
    given: HashSet<BattleId>,
}

impl QuestionSource {
    pub(super) fn new(
        shared: Arc<RunContext>,
        judge_index: usize,
        visits: mpsc::UnboundedReceiver<SourceTask>,
        questions: mpsc::Sender<BattleQuestion>,
        fed: mpsc::Sender<SourceEvent>,
    ) -> Self {
        Self {
            shared,
            judge_index,
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
            drop(self.fed.send(SourceEvent::Failed(error)).await);
        }
    }

    async fn through_queries(&mut self) -> Result<(), RunError> {
        let shared = Arc::clone(&self.shared);
        let mut left = shared.request.at_most.unwrap_or(usize::MAX);
        while let Some((place, selection)) = self.next_visit().await {
            let Some(query) = shared.queries.get(place).copied() else {
                continue;
            };
            let mut calls = self.outstanding(query, selection).await?;
            // A judge that was away still has the calls of the rounds before it.
            calls.retain(|call| !self.given.contains(&call.battle));
            let found = SourceEvent::Found {
                judge_index: self.judge_index,
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

    fn question(
        &self,
        query: QueryKey,
        call: OutstandingCall,
        pool: &Arc<PoolText>,
    ) -> BattleQuestion {
        let judge = &self.shared.ensemble[self.judge_index];
        let case = PresentedPair {
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
            judge_index: self.judge_index,
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
    ) -> Result<Vec<BattleQuestion>, RunError> {
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
            let (call, judge) = (question.call, self.shared.judges[self.judge_index]);
            let run = self.shared.run;
            let reuse = move |db: &mut crate::store::Db| {
                let (battle, swapped, attempt) = (call.battle, call.swapped, call.attempt);
                db.reuse_vote(vote, battle, judge, swapped, attempt, run, now_ms())
            };
            store.write(reuse).await?;
            let reused = SourceEvent::Reused {
                judge_index: self.judge_index,
                query: question.query,
            };
            drop(self.fed.send(reused).await);
        }
        Ok(unknown)
    }

    /// The next query to look at, once there is one; `None` when there is none to come.
    async fn next_visit(&mut self) -> Option<(usize, CallSelection)> {
        loop {
            while let Ok(visit) = self.visits.try_recv() {
                self.waiting.insert(visit.place, visit.selection);
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
                    self.waiting.insert(visit.place, visit.selection);
                }
                () = self.questions.closed() => return None,
            }
        }
    }

    async fn outstanding(
        &self,
        query: QueryKey,
        selection: CallSelection,
    ) -> Result<Vec<OutstandingCall>, RunError> {
        let (shared, judge_index) = (Arc::clone(&self.shared), self.judge_index);
        let calls = self
            .shared
            .store
            .read(move |db| {
                let names = std::slice::from_ref(&shared.names[judge_index]);
                let judges = std::slice::from_ref(&shared.judges[judge_index]);
                let plan = plan_so_far(db, query, &shared.request, names, judges)?;
                db.outstanding(query, &plan.planned, judges, &plan.shown, selection)
            })
            .await?;
        Ok(calls)
    }
}
