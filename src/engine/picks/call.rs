//! One question: put, put again where that may help, told.

use super::super::budget::Reserved;
use super::super::call::{ATTEMPTS, crashed};
use super::super::lane::{Valve, lock};
use super::super::limits::back_off;
use super::super::now_ms;
use super::{Answer, Event, Job, Said, Shared};
use crate::domain::court::Ask;
use crate::domain::sampling::Dice;
use crate::judge::{
    CallError, Cause, Judge, Lineup, Prompt, Reply, Retry, Usage, adapting, caught, parse,
};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// One job at work.
pub(super) struct Call {
    pub(super) shared: Arc<Shared>,
    pub(super) judge: Arc<dyn Judge>,
    pub(super) valve: Arc<Mutex<Valve>>,
    pub(super) job: Job,
    pub(super) prompt: Prompt,
    pub(super) tokens: u64,
    pub(super) reserved: Reserved,
}

impl Call {
    /// Asks, and asks again where that may help; what comes is told as it comes.
    pub(super) async fn run(mut self) {
        let mut asked_again = self.job.asked > 0;
        let mut tries = 0;
        loop {
            tries += 1;
            let (mut answer, retry) = self.ask().await;
            let cause = match &answer.said {
                Said::Picks { .. } | Said::Verdicts { .. } => None,
                Said::Invalid(_) => Some(Cause::Malformed),
                Said::Failure { cause, .. } => Some(*cause),
            };
            let stopped = lock(&self.valve).stopped.is_some();
            // Asking anew is bought anew, once, and only where there is money for it.
            let again = cause
                .filter(|_| !asked_again && !stopped)
                .and_then(|cause| self.judge.reask(&self.prompt, cause))
                .and_then(|prompt| {
                    let worst = self.judge.worst(&prompt).1.unwrap_or(0.0);
                    Some((prompt, self.shared.budget.reserve(worst)?))
                });
            if let Some((prompt, reserved)) = again {
                asked_again = true;
                answer.last = false;
                self.tell(answer).await;
                self.job.asked += 1;
                self.prompt = prompt;
                self.reserved = reserved;
                continue;
            }
            let wait = match retry {
                Retry::After(wait) if tries < ATTEMPTS && !stopped => wait,
                _ => return self.tell(answer).await,
            };
            if answer.cost_usd.is_some_and(|usd| usd > 0.0) {
                let last = false;
                self.tell(Answer {
                    last,
                    ..answer.clone()
                })
                .await;
            }
            let wait = wait.unwrap_or_else(|| back_off(tries, self.jitter(tries)));
            if let Said::Failure { cause, message } = &answer.said {
                let seconds = wait.as_secs_f64();
                let line = format!("{cause}: {message}; asking again in {seconds:.1} s");
                self.shared.tell(Event::Retried(line)).await;
            }
            if !self.wait(wait).await {
                return;
            }
        }
    }

    async fn tell(&self, answer: Answer) {
        self.shared.budget.spend(answer.cost_usd.unwrap_or(0.0));
        let (kept, is_kept) = oneshot::channel();
        self.shared.tell(Event::Answer(answer, kept)).await;
        // A caller that has gone away keeps nothing, and no call follows.
        drop(is_kept.await);
    }

    /// Asks once; a judge that panics has failed.
    async fn ask(&self) -> (Answer, Retry) {
        let began = Instant::now();
        let said = AssertUnwindSafe(adapting(|| self.judge.pick(&self.job.lineup, &self.prompt)))
            .catch_unwind()
            .await;
        let now = Instant::now();
        let mut error = match said {
            Ok(Ok(reply)) => {
                lock(&self.valve).answered(&reply, self.tokens, now);
                return (self.read(reply), Retry::Never);
            }
            Ok(Err(error)) => error,
            Err(panic) => crashed(panic.as_ref()),
        };
        lock(&self.valve).failed(&mut error, self.tokens, began, now);
        if error.stops_judge {
            lock(&self.valve)
                .stopped
                .get_or_insert_with(|| error.message.clone());
            let (seat, why) = (self.job.seat, error.message.clone());
            self.shared.tell(Event::Stopped { seat, why }).await;
        }
        let retry = error.retry;
        (self.missed(error), retry)
    }

    fn read(&self, reply: Reply) -> Answer {
        let Lineup { pool, ask } = &self.job.lineup;
        let said = caught(|| match ask {
            Ask::PerDocument => parse::verdicts(&reply.text, &pool.documents)
                .map(|(verdicts, thoughts)| Said::Verdicts { verdicts, thoughts }),
            _ => parse::slots(&reply.text, pool.documents.len(), *ask).map(
                |(positions, thoughts)| Said::Picks {
                    positions,
                    thoughts,
                },
            ),
        });
        let said = match said {
            Ok(said) => said.unwrap_or_else(Said::Invalid),
            Err(panic) => Said::Failure {
                cause: Cause::Crashed,
                message: format!("reading the answer panicked: {panic}"),
            },
        };
        Answer {
            raw: Some(reply.text),
            model: reply.model,
            usage: reply.usage,
            cost_usd: reply.cost_usd,
            latency: reply.latency,
            ..self.answer(said)
        }
    }

    fn missed(&self, error: CallError) -> Answer {
        let exchange = *error.exchange;
        Answer {
            raw: error.raw,
            model: exchange.model,
            usage: exchange.usage,
            cost_usd: exchange.cost_usd,
            latency: exchange.latency,
            ..self.answer(Said::Failure {
                cause: error.cause,
                message: error.message,
            })
        }
    }

    fn answer(&self, said: Said) -> Answer {
        Answer {
            number: self.job.number,
            attempt: self.job.asked + 1,
            last: true,
            said,
            raw: None,
            model: None,
            usage: Usage::default(),
            cost_usd: None,
            latency: Duration::ZERO,
            created_ms: now_ms(),
        }
    }

    /// A uniform number for the back-off, different for every call and attempt.
    fn jitter(&self, tries: u32) -> f64 {
        let call = format!("{}/{tries}", self.job.number);
        Dice::new(now_ms().cast_unsigned(), &["back-off", &call]).unit()
    }

    /// Waits, unless everything or the judge is told to end; false then.
    async fn wait(&self, wait: Duration) -> bool {
        let mut stop = self.shared.stop.clone();
        let until = Instant::now() + wait;
        loop {
            if self.shared.is_over() || lock(&self.valve).stopped.is_some() {
                return false;
            }
            if Instant::now() >= until {
                return true;
            }
            tokio::select! {
                changed = stop.changed() => if changed.is_err() {
                    return false;
                },
                () = tokio::time::sleep_until(until.into()) => {}
            }
        }
    }
}
