//! One service's queue of calls: a single task that admits, sends, charges and repeats them.
//!
//! The worker alone decides; nothing else begins an attempt. A question goes through four places: *noting* (its row is on
//! its way into the ledger), *ready* (it may be sent), *flying* (it has been sent and holds a place of the window) and
//! *writing* (what came of it is on its way to the disk, and its place is free again). Between two attempts it waits in
//! *later*. Each attempt runs as a task of its own and does nothing but send and read: a task that panics or is aborted
//! still has its entry in `sent`, so that every attempt that was sent is charged.

mod admission;
mod outcome;
mod real_usage;
mod recent_keys;

use super::RunControl;
use super::budget::{Budget, Reservation};
use super::call_ledger::CallLedger;
use super::gate::{BegunCall, RateGate};
use super::open_files::OpenCall;
use super::question::{CaseId, RecordOutcome, ServiceQuestion};
use super::slots::SlotPlace;
use super::{lock, now_ms};
use crate::judge::{CallError, FailureCause, panic_message};
use crate::store::ledger::{CallPurpose, Charge};
use crate::store::runs::RunId;
use crate::store::{Store, StoreError};
use futures::future::BoxFuture;
use futures::stream::{FuturesOrdered, FuturesUnordered};
use futures::{FutureExt as _, StreamExt as _};
use real_usage::RealUsage;
use recent_keys::RecentKeys;
use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;

/// A wait longer than this makes a service absent for who waits for it.
const ABSENT: Duration = Duration::from_secs(30);

pub(crate) enum WorkerEvent<Q: ServiceQuestion> {
    /// A question is over, and what came of it is on disk.
    Ended {
        question: Q,
        end: QuestionEnd<Q::Answer>,
        charge: Charge,
    },
    /// An attempt is over, and the question is asked again; in words, where there is something to say.
    Again {
        charge: Charge,
        line: String,
    },
    /// The service skips a case because calls about it keep failing. Calls that were not made stay owed.
    CaseSkipped {
        case: CaseId,
        why: String,
    },
    /// The service makes no more calls.
    Stopped(String),
    /// The budget does not allow another call.
    BudgetReached,
    /// The service makes no calls for now: whether because a person dropped it, and then nothing of it is in flight.
    Away {
        dropped: bool,
    },
    /// It makes calls again.
    Back,
    Failed(StoreError),
}

pub(crate) enum QuestionEnd<A> {
    Answered(A),
    /// With an answer, where there was one already.
    Duplicate(A),
    /// With the answer of the same question, at no cost.
    Shared,
    Failed(CallError),
}

/// What all workers of a run have in common.
#[derive(Debug)]
pub(crate) struct WorkerContext {
    pub(crate) ledger: CallLedger,
    pub(crate) budget: Budget,
    pub(crate) purpose: CallPurpose,
    pub(crate) run: Option<RunId>,
    pub(crate) control: watch::Receiver<RunControl>,
    /// True once every worker that goes on is one that a person has dropped.
    pub(crate) over: watch::Receiver<bool>,
    /// When the run's own pace allows the next call of any service.
    pub(crate) next_call: Mutex<Instant>,
}

impl WorkerContext {
    /// The context of a run in a project: calls that were cut short are charged first, and all that the project has spent is
    /// spent of the budget. The caller holds the lock of runs.
    ///
    /// Workers take it for the end of the run when the sender is dropped.
    ///
    /// # Errors
    /// The project cannot be read or written.
    pub(crate) async fn of_project(
        store: &Store,
        purpose: CallPurpose,
        control: watch::Receiver<RunControl>,
    ) -> Result<(Arc<Self>, watch::Sender<bool>), StoreError> {
        let committed = store
            .write(|db| {
                db.charge_killed_calls(now_ms())?;
                db.committed_usd()
            })
            .await?;
        let limit = control.borrow().budget_usd;
        let (over_to, over) = watch::channel(false);
        let context = Self {
            ledger: CallLedger::Project(store.clone()),
            budget: Budget::new(limit, committed),
            purpose,
            run: None,
            control,
            over,
            next_call: Mutex::new(Instant::now()),
        };
        Ok((Arc::new(context), over_to))
    }
}

