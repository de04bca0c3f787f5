//! One service's queue of calls: a single task that admits, sends, charges and repeats them.
//!
//! The worker alone decides; nothing else begins an attempt. A question goes through four places: *noting* (its row is on
//! its way into the ledger), *ready* (it may be sent), *flying* (it has been sent and holds a place of the window) and
//! *writing* (what came of it is on its way to the disk, and its place is free again). Between two attempts it waits in
//! *later*. Each attempt runs as a task of its own and does nothing but send and read: a task that panics or is aborted
//! still has its entry in `sent`, so that every attempt that was sent is charged.

use super::Control;
use super::budget::{Budget, Reserved};
use super::gate::{Begun, Gate, is_refusal};
use super::health::is_broken;
use super::ledger::Ledger;
use super::now_ms;
use super::pace::{back_off, named};
use super::question::{End, Kept, Question};
use crate::domain::sampling::Dice;
use crate::judge::{CallError, Cause, Retry, panic_words};
use crate::store::StoreError;
use crate::store::ledger::{Attempt, Charge, Purpose};
use crate::store::runs::RunId;
use futures::future::BoxFuture;
use futures::stream::{FuturesOrdered, FuturesUnordered};
use futures::{FutureExt as _, StreamExt as _};
use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use uuid::Uuid;

/// Times a question is sent before it counts as failed; refusals of a provider that answers others do not count.
pub(crate) const ATTEMPTS: u32 = 8;
/// Times a call may be sent anew because something was learnt about what the server takes.
const ADAPTIONS: u32 = 6;
/// How often a worker that waits for money set aside by others looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Answers on their way to the disk at most.
const BACKLOG: usize = 2_048;
/// Keys of answered questions that are remembered: more than can have been looked up before they were answered.
const REMEMBERED: usize = 4_096;
/// A row reaches the ledger within about this time: so much ahead of their places calls are written down.
const NOTED_WITHIN: f64 = 0.03;
/// Lateness of a call that makes no difference.
const SOON: Duration = Duration::from_millis(1);
/// A wait longer than this makes a service absent for who waits for it.
const ABSENT: Duration = Duration::from_secs(30);

/// What a worker tells.
pub(crate) enum Event<Q: Question> {
    /// A question is over, and what came of it is on disk.
    Ended {
        question: Q,
        end: Ended<Q::Answer>,
        charge: Charge,
    },
    /// An attempt is over, and the question is asked again; in words, where there is something to say.
    Again { charge: Charge, line: String },
    /// The service makes no more calls.
    Stopped(String),
    /// The budget does not allow another call.
    Broke,
    /// The service makes no calls for now: whether because a person dropped it, and then nothing of it is in flight.
    Away { dropped: bool },
    /// It makes calls again.
    Back,
    /// The project failed.
    Failed(StoreError),
}

/// How a question ended.
pub(crate) enum Ended<A> {
    /// With an answer.
    Answered(A),
    /// With an answer, where there was one already.
    Duplicate(A),
    /// With the answer of the same question, at no cost.
    Shared,
    /// Without one.
    Failed(CallError),
}

/// What all workers of a run have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    pub(crate) budget: Budget,
    pub(crate) purpose: Purpose,
    pub(crate) run: Option<RunId>,
    pub(crate) control: watch::Receiver<Control>,
    /// True once every worker that goes on is one that a person has dropped.
    pub(crate) over: watch::Receiver<bool>,
    /// When the run's own pace allows the next call of any service.
    pub(crate) next_call: Mutex<Instant>,
}

/// A question on its way.
struct Call<Q> {
    question: Q,
    uid: [u8; 16],
    reserved: Option<Reserved>,
    attempts: u32,
    adaptions: u32,
    /// Answers the service had given when this question was refused last.
    answers: u64,
    /// Whether others that ask the same wait for its answer.
    leads: bool,
    /// Whether it goes before questions that were never asked.
    waited: bool,
}

/// A call that has been sent.
struct Sent {
    uid: Option<[u8; 16]>,
    worst_usd: Option<f64>,
    begun: Begun,
    /// Given back when the call is charged, whatever becomes of its task.
    _reserved: Option<Reserved>,
}

