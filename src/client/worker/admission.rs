//! From a question to a call in flight: money set aside, a row in the ledger, a place, the pace.

use super::{CallTask, SentCall, Worker, WorkerEvent, attempt, earliest};
use crate::client::open_files::OpenCall;
use crate::client::question::ServiceQuestion;
use crate::client::{RunControl, lock, now_ms};
use crate::store::StoreError;
use crate::store::ledger::Attempt;
use futures::{FutureExt as _, StreamExt as _};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

/// How often a worker that waits for money set aside by others looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Answers on their way to the disk at most.
const BACKLOG: usize = 2_048;
/// A row reaches the ledger within about this time: so much ahead of their places calls are written down.
const NOTED_WITHIN: f64 = 0.03;
/// Lateness of a call that makes no difference.
const SOON: Duration = Duration::from_millis(1);

impl<Q: ServiceQuestion> Worker<Q> {
    /// Calls in flight at most, now.
    pub(super) fn places(&self, control: &RunControl) -> usize {
        let places = lock(&self.gate).places(control.concurrency);
        match self.shared.budget.is_limited() {
            true => places.min(self.usage.places()),
            false => places,
        }
    }

    /// How many calls may be on their way into the ledger or ready to go, beyond those in flight.
    pub(super) fn ahead(&self, places: usize, now: Instant) -> usize {
        let gate = lock(&self.gate);
        let free = places.saturating_sub(self.flying.len());
        if self.shared.budget.is_limited() && places == self.usage.places() {
            // What is written down now is set aside by an estimate that the next bill may correct.
            return free;
        }
        if gate.ready(1, now) > now + SOON {
            return 1;
        }
        // So many places come free while a row is on its way to the ledger.
        let soon = gate
            .window
            .per_s()
            .map_or(0.0, |per_s| per_s * NOTED_WITHIN);
        free + (soon.ceil() as usize).clamp(1, 64)
    }

    pub(super) fn wants(&self, control: &RunControl) -> bool {
        let places = self.places(control);
        self.noting.len() + self.ready.len() < self.ahead(places, Instant::now())
    }

    /// Sets money aside for calls and writes them down; returns when to look again.
    pub(super) async fn prepare(&mut self, places: usize, now: Instant) -> Option<Instant> {
        self.drop_unwanted().await;
        let ahead = self.ahead(places, now);
        let mut wake = None;
        while self.noting.len() + self.ready.len() < ahead {
            let due = self.later.first_key_value().map(|((at, _), _)| *at);
            let mut call = match due {
                Some(at) if at <= now => match self.later.pop_first() {
                    Some((_, call)) => call,
                    None => break,
                },
                _ => {
                    wake = earliest(wake, due);
                    match self.next_fresh() {
                        Some(call) => call,
                        None => break,
                    }
                }
            };
            let needs = call.question.needs();
            if !needs.sent {
                self.ready.push_back(call);
                continue;
            }
            if needs.worst_usd.is_none() && self.shared.budget.is_limited() {
                self.first.push_front(call);
                let why = "the budget cannot be kept: nothing says what a call costs at most; give `price` in \
                           overrule.toml, or take the budget away";
                self.stop(why.to_owned()).await;
                return None;
            }
            // Reserved before it is sent and held until it is charged: workers that only looked at what is spent would
            // each find room for the last dollar, and pass the limit together.
            let worst_usd = self.usage.worst_usd(needs.worst_usd);
            call.worst_usd = worst_usd;
            match self.shared.budget.reserve(worst_usd.unwrap_or(0.0)) {
                Some(reserved) => call.reserved = Some(reserved),
                None => {
                    self.first.push_front(call);
                    // What others have set aside may come back, and nothing wakes this worker when it does.
                    if self.shared.budget.is_waiting() {
                        return earliest(wake, Some(now + LOOK_AGAIN));
                    }
                    self.budget_reached = true;
                    self.tell(WorkerEvent::BudgetReached).await;
                    return None;
                }
            }
            // A row for each attempt: under one row for all, the second would take away what the first had cost.
            call.uid = Uuid::now_v7().into_bytes();
            let attempt = Attempt {
                uid: call.uid,
                purpose: self.shared.purpose,
                service: self.service.clone(),
                run: self.shared.run,
                worst_usd,
                sent_ms: now_ms(),
            };
            // Sent only out of `ready`, where a call comes once its row is committed. Sent sooner, a kill in between
            // would leave a call that was paid for and of which no budget knows.
            let noted = self.shared.ledger.begin(attempt);
            // The queue keeps the order of questions; only what is asked again goes before what was never asked.
            let first = call.waited;
            let noting = async move { (call, noted.await) }.boxed();
            if first {
                self.noting.push_front(noting);
            } else {
                self.noting.push_back(noting);
            }
        }
        // Where the ledger is nowhere, rows are there at once.
        while let Some(Some(noted)) = self.noting.next().now_or_never() {
            self.noted(noted).await;
        }
        wake
    }