/// A question on its way.
struct CallTask<Q> {
    question: Q,
    uid: [u8; 16],
    reserved: Option<Reservation>,
    /// Dollars that this attempt costs at worst.
    worst_usd: Option<f64>,
    attempts: u32,
    /// Attempts that were charged, or may have been; those of the same question before it was
    /// rephrased are among them.
    charged: u32,
    adaptions: usize,
    /// Answers the service had given when this question was refused last.
    answers: u64,
    /// Whether others that ask the same wait for its answer.
    leads: bool,
    /// Whether it goes before questions that were never asked.
    waited: bool,
}

struct SentCall {
    uid: Option<[u8; 16]>,
    worst_usd: Option<f64>,
    begun: BegunCall,
    /// A place of the server, where judges share them.
    _place: Option<SlotPlace>,
    /// Held by a call that goes to a server.
    _open: Option<OpenCall>,
    /// Given back when the call is charged, whatever becomes of its task.
    _reserved: Option<Reservation>,
}

/// A call that has come back.
struct ReturnedCall<Q: ServiceQuestion> {
    call: CallTask<Q>,
    result: Result<Q::Answer, CallError>,
}

/// What was put into the project.
struct RecordedCall<Q: ServiceQuestion> {
    kept: Result<RecordOutcome, StoreError>,
    question: Option<(Q, QuestionEnd<Q::Answer>)>,
    charge: Charge,
    line: String,
}

type EntryWrite<Q> = BoxFuture<'static, (CallTask<Q>, Result<(), StoreError>)>;
type RecordWrite<Q> = BoxFuture<'static, RecordedCall<Q>>;

pub(crate) struct Worker<Q: ServiceQuestion> {
    shared: Arc<WorkerContext>,
    judge_index: usize,
    service: String,
    gate: Arc<Mutex<RateGate>>,
    control: watch::Receiver<RunControl>,
    /// Hears when a place comes free that judges of one server share.
    freed: Option<watch::Receiver<()>>,
    questions: mpsc::Receiver<Q>,
    events: mpsc::Sender<(usize, WorkerEvent<Q>)>,
    /// Whether more questions may come.
    more: bool,
    /// Questions that go before those that come.
    first: VecDeque<CallTask<Q>>,
    noting: FuturesOrdered<EntryWrite<Q>>,
    ready: VecDeque<CallTask<Q>>,
    later: BTreeMap<(Instant, u64), CallTask<Q>>,
    laters: u64,
    flying: JoinSet<ReturnedCall<Q>>,
    sent: HashMap<Id, SentCall>,
    writing: FuturesUnordered<RecordWrite<Q>>,
    /// Questions that wait for the answer of the same one, by its key.
    same: HashMap<[u8; 32], Vec<Q>>,
    answered: RecentKeys,
    usage: RealUsage,
    absence: Option<bool>,
    budget_reached: bool,
    failed: bool,
    /// Whether calls in flight are not waited for.
    abandon: bool,
    /// What makes the waits of this worker its own.
    salt: u64,
}

impl<Q: ServiceQuestion> Worker<Q> {
    /// A worker at a place of the ensemble, for the questions that come.
    pub(crate) fn new(
        shared: Arc<WorkerContext>,
        judge_index: usize,
        service: String,
        gate: Arc<Mutex<RateGate>>,
        questions: mpsc::Receiver<Q>,
        events: mpsc::Sender<(usize, WorkerEvent<Q>)>,
    ) -> Self {
        let control = shared.control.clone();
        let freed = lock(&gate).window.slots().map(|slots| slots.freed());
        Self {
            shared,
            judge_index,
            service,
            gate,
            control,
            freed,
            questions,
            events,
            more: true,
            first: VecDeque::new(),
            noting: FuturesOrdered::new(),
            ready: VecDeque::new(),
            later: BTreeMap::new(),
            laters: 0,
            flying: JoinSet::new(),
            sent: HashMap::new(),
            writing: FuturesUnordered::new(),
            same: HashMap::new(),
            answered: RecentKeys::default(),
            usage: RealUsage::default(),
            absence: None,
            budget_reached: false,
            failed: false,
            abandon: false,
            salt: now_ms().cast_unsigned(),
        }
    }

