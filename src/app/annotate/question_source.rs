//! One judge's question source: walks through the plan and supplies the judge's worker with
//! questions, in order.
//!
//! A question source keeps only the texts of its current query, and waits while its worker has
//! enough questions, so that memory use does not grow with the number of battles.

use super::battle_question::BattleQuestion;
use super::context::RunContext;
use super::error::RunError;
use super::plan::plan_of_part;
use super::shared_work::PartKey;
use super::stored_answer::StoredAnswer;
use crate::client::call_key::call_key;
use crate::domain::battle::{BattleId, Pair};
use crate::judge::{JudgeQuestion, PoolText, PresentedPair};
use crate::store::outstanding::{CallSelection, OutstandingCall};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Maximum number of questions queued for the worker.
pub(super) const WAITING: usize = 64;

/// A query for a question source to process. Queries that come first in the run have priority.
#[derive(Debug)]
pub(super) struct SourceTask {
    pub(super) place: usize,
    pub(super) key: PartKey,
    pub(super) selection: CallSelection,
}

/// Events that question sources report to the run.
#[derive(Debug)]
pub(super) enum SourceEvent {
    /// A judge is about to make its calls on a query.
    Found {
        judge_index: usize,
        key: PartKey,
        calls: usize,
    },
    /// An answer that the project already held was stored for this call.
    Reused {
        judge_index: usize,
        key: PartKey,
    },
    Failed(RunError),
}

/// Supplies one judge's worker with questions.
pub(super) struct QuestionSource {
    pub(super) shared: Arc<RunContext>,
    pub(super) judge_index: usize,
    pub(super) source_tasks: mpsc::UnboundedReceiver<SourceTask>,
    pub(super) questions: mpsc::Sender<BattleQuestion>,
    pub(super) events: mpsc::Sender<SourceEvent>,
    /// Queries to process, by their index in the run.
    waiting: BTreeMap<usize, SourceTask>,
    /// Battles already passed to the worker, if their queries are processed again: for further
    /// rounds, or after the probe.
    asked_battles: HashSet<BattleId>,
    /// Queries whose calls were already reported to the run when their pairs were probed.
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

    /// Processes the queries until there are no more, or the worker accepts no more.
    pub(super) async fn work(mut self) {
        if let Err(error) = self.through_queries().await {
            drop(self.events.send(SourceEvent::Failed(error)).await);
        }
    }