/// A call that has come back.
struct Landed<Q: Question> {
    call: Call<Q>,
    result: Result<Q::Answer, CallError>,
}

/// What was put into the project.
struct Written<Q: Question> {
    kept: Result<Kept, StoreError>,
    question: Option<(Q, Ended<Q::Answer>)>,
    charge: Charge,
    line: String,
}

type Noting<Q> = BoxFuture<'static, (Call<Q>, Result<(), StoreError>)>;
type Writing<Q> = BoxFuture<'static, Written<Q>>;

/// One service at work.
pub(crate) struct Worker<Q: Question> {
    shared: Arc<Shared>,
    seat: usize,
    service: String,
    gate: Arc<Mutex<Gate>>,
    control: watch::Receiver<Control>,
    questions: mpsc::Receiver<Q>,
    events: mpsc::Sender<(usize, Event<Q>)>,
    /// Whether more questions may come.
    more: bool,
    /// Questions that go before those that come.
    first: VecDeque<Call<Q>>,
    noting: FuturesOrdered<Noting<Q>>,
    ready: VecDeque<Call<Q>>,
    later: BTreeMap<(Instant, u64), Call<Q>>,
    laters: u64,
    flying: JoinSet<Landed<Q>>,
    sent: HashMap<Id, Sent>,
    writing: FuturesUnordered<Writing<Q>>,
    /// Questions that wait for the answer of the same one, by its key.
    same: HashMap<[u8; 32], Vec<Q>>,
    answered: Remembered,
    absence: Option<bool>,
    broke: bool,
    failed: bool,
    /// Whether calls in flight are not waited for.
    abandon: bool,
    /// What makes the waits of this worker its own.
    salt: u64,
}

impl<Q: Question> Worker<Q> {
    /// A worker at a place of the ensemble, for the questions that come.
    pub(crate) fn new(
        shared: Arc<Shared>,
        seat: usize,
        service: String,
        gate: Arc<Mutex<Gate>>,
        questions: mpsc::Receiver<Q>,
        events: mpsc::Sender<(usize, Event<Q>)>,
    ) -> Self {
        let control = shared.control.clone();
        Self {
            shared,
            seat,
            service,
            gate,
            control,
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
            answered: Remembered::default(),
            absence: None,
            broke: false,
            failed: false,
            abandon: false,
            salt: now_ms().cast_unsigned(),
        }
    }