    /// The next question that is not the same as one on its way.
    pub(super) fn next_fresh(&mut self) -> Option<CallTask<Q>> {
        loop {
            let call = match self.first.pop_front() {
                Some(call) => call,
                None => match self.questions.try_recv() {
                    Ok(question) => CallTask::new(question),
                    Err(mpsc::error::TryRecvError::Empty) => return None,
                    Err(mpsc::error::TryRecvError::Disconnected) => {
                        self.more = false;
                        return None;
                    }
                },
            };
            if !self.is_wanted(&call) {
                self.release_twins(&call);
                continue;
            }
            // One that was let through before and waits for money is its own.
            let Some(key) = call
                .question
                .key()
                .filter(|_| call.attempts == 0 && !call.leads)
            else {
                return Some(call);
            };
            // The first of its key leads, the others wait until its answer is on the disk: to share it is to copy its
            // row. Once it is on its way, the copy can be queued behind it, as one writer keeps the order.
            if let Some(waiting) = self.same.get_mut(&key) {
                waiting.push(call.question);
            } else if self.answered.holds(&key) {
                self.share(call.question);
            } else {
                self.same.insert(key, Vec::new());
                return Some(CallTask {
                    leads: true,
                    ..call
                });
            }
        }
    }

    pub(super) async fn noted(&mut self, (call, noted): (CallTask<Q>, Result<(), StoreError>)) {
        match noted {
            Ok(()) if call.waited => self.ready.push_front(call),
            Ok(()) => self.ready.push_back(call),
            Err(error) => self.fail(error).await,
        }
    }

    /// Sends what may be sent; returns when more may be.
    pub(super) fn launch(
        &mut self,
        control: &RunControl,
        places: usize,
        now: Instant,
    ) -> Option<Instant> {
        // Answers that are not on the disk are lost with the process: behind a slow disk no further ones are bought.
        while self.flying.len() < places && self.writing.len() < BACKLOG {
            // Only the first: small calls that overtake a large one would keep a limit of tokens too low for it for
            // ever.
            let call = self.ready.front()?;
            if !self.is_wanted(call) {
                // Its case was skipped while its row was on the way to the ledger: `prepare` takes it back.
                return Some(now);
            }
            let needs = call.question.needs();
            let ready = lock(&self.gate)
                .ready(needs.tokens, now)
                .max(self.paced(control, now));
            if ready > now + SOON {
                return Some(ready);
            }
            let open = match needs.sent.then(OpenCall::begin) {
                // Other services have all the connections that the system allows.
                Some(None) => return Some(now + LOOK_AGAIN),
                open => open.flatten(),
            };
            // Another judge of the same server may have them all; this worker hears when one comes free.
            let Ok(place) = lock(&self.gate).window.take_place() else {
                return None;
            };
            let mut call = self.ready.pop_front()?;
            // Counted before it is sent, so that the next turn of this loop sees a gate that knows of it.
            let begun = lock(&self.gate).begin(needs.tokens, now);
            self.begin_paced(control, now);
            // The money moves out of the task: dropped with a task that is aborted, it would be free while the call is
            // still owed.
            let sent = SentCall {
                uid: needs.sent.then_some(call.uid),
                worst_usd: call.worst_usd,
                begun,
                _place: place,
                _open: open,
                _reserved: call.reserved.take(),
            };
            // Nobody but this worker takes ended tasks in, so that none is looked up before its entry is there.
            let task = self.flying.spawn(attempt(call));
            self.sent.insert(task.id(), sent);
        }
        None
    }

