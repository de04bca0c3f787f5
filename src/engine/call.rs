//! One call: asked, asked again where that may help, recorded.

use super::budget::Reserved;
use super::lane::{Ended, Event, Shared, Valve, lock};
use super::limits::back_off;
use super::{EngineError, now_ms};
use crate::domain::sampling::Dice;
use crate::judge::{
    CallError, Case, Cause, Judge, Opinion, Prompt, Reply, Retry, Usage, adapting, opinion_of,
    panic_words,
};
use crate::store::calls::{CallRecord, CallResult, Outstanding};
use crate::store::corpus::QueryKey;
use futures::FutureExt;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Times one call is made before it counts as failed.
pub(super) const ATTEMPTS: u32 = 8;

/// Everything a call needs.
pub(super) struct Ticket {
    pub(super) shared: Arc<Shared>,
    pub(super) valve: Arc<Mutex<Valve>>,
    pub(super) seat: usize,
    pub(super) query: QueryKey,
    pub(super) call: Outstanding,
    pub(super) case: Case,
    pub(super) prompt: Prompt,
    pub(super) call_key: Option<[u8; 32]>,
    pub(super) tokens: u64,
    pub(super) reserved: Reserved,
}

/// What came of asking once.
enum Answer {
    Voted(Box<Reply>, Opinion),
    Failed(CallError),
}

/// Makes the call and tells the run when it is over. Nothing is told of a call that a cancel cut short.
pub(super) async fn make(ticket: Ticket) {
    let events = ticket.shared.events.clone();
    match ticket.run().await {
        Ok(Some(ended)) => drop(events.send(Event::Ended(ended)).await),
        Ok(None) => {}
        Err(error) => drop(events.send(Event::Failed(error)).await),
    }
}

