//! One service's queue of calls: a single task that admits, sends, charges and retries them.
//!
//! Only the worker starts attempts. A question passes through four places: *noting* (its row is
//! being written to the ledger), *ready* (it may be sent), *flying* (it was sent and holds a slot
//! of the window) and *writing* (its outcome is being written to disk, and its slot is free again).
//! Between two attempts it waits in *later*. Each attempt runs as a separate task that only sends
//! and reads: a task that panics or is aborted still has its entry in `sent`, so that every attempt
//! that was sent is charged.

mod admission;
mod outcome;
mod real_usage;
mod recent_keys;

pub(super) use outcome::{charge_of_answer, charge_of_failure};

use super::RunControl;
use super::budget::{Budget, Reservation};
use super::call_ledger::CallLedger;
use super::gate::{BegunCall, RateGate};
use super::open_files::OpenCall;
use super::question::{CaseId, RecordOutcome, ServiceQuestion};
use super::slots::SlotPlace;
use super::{lock, now_ms};
use crate::domain::caught_panic::panic_message;
use crate::judge::{CallError, FailureCause};
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

/// After a wait longer than this, others no longer wait for the service.
const ABSENT: Duration = Duration::from_secs(30);

pub(crate) enum WorkerEvent<Q: ServiceQuestion> {
    /// A question has ended, and its outcome is on disk.
    Ended {
        question: Q,
        end: QuestionEnd<Q::Answer>,
        charge: Charge,
    },
    /// An attempt has ended, and the question is asked again; `line` describes why, if there is
    /// anything to say.
    Again {
        charge: Charge,
        line: String,
    },
    /// The service skips a case because calls about it keep failing, and none of them is in flight
    /// any more. Its remaining calls stay outstanding.
    CaseSkipped {
        case: CaseId,
        why: String,
    },
    /// The service makes no more calls.
    Stopped(String),
    /// The budget does not allow another call.
    BudgetReached,
    /// The service makes no calls for now; `dropped` if a person dropped it and it has no call in
    /// flight.
    Away {
        dropped: bool,
    },
    /// It makes calls again.
    Back,
    Failed(StoreError),
}

pub(crate) enum QuestionEnd<A> {
    Answered(A),
    /// With an answer, although there already was one.
    Duplicate(A),
    /// With the answer of an identical question, at no cost.
    Shared,
    Failed(CallError),
}

/// Context shared by all workers of a run.
#[derive(Debug)]
pub(crate) struct WorkerContext {
    pub(crate) ledger: CallLedger,
    pub(crate) budget: Budget,
    pub(crate) purpose: CallPurpose,
    pub(crate) run: Option<RunId>,
    pub(crate) control: watch::Receiver<RunControl>,
    /// True once all remaining workers were dropped by a person.
    pub(crate) over: watch::Receiver<bool>,
    /// When the run's own pace allows the next call of any service.
    pub(crate) next_call: Mutex<Instant>,
}

impl WorkerContext {
    /// The context of a run in a project. Interrupted calls are charged first, and all spending of
    /// the project counts against the budget. The caller holds the run lock.
    ///
    /// Workers treat dropping the sender as the end of the run.
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

    /// Changes the limit of the budget whenever the control changes it, until the run has ended.
    pub(crate) fn follow_limit(self: &Arc<Self>) {
        let (context, mut control) = (Arc::downgrade(self), self.control.clone());
        tokio::spawn(async move {
            while control.changed().await.is_ok() {
                let Some(context) = context.upgrade() else {
                    return;
                };
                let limit_usd = control.borrow_and_update().budget_usd;
                context.budget.set_limit(limit_usd);
            }
        });
    }
}

/// A pending question.
struct CallTask<Q> {
    question: Q,
    uid: [u8; 16],
    reserved: Option<Reservation>,
    /// Worst-case cost of this attempt in dollars.
    worst_usd: Option<f64>,
    attempts: u32,
    /// Attempts that were charged, or may have been; those of the same question before it was
    /// rephrased are among them.
    charged: u32,
    adaptions: usize,
    /// Number of answers of the service when this question was last refused.
    answers: u64,
    /// Whether identical questions wait for its answer.
    leads: bool,
    /// Whether it has priority over questions that were never asked.
    waited: bool,
}

struct SentCall {
    uid: Option<[u8; 16]>,
    case: Option<CaseId>,
    worst_usd: Option<f64>,
    begun: BegunCall,
    /// A slot of the server, if judges share them.
    _place: Option<SlotPlace>,
    /// Held by a call that goes to a server.
    _open: Option<OpenCall>,
    /// Released when the call is charged, no matter what happens to its task.
    _reserved: Option<Reservation>,
}

/// A call that has returned.
struct ReturnedCall<Q: ServiceQuestion> {
    call: CallTask<Q>,
    result: Result<Q::Answer, CallError>,
}