    /// Asks everything that comes; ends when all of it is over, when it has to stop, or when it is told to.
    pub(crate) async fn work(mut self) {
        let mut over = self.shared.over.clone();
        loop {
            // Marked as seen before it is acted on: a change that comes during this turn still wakes the wait below.
            let control = *self.control.borrow_and_update();
            if let Some(freed) = &mut self.freed {
                freed.mark_unchanged();
            }
            let stopped = lock(&self.gate).stopped.is_some();
            if control.cancelled || stopped || self.budget_reached || self.failed || *over.borrow()
            {
                break;
            }
            let now = Instant::now();
            let dropped = control.is_dropped(self.judge_index);
            let mut wake = None;
            if dropped {
                // What waits here may wait for long; its money would be missing to the other services all the while.
                self.take_back().await;
            }
            if !control.paused && !dropped {
                let places = self.places(&control);
                // In this order: a row that is there at once is sent in the same turn, and no event would come for it
                // later.
                wake = earliest(
                    self.prepare(places, now).await,
                    self.launch(&control, places, now),
                );
            }
            // Found out just now: to wait below would be for events that need not come.
            if self.budget_reached || lock(&self.gate).stopped.is_some() {
                continue;
            }
            if self.is_done() {
                lock(&self.gate).in_flight = 0;
                return;
            }
            self.tell_absence(dropped, now).await;
            lock(&self.gate).in_flight = self.sent.len();
            let silence = self.silence().filter(|_| !control.paused);
            if let Some((oldest, until)) = silence
                && until <= now
            {
                let why = lock(&self.gate)
                    .health
                    .silence(self.sent.len(), oldest, now);
                self.abandon = true;
                self.stop(why).await;
                continue;
            }
            let wake = earliest(wake, silence.map(|(_, until)| until));
            // A question is taken when it can be noted next. Taken sooner it would pile up here, and the bound of the
            // channel, which is what holds its source back, would be none.
            let room = self.first.is_empty() && !control.paused && !dropped && self.wants(&control);
            // Any order will do: each arm only moves a call to its next place, and nothing is sent but by `launch`.
            tokio::select! {
                Some(landed) = self.flying.join_next_with_id(), if !self.flying.is_empty() => {
                    self.land(landed, Instant::now()).await;
                    // Whoever has come back meanwhile makes room at once.
                    while let Some(landed) = self.flying.try_join_next_with_id() {
                        self.land(landed, Instant::now()).await;
                    }
                }
                Some(noted) = self.noting.next(), if !self.noting.is_empty() => self.noted(noted).await,
                Some(written) = self.writing.next(), if !self.writing.is_empty() => self.written(written).await,
                question = self.questions.recv(), if self.more && room => match question {
                    Some(question) => self.first.push_back(CallTask::new(question)),
                    None => self.more = false,
                },
                changed = self.control.changed() => if changed.is_err() {
                    break;
                },
                changed = over.changed() => if changed.is_err() {
                    break;
                },
                () = heard(&mut self.freed) => {}
                () = tokio::time::sleep_until(wake.unwrap_or(now)), if wake.is_some() => {}
            }
        }
        self.drain().await;
    }

    /// Whether nothing is left to do.
    fn is_done(&self) -> bool {
        !self.more
            && self.first.is_empty()
            && self.noting.is_empty()
            && self.ready.is_empty()
            && self.later.is_empty()
            && self.flying.is_empty()
            && self.writing.is_empty()
    }

    /// When the oldest call in flight began, and until when there may be no answer to any.
    fn silence(&self) -> Option<(Instant, Instant)> {
        let oldest = self.sent.values().map(|sent| sent.begun.at).min()?;
        Some((oldest, lock(&self.gate).health.silent_until(oldest)))
    }