impl Ticket {
    async fn run(mut self) -> Result<Option<Ended>, EngineError> {
        if let Some(ended) = self.reuse().await? {
            return Ok(Some(ended));
        }
        let judge = Arc::clone(&self.shared.ensemble[self.seat]);
        let mut asked_again = false;
        let mut tries = 0;
        loop {
            tries += 1;
            let began = Instant::now();
            match self.ask(judge.as_ref(), began).await {
                Answer::Voted(reply, opinion) => {
                    return self.vote(judge.as_ref(), *reply, opinion).await.map(Some);
                }
                Answer::Failed(error) => {
                    if error.stops_judge {
                        lock(&self.valve)
                            .stopped
                            .get_or_insert_with(|| error.message.clone());
                        let why = error.message.clone();
                        let event = Event::Stopped {
                            seat: self.seat,
                            why,
                        };
                        drop(self.shared.events.send(event).await);
                    }
                    // Asking anew is bought anew, once, and only where there is money for it.
                    let again = judge
                        .ask_again(&self.prompt, &error)
                        .filter(|_| !asked_again && !error.stops_judge);
                    if let Some(prompt) = again
                        && let Some(reserved) = self
                            .shared
                            .budget
                            .reserve(judge.worst(&prompt).1.unwrap_or(0.0))
                    {
                        asked_again = true;
                        self.paid(&error).await?;
                        self.reserved = reserved;
                        self.prompt = prompt;
                        continue;
                    }
                    let Retry::After(wait) = error.retry else {
                        return self.fail(error).await.map(Some);
                    };
                    if tries >= ATTEMPTS {
                        return self.fail(error).await.map(Some);
                    }
                    let wait = wait.unwrap_or_else(|| back_off(tries, self.jitter(tries)));
                    let line = format!("{error}; asking again in {:.1} s", wait.as_secs_f64());
                    drop(
                        self.shared
                            .events
                            .send(Event::Retried {
                                seat: self.seat,
                                line,
                            })
                            .await,
                    );
                    if !self.wait(wait).await {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// The same call may have been made before, for another battle or by a project that was merged in.
    async fn reuse(&self) -> Result<Option<Ended>, EngineError> {
        let Some(key) = self.call_key else {
            return Ok(None);
        };
        let (battle, judge, swapped) = (
            self.call.battle,
            self.shared.judges[self.seat],
            self.call.swapped,
        );
        let (run, attempt) = (self.shared.run, self.call.attempt);
        let known = self
            .shared
            .store
            .read(move |db| db.vote_by_call(&key))
            .await?;
        let Some(known) = known else {
            return Ok(None);
        };
        self.shared
            .store
            .write(move |db| db.reuse_vote(known, battle, judge, swapped, attempt, run, now_ms()))
            .await?;
        Ok(Some(Ended {
            query: self.query,
            seat: self.seat,
            usage: Usage::default(),
            cost_usd: Some(0.0),
            latency_ms: 0.0,
            reused: true,
            failure: None,
        }))
    }

    /// Asks once; a judge that panics has failed.
    async fn ask(&self, judge: &dyn Judge, began: Instant) -> Answer {
        let answer = AssertUnwindSafe(adapting(|| judge.call(&self.case, &self.prompt)))
            .catch_unwind()
            .await;
        let now = Instant::now();
        match answer {
            Ok(Ok(reply)) => {
                lock(&self.valve).answered(&reply, self.tokens, now);
                match opinion_of(judge, reply) {
                    Ok((reply, opinion)) => Answer::Voted(Box::new(reply), opinion),
                    Err(error) => Answer::Failed(error),
                }
            }
            Ok(Err(mut error)) => {
                lock(&self.valve).failed(&mut error, self.tokens, began, now);
                Answer::Failed(error)
            }
            Err(panic) => Answer::Failed(crashed(panic.as_ref())),
        }
    }

    /// A uniform number for the back-off, different for every call and attempt.
    fn jitter(&self, tries: u32) -> f64 {
        let call = format!("{}/{}/{tries}", self.call.battle.0, self.seat);
        Dice::new(now_ms().cast_unsigned(), &["back-off", &call]).unit()
    }

    /// Waits, unless the run or the judge is told to end; false then.
    async fn wait(&self, wait: Duration) -> bool {
        let mut control = self.shared.control.clone();
        let until = Instant::now() + wait;
        loop {
            if self.shared.is_over(self.seat) || lock(&self.valve).stopped.is_some() {
                return false;
            }
            let paused = control.borrow_and_update().paused;
            if !paused && Instant::now() >= until {
                return true;
            }
            tokio::select! {
                changed = control.changed() => if changed.is_err() {
                    return false;
                },
                () = tokio::time::sleep_until(until.into()), if !paused => {}
            }
        }
    }

    /// Keeps a paid answer that was no vote, and goes on.
    async fn paid(&self, error: &CallError) -> Result<(), EngineError> {
        let exchange = &error.exchange;
        self.shared.budget.spend(exchange.cost_usd.unwrap_or(0.0));
        let (usage, cost_usd) = (exchange.usage, exchange.cost_usd);
        let record = self.record(
            usage,
            cost_usd,
            exchange.latency,
            error.raw.clone(),
            failure(error),
        );
        self.shared
            .store
            .write(move |db| db.record(&record))
            .await?;
        let event = Event::Paid {
            seat: self.seat,
            usage,
            cost_usd,
        };
        drop(self.shared.events.send(event).await);
        Ok(())
    }

    async fn vote(
        self,
        judge: &dyn Judge,
        reply: Reply,
        opinion: Opinion,
    ) -> Result<Ended, EngineError> {
        let margin = if self.call.swapped {
            opinion.margin.flipped()
        } else {
            opinion.margin
        };
        // An offline judge's reply can be made again at any time; keeping it would triple the file.
        let raw = (!judge.spec().is_offline()).then_some(reply.text);
        let (usage, cost_usd, latency) = (reply.usage, reply.cost_usd, reply.latency);
        let mut record = self.record(
            usage,
            cost_usd,
            latency,
            raw,
            CallResult::Vote {
                margin,
                reasoning: opinion.thoughts.join("\n"),
                model: reply.model,
                stop_reason: reply.stop_reason,
                request_id: reply.request_id,
            },
        );
        record.truncated = judge.truncated(&self.case);
        self.shared.budget.spend(cost_usd.unwrap_or(0.0));
        self.shared
            .store
            .write(move |db| db.record(&record))
            .await?;
        Ok(self.ended(usage, cost_usd, latency, None))
    }

    async fn fail(self, error: CallError) -> Result<Ended, EngineError> {
        let exchange = &error.exchange;
        let (usage, cost_usd, latency) = (exchange.usage, exchange.cost_usd, exchange.latency);
        self.shared.budget.spend(cost_usd.unwrap_or(0.0));
        let record = self.record(usage, cost_usd, latency, error.raw.clone(), failure(&error));
        self.shared
            .store
            .write(move |db| db.record(&record))
            .await?;
        // A failed call that says nothing of money cost none, as far as anyone knows.
        Ok(self.ended(
            usage,
            cost_usd.or(Some(0.0)),
            latency,
            Some(error.to_string()),
        ))
    }

    fn record(
        &self,
        usage: Usage,
        cost_usd: Option<f64>,
        latency: Duration,
        raw: Option<String>,
        result: CallResult,
    ) -> CallRecord {
        CallRecord {
            battle: self.call.battle,
            judge: self.shared.judges[self.seat],
            swapped: self.call.swapped,
            attempt: self.call.attempt,
            usage,
            cost_usd,
            latency_ms: Some(latency.as_secs_f64() * 1e3),
            truncated: false,
            call_key: self.call_key,
            run: Some(self.shared.run),
            created_ms: now_ms(),
            raw,
            result,
        }
    }

    fn ended(
        &self,
        usage: Usage,
        cost_usd: Option<f64>,
        latency: Duration,
        failure: Option<String>,
    ) -> Ended {
        Ended {
            query: self.query,
            seat: self.seat,
            usage,
            cost_usd,
            latency_ms: latency.as_secs_f64() * 1e3,
            reused: false,
            failure,
        }
    }
}

/// The failure of a judge that panicked.
pub(super) fn crashed(panic: &(dyn Any + Send)) -> CallError {
    CallError::new(Cause::Crashed, panic_words(panic))
}

fn failure(error: &CallError) -> CallResult {
    CallResult::Failure {
        cause: error.cause,
        message: error.message.clone(),
    }
}