    /// When the run's own pace allows the next call.
    pub(super) fn paced(&self, control: &RunControl, now: Instant) -> Instant {
        match control.pace {
            Some(pace) if pace > 0.0 => *lock(&self.shared.next_call),
            _ => now,
        }
    }

    pub(super) fn begin_paced(&self, control: &RunControl, now: Instant) {
        if let Some(pace) = control.pace.filter(|pace| *pace > 0.0) {
            let mut next = lock(&self.shared.next_call);
            // A moment of lateness is made up for, a long wait is not.
            let late = now.checked_sub(Duration::from_millis(50)).unwrap_or(now);
            *next = (*next).max(late) + Duration::from_secs_f64((1.0 / pace).min(3_600.0));
        }
    }

    /// Whether somebody waits for the answer to a call and its case is not skipped.
    fn is_wanted(&self, call: &CallTask<Q>) -> bool {
        let skipped = call
            .question
            .case()
            .is_some_and(|case| lock(&self.gate).health.skips(case));
        call.question.is_wanted() && !skipped
    }

    /// Takes out what was asked before and what was written down, where nobody waits for its answer any more.
    async fn drop_unwanted(&mut self) {
        let late = self.later.iter();
        let late = late.filter(|(_, call)| !self.is_wanted(call));
        let late: Vec<_> = late.map(|(at, _)| *at).collect();
        if late.is_empty() && self.ready.iter().all(|call| self.is_wanted(call)) {
            return;
        }
        let late = late.into_iter().filter_map(|at| self.later.remove(&at));
        let mut dropped: Vec<CallTask<Q>> = late.collect();
        let mut unsent = Vec::new();
        for call in std::mem::take(&mut self.ready) {
            if self.is_wanted(&call) {
                self.ready.push_back(call);
                continue;
            }
            unsent.extend(call.reserved.is_some().then_some(call.uid));
            dropped.push(call);
        }
        dropped.iter().for_each(|call| self.release_twins(call));
        if let Err(error) = self.shared.ledger.forget(unsent).await {
            self.fail(error).await;
        }
    }

    /// Lets those that wait for the answer of a call that is not made ask for themselves.
    fn release_twins(&mut self, call: &CallTask<Q>) {
        let key = call.question.key().filter(|_| call.leads);
        let twins = key.and_then(|key| self.same.remove(&key));
        let twins = twins.into_iter().flatten().map(CallTask::new);
        self.first.extend(twins);
    }

    /// Takes back what was written down and not sent: its rows go, and its money is free for other services.
    pub(super) async fn take_back(&mut self) {
        // A row on its way can be taken back only when it is there; left behind, the next run would charge it as
        // killed.
        while let Some((call, noted)) = self.noting.next().await {
            self.ready.push_back(call);
            if let Err(error) = noted {
                self.fail(error).await;
            }
        }
        let mut unsent = Vec::new();
        while let Some(mut call) = self.ready.pop_back() {
            if call.reserved.take().is_some() {
                unsent.push(call.uid);
            }
            self.first.push_front(call);
        }
        if let Err(error) = self.shared.ledger.forget(unsent).await {
            self.fail(error).await;
        }
    }
}
