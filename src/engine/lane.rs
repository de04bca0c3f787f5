//! One judge's way through the plan. Lanes do not wait for each other: a judge that is slow, limited or down leaves the
//! others alone.

use super::budget::{Budget, Reserved};
use super::call::{self, Ticket};
use super::limits::{Pace, Window};
use super::plan::plan_so_far;
use super::rounds::Visit;
use super::{Control, EngineError, Request};
use crate::domain::vote::JudgeId;
use crate::judge::{
    CallError, Case, Cause, Ensemble, Judge, JudgeSpec, PoolText, Prompt, Reply, Usage, offline,
};
use crate::store::Store;
use crate::store::calls::{Holes, Outstanding};
use crate::store::corpus::QueryKey;
use crate::store::runs::RunId;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// How long calls in flight may still run after a cancel.
pub(super) const GRACE: Duration = Duration::from_millis(700);
/// Pools that are kept between their rounds.
const KEPT: usize = 16;
/// How often a lane that waits for other lanes' money looks again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What lanes tell the run.
#[derive(Debug)]
pub(super) enum Event {
    /// A judge is about to make its calls on a query.
    Found {
        seat: usize,
        query: QueryKey,
        calls: usize,
    },
    /// A call is over and what came of it is on disk.
    Ended(Ended),
    /// A call failed and cost something, and is made again.
    Paid {
        seat: usize,
        usage: Usage,
        cost_usd: Option<f64>,
    },
    /// A call is made again.
    Retried { seat: usize, line: String },
    /// The judge makes no more calls.
    Stopped { seat: usize, why: String },
    /// The budget does not allow another call.
    Broke,
    /// The project failed.
    Failed(EngineError),
}

/// The end of a call.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) query: QueryKey,
    pub(super) seat: usize,
    pub(super) usage: Usage,
    pub(super) cost_usd: Option<f64>,
    pub(super) latency_ms: f64,
    pub(super) reused: bool,
    pub(super) failure: Option<(Cause, String)>,
}

/// What all lanes of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) run: RunId,
    pub(super) ensemble: Ensemble,
    pub(super) judges: Vec<JudgeId>,
    pub(super) names: Vec<String>,
    pub(super) request: Request,
    pub(super) queries: Vec<QueryKey>,
    pub(super) control: watch::Receiver<Control>,
    pub(super) budget: Budget,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) pools: Mutex<HashMap<QueryKey, Weak<PoolText>>>,
    /// The latest of them, where their queries' next rounds are to come.
    pub(super) kept: Mutex<VecDeque<Arc<PoolText>>>,
    pub(super) next_call: Mutex<Instant>,
}

impl Shared {
    /// A query's texts, loaded once while any lane works on them.
    async fn pool(&self, query: QueryKey) -> Result<Arc<PoolText>, EngineError> {
        let known =
            |pools: &HashMap<QueryKey, Weak<PoolText>>| pools.get(&query).and_then(Weak::upgrade);
        if let Some(pool) = known(&lock(&self.pools)) {
            return Ok(pool);
        }
        // Offline judges weigh terms by the whole pool; others need only what is put before them.
        let lexical = self.ensemble.iter().any(|judge| judge.spec().is_offline());
        let depth = self.request.depth.filter(|_| !lexical);
        let (text, documents) = self
            .store
            .read(move |db| {
                let info = db.query(query)?;
                let depth = depth.map_or(info.documents, |limit| limit.min(info.documents));
                let documents = (0..depth)
                    .map(|at| db.document_text(query, at))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok((info.text, documents))
            })
            .await?;
        let pool = Arc::new(PoolText::new(text, documents));
        if lexical {
            // The first look at a pool takes a while where it is large, and would hold up every other task.
            let analysed = Arc::clone(&pool);
            tokio::task::spawn_blocking(move || {
                offline::analysis(&analysed);
            })
            .await
            .map_err(|error| EngineError::Crashed(error.to_string()))?;
        }
        let mut pools = lock(&self.pools);
        if let Some(pool) = known(&pools) {
            return Ok(pool);
        }
        pools.retain(|_, pool| pool.strong_count() > 0);
        pools.insert(query, Arc::downgrade(&pool));
        if self.request.campaign.is_some() {
            let mut kept = lock(&self.kept);
            kept.push_back(Arc::clone(&pool));
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        Ok(pool)
    }

    /// Whether the run, or this judge, is told to end.
    pub(super) fn is_over(&self, seat: usize) -> bool {
        let control = self.control.borrow();
        control.cancelled || control.is_dropped(seat)
    }
}

/// What is known of one judge while it works; read by the run, written by its calls.
#[derive(Debug)]
pub(super) struct Valve {
    pub(super) window: Window,
    pub(super) pace: Pace,
    pub(super) stopped: Option<String>,
    /// Calls refused as wrong in a row.
    pub(super) refused: u32,
}

/// So many calls refused as wrong in a row are the judge's fault, not the documents'.
const REFUSED: u32 = 25;

impl Valve {
    /// Nothing known yet of a judge that may have `concurrency` calls in flight, unless it has a limit of its own.
    pub(super) fn new(judge: &dyn Judge, concurrency: usize, now: Instant) -> Self {
        let limits = judge.limits();
        let most = limits.concurrency.unwrap_or(concurrency);
        Self {
            window: Window::new(most, !judge.spec().is_offline()),
            pace: Pace::new(limits, now),
            stopped: None,
            refused: 0,
        }
    }

