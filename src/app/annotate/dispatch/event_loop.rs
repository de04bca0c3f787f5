//! The calls of a run: judges at work, queries that are over, and rounds to come.

use super::{BACKLOG, Dispatcher, REPORT_EVERY};
use crate::app::annotate::context::RunContext;
use crate::app::annotate::plan::share;
use crate::app::annotate::question_source::{QuestionSource, SourceTask, WAITING};
use crate::app::annotate::rounds::{EnteredRound, RoundPlanner};
use crate::app::annotate::{RunError, RunRequest};
use crate::client::call_ledger::CallLedger;
use crate::client::worker::{Worker, WorkerContext};
use crate::store::corpus::QueryKey;
use crate::store::ledger::CallPurpose;
use crate::store::outstanding::CallSelection;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

impl Dispatcher {
    /// Lets every judge work through the queries, and counts.
    pub(super) async fn judge(
        &mut self,
        request: &RunRequest,
        queries: Vec<QueryKey>,
    ) -> Result<(), RunError> {
        let (events, mut worker_events) = mpsc::channel(BACKLOG);
        let (source_events_to, mut source_events) = mpsc::channel(BACKLOG);
        let (over, is_over) = watch::channel(false);
        let run_context = Arc::new(RunContext {
            store: self.store.clone(),
            run: self.run,
            ensemble: self.ensemble.clone(),
            judges: self.judges.clone(),
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
        for (judge_index, gate) in self.gates.iter().enumerate() {
            let (source_tasks, tasks) = mpsc::unbounded_channel();
            self.source_tasks.push(source_tasks);
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
            let (shared, gate) = (Arc::clone(&shared), Arc::clone(gate));
            let worker = Worker::new(shared, judge_index, name, gate, asked, events.clone());
            workers.spawn(async move {
                worker.work().await;
                judge_index
            });
        }
        // When all are there: a judge whose source had no channel yet would miss its queries.
        self.begin(&run_context.queries, request.selection);
        // The channels end when the last worker and the last question source have let go of them.
        drop((run_context, shared, events, source_events_to));
        let mut control = self.control.clone();
        self.steer(*control.borrow_and_update());
        let mut failed = None;
        loop {
            if failed.is_some() || !self.goes_on() {
                // A run ends from the top: sources without tasks let go of their questions, workers without questions
                // of their events, and the loop ends when the last event has been heard. Ended here, it would leave
                // answers uncounted.
                self.source_tasks.clear();
            }
            if self.only_dropped_are_left() || self.model_changed.is_some() {
                over.send_replace(true);
            }
            // In this order: what a question source has found is counted before the calls that follow it, and a worker that has
            // ended is looked at when everything that it told has been heard.
            tokio::select! {
                biased;
                Some(event) = source_events.recv() => {
                    if let Some(error) = self.on_source_event(event).await? {
                        failed.get_or_insert(error);
                        // What is in flight is paid for, and may still be kept.
                        over.send_replace(true);
                    }
                }
                event = worker_events.recv() => match event {
                    Some((judge_index, event)) => {
                        if let Some(error) = self.on_worker_event(judge_index, event).await? {
                            // Nothing can be kept any more, so nothing more is waited for; the rows of these calls say
                            // what they may cost.
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
                Some(ended) = workers.join_next() => match ended {
                    Ok(judge_index) => {
                        (self.left[judge_index], self.resting[judge_index]) = (true, false);
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
                    // Nobody is left who could steer, or wants the answers.
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

    /// Whether every judge that goes on is one that a person has dropped. Where nobody else has ended and one of them was
    /// dropped during the run, it may be taken back, and the run waits for that.
    fn only_dropped_are_left(&self) -> bool {
        let mut going = self
            .left
            .iter()
            .zip(&self.resting)
            .filter(|(left, _)| !**left);
        let all = going.all(|(_, resting)| *resting);
        all && (self.left.contains(&true) || self.control.borrow().dropped == self.dropped_before)
    }

    /// Sends every judge to the queries that have calls for it.
    fn begin(&mut self, queries: &[QueryKey], selection: CallSelection) {
        for (place, query) in queries.iter().enumerate() {
            let Some(open) = self.open.get(query) else {
                continue;
            };
            let calls = open.calls.iter().zip(&self.source_tasks);
            for (_, source_tasks) in calls.filter(|(calls, _)| **calls > 0) {
                // A question source that has ended has nothing more to do.
                drop(source_tasks.send(SourceTask { place, selection }));
            }
            if let Some(rounds) = &mut self.rounds {
                rounds.expect(*query);
                if open.calls.iter().all(|calls| *calls == 0) {
                    rounds.want(place, *query);
                }
            }
        }
    }

    /// Plans what rounds can be planned; false when no judge will be sent anywhere any more.
    fn goes_on(&mut self) -> bool {
        let over =
            self.budget_reached || self.model_changed.is_some() || self.control.borrow().cancelled;
        let Some(rounds) = self.rounds.as_mut().filter(|_| !over) else {
            return false;
        };
        let somebody = self.gone.iter().any(|gone| !gone);
        somebody && (rounds.plan() || self.waited_for > 0)
    }

    /// Sends the judges to a round's calls; a query without another round is over.
    async fn entered(&mut self, entered: EnteredRound) -> Result<(), RunError> {
        let (query, judges) = (entered.query, self.judges.len());
        let Some(open) = self.open.get_mut(&query) else {
            return Ok(());
        };
        let calls: usize = entered.calls.iter().sum();
        let before = open.unplanned;
        open.unplanned = if calls == 0 {
            0
        } else {
            before.saturating_sub(calls)
        };
        // What cannot be asked any more is not missing.
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
            if self.gone[judge_index] || self.skipped_queries.contains(&(judge_index, query)) {
                open.short = true;
                continue;
            }
            // Counted before the source hears of it: an answer that came first would find nothing to count down, and
            // the round would never be over.
            open.calls[judge_index] = count;
            self.waited_for += count;
            if let Some(source_tasks) = self.source_tasks.get(judge_index) {
                let (place, selection) = (open.place, CallSelection::Fresh);
                drop(source_tasks.send(SourceTask { place, selection }));
            }
        }
        self.settle(query).await
    }

    /// Finds out whom nobody waits for: judges that have ended, and those that make no calls for now while another one
    /// does. Where none does, the run waits for whoever comes back.
    pub(super) async fn weigh_absences(&mut self) -> Result<(), RunError> {
        let mut absences = self.left.iter().zip(&self.away);
        let somebody = absences.any(|(left, away)| !left && !away);
        for judge_index in 0..self.gone.len() {
            let gone = self.left[judge_index] || (self.away[judge_index] && somebody);
            if gone && !self.gone[judge_index] {
                self.go_on_without(judge_index).await?;
            }
            self.gone[judge_index] = gone;
        }
        Ok(())
    }

    /// Lets rounds go on without a judge that has ended, or makes no calls for now.
    async fn go_on_without(&mut self, judge_index: usize) -> Result<(), RunError> {
        self.gone[judge_index] = true;
        if self.rounds.is_none() || self.budget_reached || self.control.borrow().cancelled {
            return Ok(());
        }
        let mut stalled = Vec::new();
        for (query, open) in &mut self.open {
            let calls = std::mem::take(&mut open.calls[judge_index]);
            if calls > 0 {
                self.waited_for -= calls;
                open.short = true;
                stalled.push(*query);
            }
        }
        for query in stalled {
            self.settle(query).await?;
        }
        Ok(())
    }

    /// Takes in how many calls a question source has found to make on a query.
    pub(super) async fn found(
        &mut self,
        judge_index: usize,
        query: QueryKey,
        calls: usize,
    ) -> Result<(), RunError> {
        if let Some(open) = self.open.get_mut(&query).filter(|_| {
            !self.gone[judge_index] && !self.skipped_queries.contains(&(judge_index, query))
        }) {
            // What is on disk decides: since the plan was counted, votes may have come from elsewhere.
            self.waited_for -= std::mem::replace(&mut open.calls[judge_index], calls);
            self.waited_for += calls;
            self.settle(query).await?;
        }
        Ok(())
    }

    /// Ends a query or wants its next round, where all its calls have ended.
    pub(super) async fn settle(&mut self, query: QueryKey) -> Result<(), RunError> {
        let Some(open) = self.open.get(&query) else {
            return Ok(());
        };
        if open.calls.iter().any(|calls| *calls > 0) {
            return Ok(());
        }
        if let Some(rounds) = self.rounds.as_mut().filter(|_| open.unplanned > 0) {
            rounds.want(open.place, query);
            return Ok(());
        }
        let done = !open.short;
        // Every vote of it was on the disk before it was told, so that the fit sees them all. Workers go on meanwhile,
        // as far as the backlog of events reaches.
        self.open.remove(&query);
        if let Some(rounds) = &mut self.rounds {
            rounds.over(query);
        }
        self.summarise(query).await?;
        self.progress.queries_done += usize::from(done);
        Ok(())
    }
}

/// The next round that has been entered; never in a run without rounds.
async fn next_round(rounds: &mut Option<RoundPlanner>) -> Result<EnteredRound, RunError> {
    match rounds {
        Some(rounds) => rounds.entered().await,
        None => std::future::pending().await,
    }
}
