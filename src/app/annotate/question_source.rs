//! One judge's way through the plan: which questions its worker is given, in order.
//!
//! A question source holds no more than the texts of the query it works on, and waits while its worker has enough, so that memory
//! does not grow with the number of battles.

use super::battle_question::BattleQuestion;
use super::context::RunContext;
use super::error::RunError;
use super::plan::plan_so_far;
use crate::client::call_key::call_key;
use crate::client::now_ms;
use crate::domain::battle::{BattleId, Pair};
use crate::judge::{PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::outstanding::{CallSelection, OutstandingCall};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Questions that wait for the worker at most.
pub(super) const WAITING: usize = 64;

/// A query that a question source is to look at, by its place in the run: earlier queries go first.
#[derive(Debug)]
pub(super) struct SourceTask {
    pub(super) place: usize,
    pub(super) selection: CallSelection,
}

/// What question sources tell the run.
#[derive(Debug)]
pub(super) enum SourceEvent {
    /// A judge is about to make its calls on a query.
    Found {
        judge_index: usize,
        query: QueryKey,
        calls: usize,
    },
    /// The answer of an identical call counts for a call, and that is on disk.
    Reused {
        judge_index: usize,
        query: QueryKey,
    },
    Failed(RunError),
}

/// What gives one judge's worker its questions.
pub(super) struct QuestionSource {
    pub(super) shared: Arc<RunContext>,
    pub(super) judge_index: usize,
    pub(super) source_tasks: mpsc::UnboundedReceiver<SourceTask>,
    pub(super) questions: mpsc::Sender<BattleQuestion>,
    pub(super) events: mpsc::Sender<SourceEvent>,
    /// Queries to look at, by their place in the run.
    waiting: BTreeMap<usize, CallSelection>,
    /// Battles that the worker was given, where their queries are looked at again: for further rounds, or after the probe.
    asked_battles: HashSet<BattleId>,
    /// Queries whose calls the run has been told of when their pairs were probed.
    told: HashSet<usize>,
}

impl QuestionSource {
    pub(super) fn new(
        shared: Arc<RunContext>,
        judge_index: usize,
        source_tasks: mpsc::UnboundedReceiver<SourceTask>,
        questions: mpsc::Sender<BattleQuestion>,
        events: mpsc::Sender<SourceEvent>,
    ) -> Self {
        Self {
            shared,
            judge_index,
            source_tasks,
            questions,
            events,
            waiting: BTreeMap::new(),
            asked_battles: HashSet::new(),
            told: HashSet::new(),
        }
    }

    /// Goes through the queries until there are no more, or the worker takes no more.
    pub(super) async fn work(mut self) {
        if let Err(error) = self.through_queries().await {
            drop(self.events.send(SourceEvent::Failed(error)).await);
        }
    }

    async fn through_queries(&mut self) -> Result<(), RunError> {
        let shared = Arc::clone(&self.shared);
        let mut left = shared.request.at_most.unwrap_or(usize::MAX);
        if !shared.specs[self.judge_index].is_offline() {
            // First of all: it is to be known early what the order of the documents does to the judge.
            for place in &shared.probed {
                let goes_on = !shared.control.borrow().cancelled;
                if !goes_on
                    || !self
                        .look_at(*place, shared.request.selection, true, &mut left)
                        .await?
                {
                    return Ok(());
                }
            }
        }
        while let Some((place, selection)) = self.next_task().await {
            if !self.look_at(place, selection, false, &mut left).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Asks what is outstanding of a query, or of its probed pairs only, `left` calls at most; returns whether more may be
    /// asked.
    async fn look_at(
        &mut self,
        place: usize,
        selection: CallSelection,
        probe_only: bool,
        left: &mut usize,
    ) -> Result<bool, RunError> {
        let shared = Arc::clone(&self.shared);
        let Some(query) = shared.queries.get(place).copied() else {
            return Ok(true);
        };
        let (mut calls, probed) = self.outstanding(query, selection).await?;
        // A judge that was away still has the calls of the rounds before it.
        calls.retain(|call| !self.asked_battles.contains(&call.battle));
        let told = match probe_only {
            true => !self.told.insert(place),
            false => self.told.remove(&place),
        };
        if !told {
            // Told before the first question is put: the run counts these calls down as they end.
            let found = SourceEvent::Found {
                judge_index: self.judge_index,
                query,
                calls: calls.len(),
            };
            drop(self.events.send(found).await);
        }
        if probe_only {
            let pair = |call: &OutstandingCall| Pair::new(call.a, call.b);
            calls.retain(|call| pair(call).is_some_and(|pair| probed.contains(&pair)));
            // The two orders of a pair together.
            calls.sort_by_key(pair);
        }
        if calls.is_empty() {
            return Ok(true);
        }
        calls.truncate(*left);
        *left -= calls.len();
        if probe_only || shared.request.rounds().is_some() {
            self.asked_battles
                .extend(calls.iter().map(|call| call.battle));
        }
        let pool = shared.pool(query).await?;
        // So many prompts are in memory at a time, however large the pool.
        for calls in calls.chunks(WAITING) {
            let questions = calls.iter().map(|call| self.question(query, *call, &pool));
            for question in self.unknown(questions.collect()).await? {
                if self.questions.send(question).await.is_err() {
                    return Ok(false);
                }
            }
        }
        Ok(*left > 0)
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
            // On disk before it is told, as every other vote.
            store.write(reuse).await?;
            let reused = SourceEvent::Reused {
                judge_index: self.judge_index,
                query: question.query,
            };
            drop(self.events.send(reused).await);
        }
        Ok(unknown)
    }

    /// The next query to look at, once there is one; `None` when there is none to come.
    async fn next_task(&mut self) -> Option<(usize, CallSelection)> {
        loop {
            while let Ok(task) = self.source_tasks.try_recv() {
                self.waiting.insert(task.place, task.selection);
            }
            if self.shared.control.borrow().cancelled || self.questions.is_closed() {
                return None;
            }
            if let Some(first) = self.waiting.pop_first() {
                return Some(first);
            }
            tokio::select! {
                task = self.source_tasks.recv() => {
                    let task = task?;
                    self.waiting.insert(task.place, task.selection);
                }
                () = self.questions.closed() => return None,
            }
        }
    }

    async fn outstanding(
        &self,
        query: QueryKey,
        selection: CallSelection,
    ) -> Result<(Vec<OutstandingCall>, HashSet<Pair>), RunError> {
        let (shared, judge_index) = (Arc::clone(&self.shared), self.judge_index);
        let calls = self
            .shared
            .store
            .read(move |db| {
                let specs = std::slice::from_ref(&shared.specs[judge_index]);
                let judges = std::slice::from_ref(&shared.judges[judge_index]);
                let plan = plan_so_far(db, query, &shared.request, specs, judges)?;
                let calls = db.outstanding(query, &plan.planned, judges, &plan.shown, selection)?;
                Ok((calls, plan.probed()))
            })
            .await?;
        Ok(calls)
    }
}
