//! The event loop of a run: judges at work, finished queries, and the next rounds.

use super::{Attendance, BACKLOG, Dispatcher, REPORT_EVERY, RunJudge};
use crate::app::annotate::context::RunContext;
use crate::app::annotate::plan::share;
use crate::app::annotate::question_source::{QuestionSource, SourceTask, WAITING};
use crate::app::annotate::rounds::{EnteredRound, RoundPlanner};
use crate::app::annotate::shared_work::{PartKey, SharedWork, next_part};
use crate::app::annotate::{RunError, RunRequest};
use crate::client::call_ledger::CallLedger;
use crate::client::worker::{Worker, WorkerContext};
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::ledger::CallPurpose;
use crate::store::outstanding::CallSelection;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

impl Dispatcher {
    /// Runs every judge over the queries and counts the results.
    pub(super) async fn judge(
        &mut self,
        request: &RunRequest,
        ensemble: EnsembleId,
        queries: Vec<QueryKey>,
    ) -> Result<(), RunError> {
        let (events, mut worker_events) = mpsc::channel(BACKLOG);
        let (source_events_to, mut source_events) = mpsc::channel(BACKLOG);
        let (over, is_over) = watch::channel(false);
        let run_context = Arc::new(RunContext {
            store: self.store.clone(),
            run: self.run,
            ensemble: self.ensemble.clone(),
            judges: self.judge_ids(),
            specs: self.specs(),
            request: request.clone(),
            queries,
            probed: std::mem::take(&mut self.probed),
            control: self.control.clone(),
            pools: Mutex::default(),
            kept: Mutex::default(),
        });
        let shared = Arc::new(WorkerContext {
            ledger: CallLedger::Project(self.store.clone()),
            budget: self.budget.clone(),
            purpose: CallPurpose::Vote,
            run: Some(self.run),
            control: self.control.clone(),
            over: is_over,
            next_call: Mutex::new(Instant::now()),
        });
        let mut workers = JoinSet::new();
        let mut sources = JoinSet::new();
        for (judge_index, judge) in self.judges.iter_mut().enumerate() {
            let (source_tasks, tasks) = mpsc::unbounded_channel();
            judge.source_tasks = Some(source_tasks);
            let (questions, asked) = mpsc::channel(WAITING);
            let source = QuestionSource::new(
                Arc::clone(&run_context),
                judge_index,
                tasks,
                questions,
                source_events_to.clone(),
            );
            sources.spawn(source.work());
            let name = self.ensemble[judge_index].spec().name.clone();
            let (shared, gate) = (Arc::clone(&shared), Arc::clone(&judge.gate));
            let worker = Worker::new(shared, judge_index, name, gate, asked, events.clone());
            workers.spawn(async move {
                worker.work().await;
                judge_index
            });
        }
        // Begin only after all sources exist: a judge whose source had no channel yet would miss
        // its queries.
        self.begin(&run_context.queries, request.selection);
        // The channels close when the last worker and the last question source drop them.
        drop((run_context, shared, events, source_events_to));
        let mut control = self.control.clone();
        self.steer(*control.borrow_and_update());
        let asked = Arc::new(request.clone());
        let mut failed = None;
        loop {
            if failed.is_some() || !self.goes_on() {
                // A run shuts down from the top: sources without tasks drop their questions,
                // workers without questions drop their events, and the loop ends after the last
                // event. Ending it here would leave answers uncounted.
                for judge in &mut self.judges {
                    judge.source_tasks = None;
                }
            }
            if self.only_dropped_are_left() || self.model_changed.is_some() {
                over.send_replace(true);
            }
            // The order matters: the calls found by a question source are counted before their
            // results, and a worker's end is handled after all its events.
            tokio::select! {
                biased;
                Some(event) = source_events.recv() => {
                    if let Some(error) = self.on_source_event(event).await? {
                        failed.get_or_insert(error);
                        // Calls in flight are paid for, and their answers may still be stored.
                        over.send_replace(true);
                    }
                }
                event = worker_events.recv() => match event {
                    Some((judge_index, event)) => {
                        if let Some(error) = self.on_worker_event(judge_index, event).await? {
                            // Nothing can be stored any more, so do not wait; the ledger rows of
                            // these calls contain their worst-case cost.
                            failed.get_or_insert(error);
                            workers.abort_all();
                        }
                    }
                    None => break,
                },
                entered = next_round(&mut self.rounds) => match entered {
                    Ok(entered) => self.entered(entered).await?,
                    Err(error) => {
                        failed.get_or_insert(error);
                        over.send_replace(true);
                    }
                },
                part = next_part(&mut self.shared) => match (part, &mut self.shared) {
                    (Some(part), _) => {
                        if let Err(error) = self.enter_part(&asked, ensemble, part).await {
                            failed.get_or_insert(error);
                            // Calls in flight are paid for, and their answers may still be stored.
                            over.send_replace(true);
                        }
                    }
                    (None, shared) => shared.iter_mut().for_each(SharedWork::close),
                },
                Some(ended) = workers.join_next() => match ended {
                    Ok(judge_index) => {
                        self.judges[judge_index].attendance = Attendance::Ended;
                        self.weigh_absences().await?;
                    }
                    Err(error) if error.is_panic() => {
                        failed.get_or_insert(RunError::Crashed(error.to_string()));
                        over.send_replace(true);
                    }
                    Err(_) => {}
                },
                changed = control.changed() => if changed.is_ok() {
                    self.steer(*control.borrow_and_update());
                } else {
                    // Nobody is left to control the run or to use the answers.
                    workers.abort_all();
                },
                () = tokio::time::sleep(REPORT_EVERY) => {}
            }
            self.follow_orders().await?;
            self.report(false);
        }
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                failed.get_or_insert(RunError::Crashed(error.to_string()));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Whether all remaining judges were dropped by a person. If no other worker has ended and one
    /// of them was dropped during the run, it may be restored, and the run waits for that.
    fn only_dropped_are_left(&self) -> bool {
        let is = |attendance| move |judge: &RunJudge| judge.attendance == attendance;
        let has_ended = is(Attendance::Ended);
        let is_dropped = is(Attendance::Dropped);
        let all = self
            .judges
            .iter()
            .all(|judge| has_ended(judge) || is_dropped(judge));
        all && (self.judges.iter().any(has_ended)
            || self.control.borrow().dropped == self.dropped_before)
    }

    /// Sends every judge to the queries on which it has calls to make.
    fn begin(&mut self, queries: &[QueryKey], selection: CallSelection) {
        for (place, query) in queries.iter().enumerate() {
            let key = PartKey::from(*query);
            let Some(open) = self.open.get(&key) else {
                continue;
            };
            let calls = open.calls.iter().zip(&self.judges);
            for (_, judge) in calls.filter(|(calls, _)| **calls > 0) {
                judge.send(SourceTask {
                    place,
                    key,
                    selection,
                });
            }
            if let Some(rounds) = &mut self.rounds {
                rounds.expect(*query);
                if open.calls.iter().all(|calls| *calls == 0) {
                    rounds.want(place, *query);
                }
            }
        }
    }

    /// Plans the rounds that can be planned. Returns false when no judge will receive more work.
    fn goes_on(&mut self) -> bool {
        let over =
            self.budget_reached || self.model_changed.is_some() || self.control.borrow().cancelled;
        let somebody = self.judges.iter().any(|judge| !judge.gone);
        if over || !somebody {
            return false;
        }
        let is_planning = self.rounds.as_mut().is_some_and(RoundPlanner::plan);
        let may_get_more = self.shared.as_ref().is_some_and(SharedWork::is_open);
        is_planning || may_get_more || self.rounds.is_some() && self.waited_for > 0
    }

    /// Sends the judges to the calls of a new round; a query without another round is finished.
    async fn entered(&mut self, entered: EnteredRound) -> Result<(), RunError> {
        let (query, judges) = (entered.query, self.judges.len());
        let key = PartKey::from(query);
        let Some(open) = self.open.get_mut(&key) else {
            return Ok(());
        };
        let calls: usize = entered.calls.iter().sum();
        let before = open.unplanned;
        open.unplanned = if calls == 0 {
            0
        } else {
            before.saturating_sub(calls)
        };
        // Votes that can no longer be requested are not missing.
        let never = before.saturating_sub(open.unplanned + calls);
        self.missing -= never;
        self.progress.total = self.progress.total.saturating_sub(never);
        self.progress.battles += entered.battles;
        for (judge_index, count) in entered.calls.into_iter().enumerate() {
            let judge = &mut self.progress.judges[judge_index];
            let total = judge.total + count + share(open.unplanned, judges, judge_index);
            judge.total = total.saturating_sub(share(before, judges, judge_index));
            if count == 0 {
                continue;
            }
            if self.judges[judge_index].gone || self.skipped_queries.contains(&(judge_index, query))
            {
                open.short = true;
                continue;
            }
            // Count before the source is notified: an answer that arrived first could not be
            // counted down, and the round would never end.
            open.calls[judge_index] = count;
            self.waited_for += count;
            self.judges[judge_index].send(SourceTask {
                place: open.place,
                key,
                selection: CallSelection::Fresh,
            });
        }
        self.settle(key).await
    }

    /// Whether a query is unfinished as a whole, not only in parts.
    fn has_whole_queries(&self) -> bool {
        self.open.keys().any(|key| key.part.is_none())
    }

    /// Determines which judges are not waited for: those that have ended, and those that currently
    /// make no calls while another judge does. If no judge makes calls, the run waits for any of
    /// them to return.
    pub(super) async fn weigh_absences(&mut self) -> Result<(), RunError> {
        let somebody = self
            .judges
            .iter()
            .any(|judge| judge.attendance == Attendance::Working);
        for judge_index in 0..self.judges.len() {
            let judge = &self.judges[judge_index];
            let gone = match judge.attendance {
                Attendance::Working => false,
                // The parts of others do not depend on a shared part; the rounds of a whole query
                // go on without the judge.
                Attendance::Waiting if self.shared.is_some() && !self.has_whole_queries() => false,
                Attendance::Waiting | Attendance::Dropped => somebody,
                Attendance::Ended => true,
            };
            if gone && !judge.gone {
                self.go_on_without(judge_index).await?;
            }
            self.judges[judge_index].gone = gone;
        }
        Ok(())
    }

    /// Lets rounds and shared parts end without a judge that has ended or currently makes no calls.
    async fn go_on_without(&mut self, judge_index: usize) -> Result<(), RunError> {
        self.judges[judge_index].gone = true;
        let others_wait = self.rounds.is_some() || self.shared.is_some();
        if !others_wait || self.budget_reached || self.control.borrow().cancelled {
            return Ok(());
        }
        let mut stalled = Vec::new();
        for (key, open) in &mut self.open {
            let calls = std::mem::take(&mut open.calls[judge_index]);
            if calls > 0 {
                self.waited_for -= calls;
                open.short = true;
                stalled.push(*key);
            }
        }
        for key in stalled {
            self.settle(key).await?;
        }
        Ok(())
    }

    /// Records the number of calls that a question source has found for a query.
    pub(super) async fn found(
        &mut self,
        judge_index: usize,
        key: PartKey,
        calls: usize,
    ) -> Result<(), RunError> {
        let is_waited_for = !self.judges[judge_index].gone
            && !self.skipped_queries.contains(&(judge_index, key.query));
        if let Some(open) = self.open.get_mut(&key).filter(|_| is_waited_for) {
            // The stored rows decide: votes may have arrived from elsewhere since the plan was
            // counted.
            self.waited_for -= std::mem::replace(&mut open.calls[judge_index], calls);
            self.waited_for += calls;
            self.settle(key).await?;
        }
        Ok(())
    }

    /// If all calls of a query have ended, finishes it or requests its next round.
    pub(super) async fn settle(&mut self, key: PartKey) -> Result<(), RunError> {
        let Some(open) = self.open.get(&key) else {
            return Ok(());
        };
        if open.calls.iter().any(|calls| *calls > 0) {
            return Ok(());
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| open.unplanned > 0) {
            rounds.want(open.place, key.query);
            return Ok(());
        }
        let done = !open.short;
        self.open.remove(&key);
        if let Some(rounds) = &mut self.rounds {
            rounds.over(key.query);
        }
        self.progress.queries_done += usize::from(done);
        let is_open = self.open.keys().any(|open| open.query == key.query);
        if let Some(shared) = &mut self.shared {
            shared.end(key, done);
            self.progress.queries_done = shared.done(key.query, done && !is_open);
        }
        Ok(())
    }
}

/// Waits for the next round to be stored; never completes in a run without rounds.
async fn next_round(rounds: &mut Option<RoundPlanner>) -> Result<EnteredRound, RunError> {
    match rounds {
        Some(rounds) => rounds.entered().await,
        None => std::future::pending().await,
    }
}
