//! Picks: each judge is asked about each lineup, and what comes is handed on at once, for the caller to keep.
//!
//! Limits, back-off, budget and the one question asked again are those of battles; only the answer differs.

mod call;

use super::budget::{Budget, Reserved};
use super::lane::{GRACE, LOOK_AGAIN, Valve, key_of, lock};
use crate::domain::court::{Invalid, SlotVerdict};
use crate::judge::{Cause, Ensemble, JudgeSpec, Lineup, Prompt, Usage};
use call::Call;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// A question to be put to a judge.
#[derive(Clone, Debug)]
pub struct Job {
    /// The caller's number of it.
    pub number: usize,
    /// The judge's seat in the ensemble.
    pub seat: usize,
    /// What it is shown.
    pub lineup: Lineup,
    /// Answers to it so far that broke the rules.
    pub asked: usize,
}

/// What a judge said.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The positions it picked, from 0, and why.
    Picks {
        /// In the order given.
        positions: Vec<usize>,
        /// Its reasons, one thought each.
        thoughts: Vec<String>,
    },
    /// Its verdict on every document, by slot.
    Verdicts {
        /// One for each slot.
        verdicts: Vec<SlotVerdict>,
        /// Its reasons, one thought each.
        thoughts: Vec<String>,
    },
    /// An answer that breaks the rules.
    Invalid(Invalid),
    /// No answer.
    Failure {
        /// The class of the failure.
        cause: Cause,
        /// What happened and what to do about it.
        message: String,
    },
}

/// One call that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The job's number.
    pub number: usize,
    /// From 1; the second one is the question asked again.
    pub attempt: usize,
    /// Whether the job is over too.
    pub last: bool,
    /// What was said.
    pub said: Said,
    /// The reply's text, where there was one.
    pub raw: Option<String>,
    /// The model that answered, as it names itself.
    pub model: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// Dollars, `None` where they are not known.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency: Duration,
    /// When it was over, in milliseconds since 1970.
    pub created_ms: i64,
}

/// What the caller is told.
#[derive(Debug)]
pub enum Event {
    /// A call is over. Its place is given to another one when the caller says that the answer is kept.
    Answer(Answer, oneshot::Sender<()>),
    /// A call is made again after a while.
    Retried(String),
    /// A judge makes no more calls.
    Stopped {
        /// Its seat.
        seat: usize,
        /// Why.
        why: String,
    },
    /// The budget does not allow another call.
    Broke,
}

/// What holds for all calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Calls in flight of each judge at most.
    pub concurrency: usize,
    /// Dollars that may be spent in all; `None` for no limit.
    pub budget_usd: Option<f64>,
    /// Dollars that are gone already.
    pub spent_usd: f64,
}

/// The hash of a judge and of every character it is sent: what makes two questions the same.
pub fn call_id(spec: &JudgeSpec, prompt: &Prompt) -> String {
    key_of(spec, prompt)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

struct Shared {
    ensemble: Ensemble,
    budget: Budget,
    stop: watch::Receiver<bool>,
    events: mpsc::Sender<Event>,
}

impl Shared {
    /// Whether everything is told to end, or nobody listens any more.
    fn is_over(&self) -> bool {
        *self.stop.borrow() || self.events.is_closed()
    }

    async fn tell(&self, event: Event) {
        drop(self.events.send(event).await);
    }
}

/// Puts the jobs to the judges, each judge in its own time. Ends when all are done, when `stop` turns true and calls in
/// flight have had a moment, or when nobody listens to `events`.
pub async fn run(
    ensemble: Ensemble,
    jobs: Vec<Job>,
    limits: Limits,
    stop: watch::Receiver<bool>,
    events: mpsc::Sender<Event>,
) {
    let mut lanes: Vec<Vec<Job>> = ensemble.iter().map(|_| Vec::new()).collect();
    for job in jobs {
        if let Some(lane) = lanes.get_mut(job.seat) {
            lane.push(job);
        }
    }
    let shared = Arc::new(Shared {
        ensemble,
        budget: Budget::new(limits.budget_usd, limits.spent_usd),
        stop,
        events,
    });
    let mut running = JoinSet::new();
    for (seat, jobs) in lanes.into_iter().enumerate() {
        running.spawn(lane(Arc::clone(&shared), seat, jobs, limits.concurrency));
    }
    while running.join_next().await.is_some() {}
}

async fn lane(shared: Arc<Shared>, seat: usize, jobs: Vec<Job>, concurrency: usize) {
    let Some(judge) = shared.ensemble.get(seat).map(Arc::clone) else {
        return;
    };
    let valve = Valve::new(judge.as_ref(), concurrency, Instant::now());
    let valve = Arc::new(Mutex::new(valve));
    let mut calls = JoinSet::new();
    for job in jobs {
        let Some(mut prompt) = judge.lineup(&job.lineup) else {
            continue;
        };
        if job.asked > 0 {
            prompt = judge.reask(&prompt, Cause::Malformed).unwrap_or(prompt);
        }
        let usage = judge.estimate(&prompt).0;
        let tokens = usage.input + usage.output;
        let worst = judge.worst(&prompt).1.unwrap_or(0.0);
        let Some(reserved) = admit(&shared, &valve, &mut calls, tokens, worst).await else {
            break;
        };
        let call = Call {
            shared: Arc::clone(&shared),
            judge: Arc::clone(&judge),
            valve: Arc::clone(&valve),
            job,
            prompt,
            tokens,
            reserved,
        };
        calls.spawn(call.run());
    }
    drain(&shared, calls).await;
}

/// Waits until one more call may begin; `None` where none may any more.
async fn admit(
    shared: &Shared,
    valve: &Mutex<Valve>,
    calls: &mut JoinSet<()>,
    tokens: u64,
    worst_usd: f64,
) -> Option<Reserved> {
    let mut stop = shared.stop.clone();
    loop {
        while calls.try_join_next().is_some() {}
        if shared.is_over() || lock(valve).stopped.is_some() {
            return None;
        }
        let now = Instant::now();
        let mut wake = None;
        let (room, ready) = {
            let valve = lock(valve);
            (
                calls.len() < valve.window.size(),
                valve.pace.ready(tokens, now),
            )
        };
        if room && ready > now + Duration::from_millis(1) {
            wake = Some(ready);
        } else if room {
            match shared.budget.reserve(worst_usd) {
                Some(reserved) => {
                    lock(valve).pace.begin(tokens, now);
                    return Some(reserved);
                }
                None if shared.budget.is_waiting() => wake = Some(now + LOOK_AGAIN),
                None => {
                    shared.tell(Event::Broke).await;
                    return None;
                }
            }
        }
        tokio::select! {
            _ = calls.join_next(), if !calls.is_empty() => {}
            changed = stop.changed() => if changed.is_err() {
                return None;
            },
            () = shared.events.closed() => return None,
            () = tokio::time::sleep_until(wake.unwrap_or(now).into()), if wake.is_some() => {}
        }
    }
}

/// Waits for the calls in flight; once everything is told to end, only for a moment.
async fn drain(shared: &Shared, mut calls: JoinSet<()>) {
    let mut stop = shared.stop.clone();
    let mut deadline = None;
    while !calls.is_empty() {
        if shared.is_over() && deadline.is_none() {
            deadline = Some(Instant::now() + GRACE);
        }
        tokio::select! {
            _ = calls.join_next() => {}
            changed = stop.changed(), if deadline.is_none() => if changed.is_err() {
                deadline = Some(Instant::now() + GRACE);
            },
            () = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now).into()), if deadline.is_some() => {
                calls.abort_all();
                while calls.join_next().await.is_some() {}
            }
        }
    }
}
