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
use crate::domain::battle::BattleId;
use crate::judge::{PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::votes::{CallSelection, OutstandingCall};
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
    /// Battles that the worker was given, where their queries are looked at again for further rounds.
    asked_battles: HashSet<BattleId>,
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
        while let Some((place, selection)) = self.next_task().await {
            let Some(query) = shared.queries.get(place).copied() else {
                continue;
            };
            let mut calls = self.outstanding(query, selection).await?;
            // A judge that was away still has the calls of the rounds before it.
            calls.retain(|call| !self.asked_battles.contains(&call.battle));
            // Told before the first question is put: the run counts these calls down as they end.
            let found = SourceEvent::Found {
                judge_index: self.judge_index,
                query,
                calls: calls.len(),
            };
            drop(self.events.send(found).await);
            if calls.is_empty() {
                continue;
            }
            calls.truncate(left);
            left -= calls.len();
            if shared.request.campaign.is_some() {
                self.asked_battles
                    .extend(calls.iter().map(|call| call.battle));
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