    async fn through_queries(&mut self) -> Result<(), RunError> {
        let shared = Arc::clone(&self.shared);
        let mut left = shared.request.at_most.unwrap_or(usize::MAX);
        if !shared.specs[self.judge_index].is_offline() {
            // Start with the probe, so that the effect of document order on the judge is known
            // early.
            for place in &shared.probed {
                let goes_on = !shared.control.borrow().cancelled;
                let Some(query) = shared.queries.get(*place).copied() else {
                    continue;
                };
                let task = SourceTask {
                    place: *place,
                    key: query.into(),
                    selection: shared.request.selection,
                };
                if !goes_on || !self.look_at(task, true, &mut left).await? {
                    return Ok(());
                }
            }
        }
        while let Some(task) = self.next_task().await {
            if !self.look_at(task, false, &mut left).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Asks the outstanding questions of a query, or only of its probed pairs, up to `left` calls.
    /// Returns whether more may be asked.
    async fn look_at(
        &mut self,
        task: SourceTask,
        probe_only: bool,
        left: &mut usize,
    ) -> Result<bool, RunError> {
        let shared = Arc::clone(&self.shared);
        let SourceTask { place, key, .. } = task;
        let query = key.query;
        let (mut calls, probed) = self.outstanding(&task).await?;
        // A judge that was away still has the calls of earlier rounds.
        calls.retain(|call| !self.asked_battles.contains(&call.battle));
        let told = if probe_only {
            !self.told.insert(place)
        } else {
            self.told.remove(&place)
        };
        if !told {
            // Report the calls before the first question is sent, since the run counts them down as
            // they end.
            let found = SourceEvent::Found {
                judge_index: self.judge_index,
                key,
                calls: calls.len(),
            };
            drop(self.events.send(found).await);
        }
        if probe_only {
            let pair = |call: &OutstandingCall| Pair::new(call.a, call.b);
            calls.retain(|call| pair(call).is_some_and(|pair| probed.contains(&pair)));
            // Ask both orders of a pair together.
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
        // Only this many prompts are in memory at a time, however large the pool.
        for calls in calls.chunks(WAITING) {
            let questions = calls.iter().map(|call| self.question(key, *call, &pool));
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
        key: PartKey,
        call: OutstandingCall,
        pool: &Arc<PoolText>,
    ) -> BattleQuestion {
        let judge = &self.shared.ensemble[self.judge_index];
        let case = PresentedPair {
            pool: Arc::clone(pool),
            first: if call.swapped { call.b } else { call.a },
            second: if call.swapped { call.a } else { call.b },
        };
        let prompt = judge.prompt(JudgeQuestion::Pair(&case));
        let call_key = call_key(judge.as_ref(), &prompt);
        // A question that was pending when the last run ended is asked as it would have been then.
        let again = call.again.and_then(|cause| judge.reask(&prompt, cause));
        BattleQuestion {
            shared: Arc::clone(&self.shared),
            judge_index: self.judge_index,
            key,
            call,
            case,
            call_key,
            once_more: again.is_some(),
            prompt: again.unwrap_or(prompt),
        }
    }

    /// Filters out the questions that the project holds an answer to, and stores those answers as
    /// votes.
    async fn unknown(
        &self,
        questions: Vec<BattleQuestion>,
    ) -> Result<Vec<BattleQuestion>, RunError> {
        let keys: Vec<[u8; 32]> = questions.iter().filter_map(|one| one.call_key).collect();
        if keys.is_empty() {
            return Ok(questions);
        }
        let store = &self.shared.store;
        let answered = store.read(move |db| {
            let mut answered = HashSet::new();
            for key in keys {
                if StoredAnswer::find(db, &key)?.is_some() {
                    answered.insert(key);
                }
            }
            Ok(answered)
        });
        let answered = answered.await?;
        let mut unknown = Vec::with_capacity(questions.len());
        for question in questions {
            let open = question.open().filter(|open| answered.contains(&open.key));
            // Reported only once it is on disk, like every other vote.
            let is_reused = match open {
                Some(open) => store.write(move |db| open.reuse_answer(db)).await?,
                None => false,
            };
            if !is_reused {
                unknown.push(question);
                continue;
            }
            let reused = SourceEvent::Reused {
                judge_index: self.judge_index,
                key: question.key,
            };
            drop(self.events.send(reused).await);
        }
        Ok(unknown)
    }

    /// Waits for the next query to process; `None` if there will be no more.
    async fn next_task(&mut self) -> Option<SourceTask> {
        loop {
            while let Ok(task) = self.source_tasks.try_recv() {
                self.waiting.insert(task.place, task);
            }
            if self.shared.control.borrow().cancelled || self.questions.is_closed() {
                return None;
            }
            if let Some((_, first)) = self.waiting.pop_first() {
                return Some(first);
            }
            tokio::select! {
                task = self.source_tasks.recv() => {
                    let task = task?;
                    self.waiting.insert(task.place, task);
                }
                () = self.questions.closed() => return None,
            }
        }
    }

    async fn outstanding(
        &self,
        task: &SourceTask,
    ) -> Result<(Vec<OutstandingCall>, HashSet<Pair>), RunError> {
        let (shared, judge_index) = (Arc::clone(&self.shared), self.judge_index);
        let SourceTask { key, selection, .. } = *task;
        let calls = self
            .shared
            .store
            .read(move |db| {
                let specs = std::slice::from_ref(&shared.specs[judge_index]);
                let judges = std::slice::from_ref(&shared.judges[judge_index]);
                let plan = plan_of_part(db, key, &shared.request, specs, judges)?;
                let calls = plan.outstanding(db, key.query, judges, selection)?;
                Ok((calls, plan.probed()))
            })
            .await?;
        Ok(calls)
    }
}