    /// Asks everything that comes; ends when all of it is over, when it has to stop, or when it is told to.
    pub(crate) async fn work(mut self) {
        let mut over = self.shared.over.clone();
        loop {
            let control = *self.control.borrow_and_update();
            let stopped = lock(&self.gate).stopped.is_some();
            if control.cancelled || stopped || self.broke || self.failed || *over.borrow() {
                break;
            }
            let now = Instant::now();
            let dropped = control.is_dropped(self.seat);
            let mut wake = None;
            if dropped {
                self.take_back().await;
            }
            if !control.paused && !dropped {
                let places = lock(&self.gate).places(control.concurrency);
                wake = earliest(
                    self.prepare(places, now).await,
                    self.launch(&control, places, now),
                );
            }
            if self.broke || lock(&self.gate).stopped.is_some() {
                continue;
            }
            if self.is_done() {
                return;
            }
            self.tell_absence(dropped, now).await;
            let oldest = self.sent.values().map(|sent| sent.begun.at).min();
            let silent = oldest.map(|oldest| lock(&self.gate).health.silent_until(oldest));
            if let (Some(silent), Some(oldest)) = (silent, oldest)
                && silent <= now
                && !control.paused
            {
                let why = lock(&self.gate)
                    .health
                    .silence(self.sent.len(), oldest, now);
                self.abandon = true;
                self.stop(why).await;
                continue;
            }
            let wake = earliest(wake, silent.filter(|_| !control.paused));
            let room = self.first.is_empty() && !control.paused && !dropped && self.wants(&control);
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
                    Some(question) => self.first.push_back(Call::new(question)),
                    None => self.more = false,
                },
                changed = self.control.changed() => if changed.is_err() {
                    break;
                },
                changed = over.changed() => if changed.is_err() {
                    break;
                },
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

    /// How many calls may be on their way into the ledger or ready to go, beyond those in flight.
    fn ahead(&self, places: usize, now: Instant) -> usize {
        let gate = lock(&self.gate);
        let free = places.saturating_sub(self.flying.len());
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

    fn wants(&self, control: &Control) -> bool {
        let places = lock(&self.gate).places(control.concurrency);
        self.noting.len() + self.ready.len() < self.ahead(places, Instant::now())
    }

    /// Sets money aside for calls and writes them down; returns when to look again.
    async fn prepare(&mut self, places: usize, now: Instant) -> Option<Instant> {
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
            match self.shared.budget.reserve(needs.worst_usd.unwrap_or(0.0)) {
                Some(reserved) => call.reserved = Some(reserved),
                None => {
                    self.first.push_front(call);
                    if self.shared.budget.is_waiting() {
                        return earliest(wake, Some(now + LOOK_AGAIN));
                    }
                    self.broke = true;
                    self.tell(Event::Broke).await;
                    return None;
                }
            }
            call.uid = Uuid::now_v7().into_bytes();
            let attempt = Attempt {
                uid: call.uid,
                purpose: self.shared.purpose,
                service: self.service.clone(),
                run: self.shared.run,
                worst_usd: needs.worst_usd,
                sent_ms: now_ms(),
            };
            let noted = self.shared.ledger.begin(attempt);
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
    fn next_fresh(&mut self) -> Option<Call<Q>> {
        loop {
            let call = match self.first.pop_front() {
                Some(call) => call,
                None => match self.questions.try_recv() {
                    Ok(question) => Call::new(question),
                    Err(mpsc::error::TryRecvError::Empty) => return None,
                    Err(mpsc::error::TryRecvError::Disconnected) => {
                        self.more = false;
                        return None;
                    }
                },
            };
            // One that was let through before and waits for money is its own.
            let Some(key) = call
                .question
                .key()
                .filter(|_| call.attempts == 0 && !call.leads)
            else {
                return Some(call);
            };
            if let Some(waiting) = self.same.get_mut(&key) {
                waiting.push(call.question);
            } else if self.answered.holds(&key) {
                self.share(call.question);
            } else {
                self.same.insert(key, Vec::new());
                return Some(Call {
                    leads: true,
                    ..call
                });
            }
        }
    }

    async fn noted(&mut self, (call, noted): (Call<Q>, Result<(), StoreError>)) {
        match noted {
            Ok(()) if call.waited => self.ready.push_front(call),
            Ok(()) => self.ready.push_back(call),
            Err(error) => self.fail(error).await,
        }
    }

    /// Sends what may be sent; returns when more may be.
    fn launch(&mut self, control: &Control, places: usize, now: Instant) -> Option<Instant> {
        while self.flying.len() < places && self.writing.len() < BACKLOG {
            let call = self.ready.front()?;
            let needs = call.question.needs();
            let ready = lock(&self.gate)
                .ready(needs.tokens, now)
                .max(self.paced(control, now));
            if ready > now + SOON {
                return Some(ready);
            }
            let mut call = self.ready.pop_front()?;
            let begun = lock(&self.gate).begin(needs.tokens, now);
            self.begin_paced(control, now);
            let sent = Sent {
                uid: needs.sent.then_some(call.uid),
                worst_usd: needs.worst_usd,
                begun,
                _reserved: call.reserved.take(),
            };
            let task = self.flying.spawn(attempt(call));
            self.sent.insert(task.id(), sent);
        }
        None
    }

    /// When the run's own pace allows the next call.
    fn paced(&self, control: &Control, now: Instant) -> Instant {
        match control.pace {
            Some(pace) if pace > 0.0 => *lock(&self.shared.next_call),
            _ => now,
        }
    }

    fn begin_paced(&self, control: &Control, now: Instant) {
        if let Some(pace) = control.pace.filter(|pace| *pace > 0.0) {
            let mut next = lock(&self.shared.next_call);
            // A moment of lateness is made up for, a long wait is not.
            let late = now.checked_sub(Duration::from_millis(50)).unwrap_or(now);
            *next = (*next).max(late) + Duration::from_secs_f64((1.0 / pace).min(3_600.0));
        }
    }

    /// Takes a call in that has come back.
    async fn land(&mut self, landed: Result<(Id, Landed<Q>), JoinError>, now: Instant) {
        let (id, landed) = match landed {
            Ok((id, landed)) => (id, Some(landed)),
            Err(error) => (error.id(), None),
        };
        let Some(sent) = self.sent.remove(&id) else {
            return;
        };
        match landed {
            Some(Landed { call, result }) => match result {
                Ok(answer) => self.took(call, answer, sent, now),
                Err(error) => self.missed(call, error, sent, now).await,
            },
            // Aborted: it may have been answered, and stays owed.
            None => {
                let charge = unknown(sent.worst_usd);
                self.put(
                    sent.uid,
                    charge,
                    Some("abandoned".to_owned()),
                    None,
                    None,
                    String::new(),
                );
            }
        }
    }

    /// An answer: into the project before anything else is done with it.
    fn took(&mut self, call: Call<Q>, answer: Q::Answer, sent: Sent, now: Instant) {
        let exchange = Q::exchange(&answer).clone();
        let charge = exchange
            .cost_usd
            .map_or_else(|| unknown(sent.worst_usd), Charge::Known);
        let job = call.question.keep(End::Answered(&answer));
        if let Some(key) = call.question.key() {
            self.answered.add(key);
        }
        let tokens = call.question.needs().tokens;
        let ended = Some((call.question, Ended::Answered(answer)));
        self.put(sent.uid, charge, None, job, ended, String::new());
        let mut gate = lock(&self.gate);
        gate.answered(&exchange, tokens, self.sent.len(), sent.begun, now);
        gate.health.useful();
    }

    /// A failure: the question is asked again where that may help.
    async fn missed(&mut self, mut call: Call<Q>, error: CallError, sent: Sent, now: Instant) {
        let charge = charge_of(&error, sent.worst_usd);
        let tokens = call.question.needs().tokens;
        let cause = cause_name(error.cause);
        let refusal = is_refusal(&error);
        let probing = lock(&self.gate).health.probes_from().is_some();
        let answers = lock(&self.gate).health.answers;
        let (begun, in_flight) = (sent.begun, self.sent.len());
        let adapted = error.retry == Retry::Adapted && call.adaptions < ADAPTIONS;
        let again = call
            .question
            .rephrased(&error)
            .filter(|_| !error.stops_judge && !adapted);
        if let Some(question) = again {
            let job = call.question.keep(End::Failed {
                error: &error,
                again: true,
            });
            let line = format!("{error}; asked once more");
            self.put(sent.uid, charge, Some(cause), job, None, line);
            let leads = call.leads;
            self.later(
                Call {
                    leads,
                    ..Call::new(question)
                },
                now,
            );
        } else if adapted {
            self.put(sent.uid, charge, Some(cause), None, None, String::new());
            call.adaptions += 1;
            self.later(call, now);
        } else {
            let wait = match error.retry {
                _ if refusal => Some(error.exchange.limits.retry_after),
                // It stays owed as long as it is not known whether the server comes back.
                _ if error.no_answer && probing => Some(None),
                Retry::After(wait) => Some(wait),
                Retry::Never | Retry::Adapted => None,
            };
            // A refusal is not the call's fault while others are answered, nor is a server that answers nobody.
            if !(refusal && answers > call.answers || probing && !refusal) {
                call.attempts += 1;
            }
            call.answers = answers;
            match wait.filter(|_| call.attempts < ATTEMPTS && !error.stops_judge) {
                Some(wait) => {
                    let draw = self.draw(&call);
                    let attempt = call.attempts.max(1);
                    let wait =
                        wait.map_or_else(|| back_off(attempt, draw), |wait| named(wait, draw));
                    let line = format!("{error}; asking again in {:.1} s", wait.as_secs_f64());
                    self.put(sent.uid, charge, Some(cause), None, None, line);
                    self.later(call, now + wait);
                }
                // The first such failure says it; what was in flight beside it stays owed.
                None if error.stops_judge && lock(&self.gate).stopped.is_some() => {
                    self.put(sent.uid, charge, Some(cause), None, None, String::new());
                }
                None => {
                    let job = call.question.keep(End::Failed {
                        error: &error,
                        again: false,
                    });
                    let ended = Some((call.question, Ended::Failed(error.clone())));
                    self.put(sent.uid, charge, Some(cause), job, ended, String::new());
                }
            }
        }
        let stop = {
            let mut gate = lock(&self.gate);
            if error.cause == Cause::Malformed && !Q::JUNK_STOPS {
                gate.health.useful();
            }
            gate.failed(&error, tokens, in_flight, begun, now)
        };
        if let Some(why) = stop {
            // A server that answers nobody is not waited for; others may still answer what is in flight.
            self.abandon = is_broken(&error) && !error.stops_judge;
            self.tell(Event::Stopped(why)).await;
        }
    }

    /// Keeps a call for later.
    fn later(&mut self, mut call: Call<Q>, at: Instant) {
        call.waited = true;
        self.laters += 1;
        self.later.insert((at, self.laters), call);
    }

    /// A uniform number for a wait, different for every call and attempt.
    fn draw(&self, call: &Call<Q>) -> f64 {
        let name = format!("{}/{}/{}", call.question.name(), self.seat, self.laters);
        Dice::new(self.salt, &["back-off", &name]).unit()
    }

    /// Puts the end of an attempt into the project.
    fn put(
        &mut self,
        uid: Option<[u8; 16]>,
        charge: Charge,
        cause: Option<String>,
        job: Option<super::question::Job>,
        question: Option<(Q, Ended<Q::Answer>)>,
        line: String,
    ) {
        self.shared.budget.spend(charge.usd());
        let kept = self.shared.ledger.end(uid, charge, cause, job);
        let writing = async move {
            Written {
                kept: kept.await,
                question,
                charge,
                line,
            }
        };
        self.writing.push(writing.boxed());
    }

    /// Lets the answer of the same question count for this one.
    fn share(&mut self, question: Q) {
        let Some(job) = question.share() else {
            return;
        };
        let kept = self
            .shared
            .ledger
            .end(None, Charge::Known(0.0), None, Some(job));
        let writing = async move {
            Written {
                kept: kept.await,
                question: Some((question, Ended::Shared)),
                charge: Charge::Known(0.0),
                line: String::new(),
            }
        };
        self.writing.push(writing.boxed());
    }

    /// Something is on disk.
    async fn written(&mut self, written: Written<Q>) {
        let Written {
            kept,
            question,
            charge,
            line,
        } = written;
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => return self.fail(error).await,
        };
        let Some((question, end)) = question else {
            return self.tell(Event::Again { charge, line }).await;
        };
        let key = question.key();
        let end = match (end, kept) {
            (Ended::Shared, Kept::Nothing) => {
                // The answer that was to be shared did not come to be; the question is bought for itself.
                if let Some(key) = &key {
                    self.answered.forget(key);
                }
                self.first.push_back(Call::new(question));
                return;
            }
            (Ended::Answered(answer), Kept::Duplicate) => Ended::Duplicate(answer),
            (end, _) => end,
        };
        let shared = matches!(end, Ended::Shared);
        let answered = matches!(end, Ended::Answered(_) | Ended::Duplicate(_));
        self.tell(Event::Ended {
            question,
            end,
            charge,
        })
        .await;
        let same = key
            .filter(|_| !shared)
            .and_then(|key| self.same.remove(&key));
        for question in same.into_iter().flatten() {
            if answered {
                self.share(question);
            } else {
                self.first.push_back(Call::new(question));
            }
        }
    }

    async fn fail(&mut self, error: StoreError) {
        self.failed = true;
        self.tell(Event::Failed(error)).await;
    }

    async fn stop(&mut self, why: String) {
        if lock(&self.gate).stop(&why) {
            self.tell(Event::Stopped(why)).await;
        }
    }

    async fn tell(&mut self, event: Event<Q>) {
        // Whoever does not listen any more has ended the run.
        drop(self.events.send((self.seat, event)).await);
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
        let event = absence.map_or(Event::Back, |dropped| Event::Away { dropped });
        self.tell(event).await;
    }

    /// Takes back what was written down and not sent: its rows go, and its money is free for other services.
    async fn take_back(&mut self) {
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

    /// Waits for what is in flight and on its way to the disk; what was not sent is taken back.
    async fn drain(&mut self) {
        self.take_back().await;
        self.first.clear();
        self.later.clear();
        let mut deadline: Option<Instant> = None;
        while !self.flying.is_empty() || !self.writing.is_empty() {
            let control = *self.control.borrow_and_update();
            let now = Instant::now();
            if control.cancelled {
                let from = now + control.grace;
                deadline = Some(deadline.map_or(from, |before| before.min(from)));
            }
            let oldest = self.sent.values().map(|sent| sent.begun.at).min();
            let silent = oldest.map(|oldest| lock(&self.gate).health.silent_until(oldest));
            let until = earliest(deadline, silent);
            if self.abandon || until.is_some_and(|until| until <= now) {
                self.flying.abort_all();
            }
            tokio::select! {
                Some(landed) = self.flying.join_next_with_id(), if !self.flying.is_empty() => {
                    self.land(landed, Instant::now()).await;
                    self.later.clear();
                }
                Some(written) = self.writing.next(), if !self.writing.is_empty() => self.written(written).await,
                changed = self.control.changed() => if changed.is_err() {
                    self.abandon = true;
                },
                () = tokio::time::sleep_until(until.unwrap_or(now)), if until.is_some_and(|until| until > now) => {}
            }
        }
        // What was to be shared with them is owed.
        self.first.clear();
    }
}

impl<Q> Call<Q> {
    fn new(question: Q) -> Self {
        Self {
            question,
            uid: [0; 16],
            reserved: None,
            attempts: 0,
            adaptions: 0,
            answers: 0,
            leads: false,
            waited: false,
        }
    }
}

/// One attempt; a question that panics has failed.
async fn attempt<Q: Question>(call: Call<Q>) -> Landed<Q> {
    let result = AssertUnwindSafe(call.question.ask()).catch_unwind().await;
    let result = result.unwrap_or_else(|panic| Err(crashed(panic.as_ref())));
    Landed { call, result }
}

/// The failure of a call that panicked.
pub(crate) fn crashed(panic: &(dyn Any + Send)) -> CallError {
    let mut error = CallError::new(Cause::Crashed, panic_words(panic));
    // Nobody knows how far it came.
    error.exchange.sent = true;
    error
}

/// What a failed attempt cost: nothing where the server refused it or never saw it, else at most its worst price.
fn charge_of(error: &CallError, worst_usd: Option<f64>) -> Charge {
    let exchange = &error.exchange;
    if let Some(usd) = exchange.cost_usd {
        return Charge::Known(usd);
    }
    let refused = match exchange.status {
        Some(status) => !(200..300).contains(&status),
        None => matches!(
            error.cause,
            Cause::RateLimited | Cause::QuotaExhausted | Cause::Unauthorised | Cause::BadRequest
        ),
    };
    let reached = exchange.sent || exchange.status.is_some();
    if refused || !reached {
        Charge::Known(0.0)
    } else {
        unknown(worst_usd)
    }
}

fn unknown(worst_usd: Option<f64>) -> Charge {
    worst_usd.map_or(Charge::Unpriced, Charge::Assumed)
}

/// The cause as the project stores it.
fn cause_name(cause: Cause) -> String {
    serde_json::to_value(cause)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The latest keys of answered questions.
#[derive(Default)]
struct Remembered {
    keys: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl Remembered {
    fn add(&mut self, key: [u8; 32]) {
        if self.keys.insert(key) {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }

    fn forget(&mut self, key: &[u8; 32]) {
        if self.keys.remove(key) {
            self.order.retain(|known| known != key);
        }
    }

    fn holds(&self, key: &[u8; 32]) -> bool {
        self.keys.contains(key)
    }
}

#[cfg(test)]
mod tests;
