//! The calls of a run: judges at work, queries that are over, and rounds to come.

use super::{BACKLOG, Dispatcher, REPORT_EVERY};
use crate::client::ledger::Ledger;
use crate::client::worker::{Shared, Worker};
use crate::engine::feeder::{Feeder, RunShared, WAITING};
use crate::engine::plan::share;
use crate::engine::rounds::{Entered, Rounds, Visit};
use crate::engine::{EngineError, Request};
use crate::store::calls::Holes;
use crate::store::corpus::QueryKey;
use crate::store::ledger::Purpose;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

impl Dispatcher {
    /// Lets every judge work through the queries, and counts.
    pub(super) async fn judge(
        &mut self,
        request: &Request,
        queries: Vec<QueryKey>,
    ) -> Result<(), EngineError> {
        let (events, mut heard) = mpsc::channel(BACKLOG);
        let (feed, mut fed) = mpsc::channel(BACKLOG);
        let (over, is_over) = watch::channel(false);
        let run_shared = Arc::new(RunShared {
            store: self.store.clone(),
            run: self.run,
            ensemble: self.ensemble.clone(),
            judges: self.judges.clone(),
            names: self
                .ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect(),
            request: request.clone(),
            queries,
            control: self.control.clone(),
            pools: Mutex::default(),
            kept: Mutex::default(),
        });
        let shared = Arc::new(Shared {
            ledger: Ledger::Project(self.store.clone()),
            budget: self.budget.clone(),
            purpose: Purpose::Vote,
            run: Some(self.run),
            control: self.control.clone(),
            over: is_over,
            next_call: Mutex::new(Instant::now()),
        });
        let mut workers = JoinSet::new();
        let mut feeders = JoinSet::new();
        for (seat, gate) in self.gates.iter().enumerate() {
            let (visits, to_visit) = mpsc::unbounded_channel();
            self.visits.push(visits);
            let (questions, asked) = mpsc::channel(WAITING);
            let feeder = Feeder::new(
                Arc::clone(&run_shared),
                seat,
                to_visit,
                questions,
                feed.clone(),
            );
            feeders.spawn(feeder.work());
            let name = self.ensemble[seat].spec().name.clone();
            let (shared, gate) = (Arc::clone(&shared), Arc::clone(gate));
            let worker = Worker::new(shared, seat, name, gate, asked, events.clone());
            workers.spawn(async move {
                worker.work().await;
                seat
            });
        }
        self.begin(&run_shared.queries, request.holes);
        // The channels end when the last worker and the last feeder have let go of them.
        drop((run_shared, shared, events, feed));
        let mut control = self.control.clone();
        self.steer(*control.borrow_and_update());
        let mut failed = None;
        loop {
            if failed.is_some() || !self.goes_on() {
                self.visits.clear();
            }
            if self.only_dropped_are_left() {
                over.send_replace(true);
            }
            // In this order: what a feeder has found is counted before the calls that follow it, and a worker that has
            // ended is looked at when everything that it told has been heard.
            tokio::select! {
                biased;
                Some(told) = fed.recv() => {
                    if let Some(error) = self.fed(told).await? {
                        failed.get_or_insert(error);
                        // What is in flight is paid for, and may still be kept.
                        over.send_replace(true);
                    }
                }
                event = heard.recv() => match event {
                    Some((seat, event)) => {
                        if let Some(error) = self.hear(seat, event).await? {
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
                    Ok(seat) => {
                        (self.left[seat], self.resting[seat]) = (true, false);
                        self.weigh_absences().await?;
                    }
                    Err(error) if error.is_panic() => {
                        failed.get_or_insert(EngineError::Crashed(error.to_string()));
                        over.send_replace(true);
                    }
                    Err(_) => {}
                },
                changed = control.changed() => if changed.is_ok() {
                    self.steer(*control.borrow_and_update());
                } else {
                    workers.abort_all();
                },
                () = tokio::time::sleep(REPORT_EVERY) => {}
            }
            self.report(false);
        }
        while let Some(ended) = workers.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                failed.get_or_insert(EngineError::Crashed(error.to_string()));
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
    fn begin(&mut self, queries: &[QueryKey], holes: Holes) {
        for (place, query) in queries.iter().enumerate() {
            let Some(open) = self.open.get(query) else {
                continue;
            };
            let calls = open.calls.iter().zip(&self.visits);
            for (_, visits) in calls.filter(|(calls, _)| **calls > 0) {
                // A feeder that has ended has nothing more to do.
                drop(visits.send(Visit { place, holes }));
            }
            if let Some(rounds) = &mut self.rounds
                && open.calls.iter().all(|calls| *calls == 0)
            {
                rounds.want(place, *query);
            }
        }
    }

    /// Plans what rounds can be planned; false when no judge will be sent anywhere any more.
    fn goes_on(&mut self) -> bool {
        let over = self.broke || self.control.borrow().cancelled;
        let Some(rounds) = self.rounds.as_mut().filter(|_| !over) else {
            return false;
        };
        let somebody = self.gone.iter().any(|gone| !gone);
        somebody && (rounds.plan() || self.waited_for > 0)
    }

    /// Sends the judges to a round's calls; a query without another round is over.
    async fn entered(&mut self, entered: Entered) -> Result<(), EngineError> {
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
        for (seat, count) in entered.calls.into_iter().enumerate() {
            let judge = &mut self.progress.judges[seat];
            let total = judge.total + count + share(open.unplanned, judges, seat);
            judge.total = total.saturating_sub(share(before, judges, seat));
            if count == 0 {
                continue;
            }
            if self.gone[seat] {
                open.short = true;
                continue;
            }
            open.calls[seat] = count;
            self.waited_for += count;
            if let Some(visits) = self.visits.get(seat) {
                let (place, holes) = (open.place, Holes::Fresh);
                drop(visits.send(Visit { place, holes }));
            }
        }
        self.settle(query).await
    }

    /// Finds out whom nobody waits for: judges that have ended, and those that make no calls for now while another one
    /// does. Where none does, the run waits for whoever comes back.
    pub(super) async fn weigh_absences(&mut self) -> Result<(), EngineError> {
        let mut absences = self.left.iter().zip(&self.away);
        let somebody = absences.any(|(left, away)| !left && !away);
        for seat in 0..self.gone.len() {
            let gone = self.left[seat] || (self.away[seat] && somebody);
            if gone && !self.gone[seat] {
                self.go_on_without(seat).await?;
            }
            self.gone[seat] = gone;
        }
        Ok(())
    }

    /// Lets rounds go on without a judge that has ended, or makes no calls for now.
    async fn go_on_without(&mut self, seat: usize) -> Result<(), EngineError> {
        self.gone[seat] = true;
        if self.rounds.is_none() || self.broke || self.control.borrow().cancelled {
            return Ok(());
        }
        let mut stalled = Vec::new();
        for (query, open) in &mut self.open {
            let calls = std::mem::take(&mut open.calls[seat]);
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

    /// Takes in how many calls a feeder has found to make on a query.
    pub(super) async fn found(
        &mut self,
        seat: usize,
        query: QueryKey,
        calls: usize,
    ) -> Result<(), EngineError> {
        if let Some(open) = self.open.get_mut(&query).filter(|_| !self.gone[seat]) {
            self.waited_for -= std::mem::replace(&mut open.calls[seat], calls);
            self.waited_for += calls;
            self.settle(query).await?;
        }
        Ok(())
    }

    /// Ends a query or wants its next round, where all its calls have ended.
    pub(super) async fn settle(&mut self, query: QueryKey) -> Result<(), EngineError> {
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
        self.open.remove(&query);
        self.summarise(query).await?;
        self.progress.queries_done += usize::from(done);
        Ok(())
    }
}

/// The next round that has been entered; never in a run without rounds.
async fn next_round(rounds: &mut Option<Rounds>) -> Result<Entered, EngineError> {
    match rounds {
        Some(rounds) => rounds.entered().await,
        None => std::future::pending().await,
    }
}