/// The result of writing to the project.
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
    /// Notified when a slot shared by judges on the same server is freed.
    freed: Option<watch::Receiver<()>>,
    questions: mpsc::Receiver<Q>,
    events: mpsc::Sender<(usize, WorkerEvent<Q>)>,
    /// Whether more questions may arrive.
    more: bool,
    /// Questions that come before new ones.
    first: VecDeque<CallTask<Q>>,
    noting: FuturesOrdered<EntryWrite<Q>>,
    ready: VecDeque<CallTask<Q>>,
    later: BTreeMap<(Instant, u64), CallTask<Q>>,
    laters: u64,
    flying: JoinSet<ReturnedCall<Q>>,
    sent: HashMap<Id, SentCall>,
    writing: FuturesUnordered<RecordWrite<Q>>,
    /// Questions that wait for the answer of an identical one, by key.
    same: HashMap<[u8; 32], Vec<Q>>,
    answered: RecentKeys,
    usage: RealUsage,
    absence: Option<bool>,
    /// Skipped cases with calls in flight, and why they are skipped.
    skipped: Vec<(CaseId, String)>,
    budget_reached: bool,
    failed: bool,
    /// Whether to abort calls in flight.
    abandon: bool,
    /// Makes the jitter of this worker's waits unique.
    salt: u64,
}

impl<Q: ServiceQuestion> Worker<Q> {
    /// Creates the worker of the judge with this index.
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
            skipped: Vec::new(),
            budget_reached: false,
            failed: false,
            abandon: false,
            salt: now_ms().cast_unsigned(),
        }
    }

    /// Asks all questions that arrive. Ends when all of them have ended, when the service stops, or
    /// when the worker has to stop.
    pub(crate) async fn work(mut self) {
        let mut over = self.shared.over.clone();
        loop {
            // Mark the value as seen before acting on it, so that a change during this iteration
            // still wakes the wait below.
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
            let dropped = control.dropped.contains(self.judge_index);
            let mut wake = None;
            if dropped {
                // Recorded calls may wait here for a long time, and other services could use their
                // money.
                self.take_back().await;
            }
            if !control.paused && !dropped {
                lock(&self.gate)
                    .window
                    .double_if_due(self.flying.len(), now);
                let places = self.places(&control);
                // Keep this order: a row that completes immediately is sent in the same iteration,
                // because no event would arrive for it later.
                wake = earliest(
                    self.prepare(places, now).await,
                    self.launch(&control, places, now),
                );
                // The first call may just have begun.
                wake = earliest(wake, lock(&self.gate).window.doubles_at());
            }
            // This has just changed, so do not wait below for events that may never arrive.
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
            // Receive a question only when it can be recorded next. Received earlier, questions
            // would pile up here and defeat the channel bound, which holds back the source.
            let room = self.first.is_empty() && !control.paused && !dropped && self.wants(&control);
            // The order does not matter: each arm only moves a call to its next place, and only
            // `launch` sends.
            tokio::select! {
                Some(landed) = self.flying.join_next_with_id(), if !self.flying.is_empty() => {
                    self.on_returned(landed, Instant::now()).await;
                    // Other calls that have returned in the meantime free their slots at once.
                    while let Some(landed) = self.flying.try_join_next_with_id() {
                        self.on_returned(landed, Instant::now()).await;
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

    /// Whether there is nothing left to do.
    fn is_done(&self) -> bool {
        !self.more
            && self.first.is_empty()
            && self.noting.is_empty()
            && self.ready.is_empty()
            && self.later.is_empty()
            && self.flying.is_empty()
            && self.writing.is_empty()
    }

    /// When the oldest call in flight began, and the time by which any call must get an answer.
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
        // A full channel blocks this worker but not the calls in flight; the receiver never waits
        // for a worker. If the receiver is gone, the run has ended.
        drop(self.events.send((self.judge_index, event)).await);
    }

    /// Reports when others should stop waiting for this service, and when it is back.
    async fn tell_absence(&mut self, dropped: bool, now: Instant) {
        let idle = self.flying.is_empty() && self.writing.is_empty();
        let absence = if dropped {
            // It is not away until its last call has ended.
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

    /// Waits for calls in flight and pending writes, and takes back calls that were not sent.
    async fn drain(&mut self) {
        // Questions in `first` and `ask_again_at` are dropped with this worker and stay
        // outstanding.
        self.take_back().await;
        let mut deadline: Option<Instant> = None;
        while !self.flying.is_empty() || !self.writing.is_empty() {
            lock(&self.gate).in_flight = self.sent.len();
            let control = *self.control.borrow_and_update();
            let now = Instant::now();
            if control.cancelled {
                let from = now + control.grace;
                // A second stop shortens the time; later changes of the control do not extend it.
                deadline = Some(deadline.map_or(from, |before| before.min(from)));
            }
            let until = earliest(deadline, self.silence().map(|(_, until)| until));
            if self.abandon || until.is_some_and(|until| until <= now) {
                self.flying.abort_all();
            }
            tokio::select! {
                Some(landed) = self.flying.join_next_with_id(), if !self.flying.is_empty() => {
                    self.on_returned(landed, Instant::now()).await;
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

/// Makes one attempt; a question that panics has failed.
async fn attempt<Q: ServiceQuestion>(call: CallTask<Q>) -> ReturnedCall<Q> {
    let result = AssertUnwindSafe(call.question.ask()).catch_unwind().await;
    let result = result.unwrap_or_else(|panic| Err(crashed(panic.as_ref())));
    ReturnedCall { call, result }
}

/// The failure of a call that panicked.
fn crashed(panic: &(dyn Any + Send)) -> CallError {
    let mut error = CallError::new(FailureCause::Crashed, panic_message(panic));
    // It is unknown how far the call got.
    error.exchange.sent = true;
    error
}

/// Waits for a change on the channel; pending forever if there is no channel or its sender is gone.
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
