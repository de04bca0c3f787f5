//! From a question to a call in flight: reserving money, writing the ledger row, taking a slot and
//! keeping the pace.

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

/// How often a worker that waits for reserved money checks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Maximum number of answers waiting to be written to disk.
const BACKLOG: usize = 2_048;
/// Approximate time for a row to reach the ledger; calls are recorded this far ahead.
const NOTED_WITHIN: f64 = 0.03;
/// A delay that makes no difference.
const SOON: Duration = Duration::from_millis(1);

impl<Q: ServiceQuestion> Worker<Q> {
    /// Maximum number of calls in flight now.
    pub(super) fn places(&self, control: &RunControl) -> usize {
        let places = lock(&self.gate).places(control.concurrency);
        if self.shared.budget.is_limited() {
            places.min(self.usage.places())
        } else {
            places
        }
    }

    /// How many calls, in addition to those in flight, may be on their way to the ledger or ready
    /// to send.
    pub(super) fn ahead(&self, places: usize, now: Instant) -> usize {
        let gate = lock(&self.gate);
        let free = places.saturating_sub(self.flying.len());
        if self.shared.budget.is_limited() && places == self.usage.places() {
            // Calls recorded now are reserved with an estimate that the next bill may correct.
            return free;
        }
        if gate.ready(1, now) > now + SOON {
            return 1;
        }
        // About this many slots become free while a row is on its way to the ledger.
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

    /// Reserves money for calls and records them. Returns when to check again.
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
                let why = "the budget cannot be enforced: the maximum cost of a call is unknown; \
                           set `price` in overrule.toml, or remove the budget";
                self.stop(why.to_owned()).await;
                return None;
            }
            // Reserve before sending and hold until the call is charged. Workers that only checked
            // the amount spent would each find room for the last dollar and exceed the limit
            // together.
            let worst_usd = self.usage.worst_usd(needs.worst_usd);
            call.worst_usd = worst_usd;
            match self.shared.budget.reserve(worst_usd.unwrap_or(0.0)) {
                Some(reserved) => call.reserved = Some(reserved),
                None => {
                    self.first.push_front(call);
                    // Another worker's reservation may be released, and nothing wakes this worker
                    // when it is.
                    if self.shared.budget.is_waiting() {
                        return earliest(wake, Some(now + LOOK_AGAIN));
                    }
                    self.budget_reached = true;
                    self.tell(WorkerEvent::BudgetReached).await;
                    return None;
                }
            }
            // Use one row per attempt: with a single row for all attempts, the second would
            // overwrite the cost of the first.
            call.uid = Uuid::now_v7().into_bytes();
            let attempt = Attempt {
                uid: call.uid,
                purpose: self.shared.purpose,
                service: self.service.clone(),
                run: self.shared.run,
                worst_usd,
                sent_ms: now_ms(),
            };
            // Calls are sent only from `ready`, which they enter once their row is committed. If a
            // call were sent earlier and the process killed, its cost would be in no budget.
            let noted = self.shared.ledger.begin(attempt);
            // The queue keeps the order of questions, except that retries go before questions that
            // were never asked.
            let first = call.waited;
            let noting = async move { (call, noted.await) }.boxed();
            if first {
                self.noting.push_front(noting);
            } else {
                self.noting.push_back(noting);
            }
        }
        // Without a ledger, rows complete immediately.
        while let Some(Some(noted)) = self.noting.next().now_or_never() {
            self.noted(noted).await;
        }
        wake
    }

    /// The next question that is not identical to one in progress.
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
            // A question that was admitted before and now waits for money holds its own key.
            let Some(key) = call
                .question
                .key()
                .filter(|_| call.attempts == 0 && !call.leads)
            else {
                return Some(call);
            };
            // The first question with a key leads; the others wait until its answer is on disk,
            // because sharing copies its row. The copy can be queued as soon as the write is
            // queued, as a single writer keeps the order.
            if let Some(waiting) = self.same.get_mut(&key) {
                waiting.push(call.question);
            } else if self.answered.holds(&key) {
                self.share_answer(call.question);
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

    /// Sends the calls that may be sent. Returns when more may be sent.
    pub(super) fn launch(
        &mut self,
        control: &RunControl,
        places: usize,
        now: Instant,
    ) -> Option<Instant> {
        // Answers that are not on disk are lost if the process dies, so do not buy more while the
        // disk is slow.
        while self.flying.len() < places && self.writing.len() < BACKLOG {
            // Only the first call: small calls that overtook a large one could keep a token limit
            // too low for it forever.
            let call = self.ready.front()?;
            if !self.is_wanted(call) {
                // Its case was skipped while its row was being written: `prepare` takes it back.
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
                // Other services use all the connections that the system allows.
                Some(None) => return Some(now + LOOK_AGAIN),
                open => open.flatten(),
            };
            // Another judge on the same server may hold all slots; this worker is notified when one
            // is freed.
            let Ok(place) = lock(&self.gate).window.take_place() else {
                return None;
            };
            let mut call = self.ready.pop_front()?;
            // Count the call before sending it, so that the next iteration of this loop sees it in
            // the gate.
            let begun = lock(&self.gate).begin(needs.tokens, now);
            self.begin_paced(control, now);
            // Move the reservation out of the task. If it were dropped with an aborted task, the
            // money would be released although the call may still be charged.
            let sent = SentCall {
                uid: needs.sent.then_some(call.uid),
                case: call.question.case(),
                worst_usd: call.worst_usd,
                begun,
                _place: place,
                _open: open,
                _reserved: call.reserved.take(),
            };
            // Only this worker collects finished tasks, so it never looks one up before its entry
            // exists.
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
            // Make up for a slight delay, but not for a long wait.
            let late = now.checked_sub(Duration::from_millis(50)).unwrap_or(now);
            *next = (*next).max(late) + Duration::from_secs_f64((1.0 / pace).min(3_600.0));
        }
    }

    /// Whether someone waits for the answer to a call and its case is not skipped.
    fn is_wanted(&self, call: &CallTask<Q>) -> bool {
        let skipped = call
            .question
            .case()
            .is_some_and(|case| lock(&self.gate).health.skips(case));
        call.question.is_wanted() && !skipped
    }

    /// Removes retries and recorded calls whose answers nobody waits for any more.
    async fn drop_unwanted(&mut self) {
        let late = self.later.iter();
        let late = late.filter(|(_, call)| !self.is_wanted(call));
        let late: Vec<_> = late.map(|(at, _)| *at).collect();
        if late.is_empty() && self.ready.iter().all(|call| self.is_wanted(call)) {
            return;
        }
        let mut dropped: Vec<CallTask<Q>> = late
            .into_iter()
            .filter_map(|at| self.later.remove(&at))
            .collect();
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

    /// Lets the questions that wait for the answer of a dropped call be asked themselves.
    fn release_twins(&mut self, call: &CallTask<Q>) {
        let key = call.question.key().filter(|_| call.leads);
        let twins = key.and_then(|key| self.same.remove(&key));
        let twins = twins.into_iter().flatten().map(CallTask::new);
        self.first.extend(twins);
    }

    /// Takes back the recorded calls that were not sent: deletes their rows and releases their
    /// money for other services.
    pub(super) async fn take_back(&mut self) {
        // A pending row can be deleted only once it is written; if left behind, the next run would
        // charge it as killed.
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