    async fn fail(&mut self, error: StoreError) {
        self.failed = true;
        self.tell(WorkerEvent::Failed(error)).await;
    }

    async fn stop(&mut self, why: String) {
        if lock(&self.gate).stop(&why) {
            self.tell(WorkerEvent::Stopped(why)).await;
        }
    }

    async fn tell(&mut self, event: WorkerEvent<Q>) {
        // A full channel holds this worker up, not the calls in flight; who listens never waits for a worker.
        // Whoever does not listen any more has ended the run.
        drop(self.events.send((self.judge_index, event)).await);
    }

    /// Says when nobody should wait for this service, and when it is back.
    async fn tell_absence(&mut self, dropped: bool, now: Instant) {
        let idle = self.flying.is_empty() && self.writing.is_empty();
        let absence = if dropped {
            // Until its last call is over it is not away.
            idle.then_some(true).or(self.absence)
        } else {
            let waiting = lock(&self.gate).waiting(now);
            let broken = lock(&self.gate).health.probes_from().is_some();
            let long = waiting.is_some_and(|(wait, _)| wait > ABSENT);
            (broken || long).then_some(false)
        };
        if absence == self.absence {
            return;
        }
        self.absence = absence;
        let event = absence.map_or(WorkerEvent::Back, |dropped| WorkerEvent::Away { dropped });
        self.tell(event).await;
    }

    /// Waits for what is in flight and on its way to the disk; what was not sent is taken back.
    async fn drain(&mut self) {
        // What waits in `first` and `later` goes with this worker: nothing sends it any more, and it stays owed.
        self.take_back().await;
        let mut deadline: Option<Instant> = None;
        while !self.flying.is_empty() || !self.writing.is_empty() {
            lock(&self.gate).in_flight = self.sent.len();
            let control = *self.control.borrow_and_update();
            let now = Instant::now();
            if control.cancelled {
                let from = now + control.grace;
                // A second stop shortens the time; no later change of the control gives it back.
                deadline = Some(deadline.map_or(from, |before| before.min(from)));
            }
            let until = earliest(deadline, self.silence().map(|(_, until)| until));
            if self.abandon || until.is_some_and(|until| until <= now) {
                self.flying.abort_all();
            }
            tokio::select! {
                Some(landed) = self.flying.join_next_with_id(), if !self.flying.is_empty() => {
                    self.land(landed, Instant::now()).await;
                }
                Some(written) = self.writing.next(), if !self.writing.is_empty() => self.written(written).await,
                changed = self.control.changed() => if changed.is_err() {
                    self.abandon = true;
                },
                () = tokio::time::sleep_until(until.unwrap_or(now)), if until.is_some_and(|until| until > now) => {}
            }
        }
        lock(&self.gate).in_flight = 0;
    }
}

impl<Q> CallTask<Q> {
    fn new(question: Q) -> Self {
        Self {
            question,
            uid: [0; 16],
            reserved: None,
            worst_usd: None,
            attempts: 0,
            charged: 0,
            adaptions: 0,
            answers: 0,
            leads: false,
            waited: false,
        }
    }
}

/// One attempt; a question that panics has failed.
async fn attempt<Q: ServiceQuestion>(call: CallTask<Q>) -> ReturnedCall<Q> {
    let result = AssertUnwindSafe(call.question.ask()).catch_unwind().await;
    let result = result.unwrap_or_else(|panic| Err(crashed(panic.as_ref())));
    ReturnedCall { call, result }
}

/// The failure of a call that panicked.
fn crashed(panic: &(dyn Any + Send)) -> CallError {
    let mut error = CallError::new(FailureCause::Crashed, panic_message(panic));
    // Nobody knows how far it came.
    error.exchange.sent = true;
    error
}

/// Something new on the channel; never where there is none, or nobody left to send.
async fn heard(channel: &mut Option<watch::Receiver<()>>) {
    if let Some(channel) = channel
        && channel.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests;