    /// A reply came for a call that needed `tokens`.
    pub(super) fn answered(&mut self, reply: &Reply, tokens: u64, now: Instant) {
        self.window.answered(reply.latency);
        self.refused = 0;
        self.pace.hear(&reply.limits, tokens, now);
    }

    /// A call that needed `tokens` failed; one that was refused as too many before it stops the judge.
    pub(super) fn failed(
        &mut self,
        error: &mut CallError,
        tokens: u64,
        began: Instant,
        now: Instant,
    ) {
        self.pace.hear(&error.exchange.limits, tokens, now);
        let overloaded = matches!(error.exchange.status, Some(429 | 503 | 529));
        if error.cause == Cause::RateLimited || overloaded {
            self.window.too_much(began, now);
        }
        if error.cause == Cause::BadRequest {
            self.refused += 1;
            if self.refused >= REFUSED && !error.stops_judge {
                error.stops_judge = true;
                error.message = format!(
                    "{} ({REFUSED} calls in a row were refused like this; mend overrule.toml, then --retry-failed)",
                    error.message
                );
            }
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One judge at work.
pub(super) struct Lane {
    pub(super) shared: Arc<Shared>,
    pub(super) seat: usize,
    pub(super) valve: Arc<Mutex<Valve>>,
    calls: JoinSet<()>,
    control: watch::Receiver<Control>,
    visits: mpsc::UnboundedReceiver<Visit>,
    /// Queries to look at, by their place in the run.
    waiting: BTreeMap<usize, Holes>,
    broke: bool,
}

/// How a lane ended.
pub(super) struct Left {
    pub(super) seat: usize,
    /// Whether the budget did not allow another call.
    pub(super) broke: bool,
}

enum Admission {
    Go(Reserved),
    End,
}

impl Lane {
    pub(super) fn new(
        shared: Arc<Shared>,
        seat: usize,
        valve: Arc<Mutex<Valve>>,
        visits: mpsc::UnboundedReceiver<Visit>,
    ) -> Self {
        let control = shared.control.clone();
        Self {
            shared,
            seat,
            valve,
            calls: JoinSet::new(),
            control,
            visits,
            waiting: BTreeMap::new(),
            broke: false,
        }
    }

    /// Works through the queries; what goes wrong is told, not returned.
    pub(super) async fn work(mut self) -> Left {
        if let Err(error) = self.through_queries().await {
            drop(self.shared.events.send(Event::Failed(error)).await);
        }
        self.drain().await;
        Left {
            seat: self.seat,
            broke: self.broke,
        }
    }

    async fn through_queries(&mut self) -> Result<(), EngineError> {
        let shared = Arc::clone(&self.shared);
        let judge = Arc::clone(&shared.ensemble[self.seat]);
        let mut left = shared.request.at_most.unwrap_or(usize::MAX);
        while let Some((place, holes)) = self.next_visit().await {
            let Some(query) = shared.queries.get(place).copied() else {
                continue;
            };
            let calls = self.outstanding(query, holes).await?;
            let event = Event::Found {
                seat: self.seat,
                query,
                calls: calls.len(),
            };
            drop(shared.events.send(event).await);
            if calls.is_empty() {
                continue;
            }
            let pool = shared.pool(query).await?;
            for call in calls {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                let case = Case {
                    pool: Arc::clone(&pool),
                    first: if call.swapped { call.b } else { call.a },
                    second: if call.swapped { call.a } else { call.b },
                };
                let prompt = judge.prompt(&case);
                let tokens = judge.estimate(&prompt).0;
                let tokens = tokens.input + tokens.output;
                let worst = judge.worst(&prompt).1.unwrap_or(0.0);
                let Admission::Go(reserved) = self.admit(tokens, worst).await else {
                    return Ok(());
                };
                self.calls.spawn(call::make(Ticket {
                    shared: Arc::clone(&shared),
                    valve: Arc::clone(&self.valve),
                    seat: self.seat,
                    query,
                    call_key: call_key(judge.as_ref(), &prompt),
                    call,
                    case,
                    prompt,
                    tokens,
                    reserved,
                }));
            }
        }
        Ok(())
    }

    /// The next query to look at, once there is one; `None` when there is none to come.
    async fn next_visit(&mut self) -> Option<(usize, Holes)> {
        loop {
            while let Ok(visit) = self.visits.try_recv() {
                self.waiting.insert(visit.place, visit.holes);
            }
            if self.shared.is_over(self.seat) || lock(&self.valve).stopped.is_some() {
                return None;
            }
            if let Some(first) = self.waiting.pop_first() {
                return Some(first);
            }
            tokio::select! {
                visit = self.visits.recv() => {
                    let visit = visit?;
                    self.waiting.insert(visit.place, visit.holes);
                }
                _ = self.calls.join_next(), if !self.calls.is_empty() => {}
                changed = self.control.changed() => if changed.is_err() {
                    return None;
                }
            }
        }
    }

    async fn outstanding(
        &self,
        query: QueryKey,
        holes: Holes,
    ) -> Result<Vec<Outstanding>, EngineError> {
        let (shared, seat) = (Arc::clone(&self.shared), self.seat);
        let calls = self
            .shared
            .store
            .read(move |db| {
                let names = std::slice::from_ref(&shared.names[seat]);
                let judges = std::slice::from_ref(&shared.judges[seat]);
                let plan = plan_so_far(db, query, &shared.request, names, judges)?;
                db.outstanding(query, &plan.planned, judges, &plan.shown, holes)
            })
            .await?;
        Ok(calls)
    }

    /// Waits until one more call may begin.
    async fn admit(&mut self, tokens: u64, worst_usd: f64) -> Admission {
        loop {
            while self.calls.try_join_next().is_some() {}
            let control = *self.control.borrow_and_update();
            if control.cancelled
                || control.is_dropped(self.seat)
                || lock(&self.valve).stopped.is_some()
            {
                return Admission::End;
            }
            let now = Instant::now();
            let mut wake = None;
            if !control.paused {
                let window = lock(&self.valve)
                    .window
                    .size()
                    .min(control.concurrency.max(1));
                if self.calls.len() < window {
                    let ready = lock(&self.valve)
                        .pace
                        .ready(tokens, now)
                        .max(self.paced(control.pace, now));
                    if ready <= now + Duration::from_millis(1) {
                        match self.shared.budget.reserve(worst_usd) {
                            Some(reserved) => {
                                self.begin(control.pace, tokens, now);
                                return Admission::Go(reserved);
                            }
                            None if self.shared.budget.is_waiting() => {
                                wake = Some(now + LOOK_AGAIN)
                            }
                            None => {
                                self.broke = true;
                                drop(self.shared.events.send(Event::Broke).await);
                                return Admission::End;
                            }
                        }
                    } else {
                        wake = Some(ready);
                    }
                }
            }
            tokio::select! {
                _ = self.calls.join_next(), if !self.calls.is_empty() => {}
                changed = self.control.changed() => if changed.is_err() {
                    return Admission::End;
                },
                () = tokio::time::sleep_until(wake.unwrap_or(now).into()), if wake.is_some() => {}
            }
        }
    }

    /// When the run's own pace allows the next call.
    fn paced(&self, pace: Option<f64>, now: Instant) -> Instant {
        match pace {
            Some(pace) if pace > 0.0 => *lock(&self.shared.next_call),
            _ => now,
        }
    }

    fn begin(&self, pace: Option<f64>, tokens: u64, now: Instant) {
        if let Some(pace) = pace.filter(|pace| *pace > 0.0) {
            let mut next = lock(&self.shared.next_call);
            // A moment of lateness is made up for, a long wait is not.
            let from = (*next).max(now.checked_sub(Duration::from_millis(50)).unwrap_or(now));
            *next = from + Duration::from_secs_f64(1.0 / pace);
        }
        lock(&self.valve).pace.begin(tokens, now);
    }

    /// Waits for the calls in flight; after a cancel only for a moment.
    async fn drain(&mut self) {
        let mut deadline = None;
        while !self.calls.is_empty() {
            if self.shared.is_over(self.seat) && deadline.is_none() {
                deadline = Some(Instant::now() + GRACE);
            }
            tokio::select! {
                _ = self.calls.join_next() => {}
                changed = self.control.changed(), if deadline.is_none() => if changed.is_err() {
                    deadline = Some(Instant::now() + GRACE);
                },
                () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now).into()), if deadline.is_some() => {
                    self.calls.abort_all();
                    while self.calls.join_next().await.is_some() {}
                }
            }
        }
    }
}

/// What makes two calls the same: the judge and every character it is sent. Offline judges are quicker than looking.
pub(super) fn call_key(judge: &dyn Judge, prompt: &Prompt) -> Option<[u8; 32]> {
    (!judge.spec().is_offline()).then(|| key_of(judge.spec(), prompt))
}

/// The hash of a judge and of every character it is sent.
pub(super) fn key_of(spec: &JudgeSpec, prompt: &Prompt) -> [u8; 32] {
    let mut hash = Sha256::new();
    let parts = [
        &spec.name,
        &spec.provider,
        &spec.model,
        &spec.prompt_hash,
        &spec.params,
        &prompt.system,
        &prompt.user,
    ];
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}
