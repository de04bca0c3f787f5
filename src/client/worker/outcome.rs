//! Handles returned calls: stores, charges, retries and shares them.

use super::{CallTask, QuestionEnd, RecordedCall, ReturnedCall, SentCall, Worker, WorkerEvent};
use crate::client::gate::is_refusal;
use crate::client::health::{Consequence, is_broken};
use crate::client::lock;
use crate::client::pace::{back_off, named};
use crate::client::question::{AttemptEnd, RecordJob, RecordOutcome, ServiceQuestion};
use crate::domain::sampling::SeededRng;
use crate::judge::{CallError, FailureCause, MAX_ADAPTIONS, MAX_CHARGED, Retry};
use crate::store::ledger::{AttemptFailure, Charge};
use futures::FutureExt as _;
use tokio::task::{Id, JoinError};
use tokio::time::Instant;

/// Number of times a question is sent before it counts as failed, without refusals of a provider
/// that answers other calls.
pub(super) const ATTEMPTS: u32 = 8;

impl<Q: ServiceQuestion> Worker<Q> {
    /// Handles a call that has returned.
    pub(super) async fn on_returned(
        &mut self,
        landed: Result<(Id, ReturnedCall<Q>), JoinError>,
        now: Instant,
    ) {
        let (id, landed) = match landed {
            Ok((id, landed)) => (id, Some(landed)),
            Err(error) => (error.id(), None),
        };
        // The reservation is dropped with `sent` at the end, after `record_end` has counted the
        // cost. In the opposite order, another worker could reserve the same dollars in between.
        let Some(sent) = self.sent.remove(&id) else {
            return;
        };
        match landed {
            Some(ReturnedCall { call, result }) => match result {
                Ok(answer) => self.record_answer(call, answer, sent, now),
                Err(error) => self.record_failure(call, error, sent, now).await,
            },
            // Aborted: it may have been answered, and stays outstanding.
            None => {
                let charge = unknown(sent.worst_usd);
                self.record_end(
                    sent.uid,
                    charge,
                    Some(AttemptFailure::Abandoned),
                    None,
                    None,
                    String::new(),
                );
            }
        }
    }

    /// Handles an answer: it is stored in the project before anything else is done with it.
    pub(super) fn record_answer(
        &mut self,
        call: CallTask<Q>,
        answer: Q::Answer,
        sent: SentCall,
        now: Instant,
    ) {
        let exchange = Q::exchange(&answer).clone();
        let charge = exchange
            .cost_usd
            .map_or_else(|| unknown(sent.worst_usd), Charge::Known);
        let job = call.question.keep(AttemptEnd::Answered(&answer));
        // Mark the call as answered before queuing its write, with no `await` in between, so that
        // an identical call arriving later queues behind it.
        if let Some(key) = call.question.key() {
            self.answered.add(key);
        }
        let needs = call.question.needs();
        self.usage.note(exchange.cost_usd, needs.worst_usd);
        let tokens = needs.tokens;
        let ended = Some((call.question, QuestionEnd::Answered(answer)));
        self.record_end(sent.uid, charge, None, job, ended, String::new());
        let mut gate = lock(&self.gate);
        gate.answered(&exchange, tokens, self.sent.len(), sent.begun, now);
        gate.health.useful();
    }

    /// Handles a failure: the question is retried if that may help.
    pub(super) async fn record_failure(
        &mut self,
        mut call: CallTask<Q>,
        mut error: CallError,
        sent: SentCall,
        now: Instant,
    ) {
        let charge = charge_of(&error, sent.worst_usd);
        let needs = call.question.needs();
        if error.exchange.cost_usd.is_some() {
            self.usage.note(error.exchange.cost_usd, needs.worst_usd);
        }
        if charge != Charge::Known(0.0) {
            call.charged += 1;
        }
        let may_be_charged = call.charged < MAX_CHARGED;
        // Otherwise a refused call would be recorded as one without a known price.
        if let Charge::Known(usd) = charge {
            error.exchange.cost_usd = Some(usd);
        }
        let tokens = needs.tokens;
        let case = call.question.case();
        let failure = AttemptFailure::Failed(error.cause);
        let refusal = is_refusal(&error);
        // Read before the gate learns of this failure: whether the call is at fault depends on the
        // state of the service while the call was in flight.
        let probing = lock(&self.gate).health.probes_from().is_some();
        let answers = lock(&self.gate).health.answers;
        let (begun, in_flight) = (sent.begun, self.sent.len());
        let adapted =
            error.retry == Retry::Adapted && call.adaptions < MAX_ADAPTIONS && may_be_charged;
        let again = call
            .question
            .rephrased(&error)
            .filter(|_| !error.stops_judge && !adapted && may_be_charged);
        if let Some(question) = again {
            let job = call.question.keep(AttemptEnd::Failed {
                error: &error,
                again: true,
            });
            let line = format!("{error}; asked once more");
            self.record_end(sent.uid, charge, Some(failure), job, None, line);
            // Keep `leads`: identical calls are waiting for the final answer to this question.
            let (leads, charged) = (call.leads, call.charged);
            self.ask_again_at(
                CallTask {
                    leads,
                    charged,
                    ..CallTask::new(question)
                },
                now,
            );
        } else if adapted {
            self.record_end(sent.uid, charge, Some(failure), None, None, String::new());
            call.adaptions += 1;
            self.ask_again_at(call, now);
        } else {
            let wait = match error.retry {
                _ if refusal => Some(error.exchange.limits.retry_after),
                // It stays outstanding as long as it is unknown whether the server comes back.
                _ if error.no_answer && probing => Some(None),
                Retry::After(wait) => Some(wait),
                Retry::Never | Retry::Adapted => None,
            };
            // A refusal is not the call's fault while other calls are answered, and neither is a
            // server that answers none.
            if !(refusal && answers > call.answers || probing && !refusal) {
                call.attempts += 1;
            }
            call.answers = answers;
            let again = call.attempts < ATTEMPTS && may_be_charged && !error.stops_judge;
            match wait.filter(|_| again) {
                Some(wait) => {
                    let draw = self.jitter(&call);
                    let attempt = call.attempts.max(1);
                    let wait =
                        wait.map_or_else(|| back_off(attempt, draw), |wait| named(wait, draw));
                    let line = format!("{error}; asking again in {:.1} s", wait.as_secs_f64());
                    self.record_end(sent.uid, charge, Some(failure), None, None, line);
                    self.ask_again_at(call, now + wait);
                }
                // The first such failure is reported; other calls in flight at the time stay
                // outstanding.
                None if error.stops_judge && lock(&self.gate).stopped.is_some() => {
                    self.record_end(sent.uid, charge, Some(failure), None, None, String::new());
                }
                None => {
                    let job = call.question.keep(AttemptEnd::Failed {
                        error: &error,
                        again: false,
                    });
                    let ended = Some((call.question, QuestionEnd::Failed(error.clone())));
                    self.record_end(sent.uid, charge, Some(failure), job, ended, String::new());
                }
            }
        }
        let consequence = {
            let mut gate = lock(&self.gate);
            if error.cause == FailureCause::Malformed && !Q::JUNK_STOPS {
                gate.health.useful();
            }
            gate.failed(&error, case, tokens, in_flight, begun, now)
        };
        match consequence {
            Consequence::Nothing => {}
            Consequence::SkipCase(case, why) => {
                self.tell(WorkerEvent::CaseSkipped { case, why }).await;
            }
            Consequence::Stop(why) => {
                // Do not wait for a server that answers no calls; others may still answer the calls
                // in flight.
                self.abandon = is_broken(&error) && !error.stops_judge;
                self.tell(WorkerEvent::Stopped(why)).await;
            }
        }
    }

    pub(super) fn ask_again_at(&mut self, mut call: CallTask<Q>, at: Instant) {
        call.waited = true;
        self.laters += 1;
        self.later.insert((at, self.laters), call);
    }

    /// A uniform random number for a wait, different for each call and attempt.
    pub(super) fn jitter(&self, call: &CallTask<Q>) -> f64 {
        let name = format!(
            "{}/{}/{}",
            call.question.name(),
            self.judge_index,
            self.laters
        );
        SeededRng::new(self.salt, &["back-off", &name]).unit()
    }

    /// Writes the end of an attempt to the project.
    pub(super) fn record_end(
        &mut self,
        uid: Option<[u8; 16]>,
        charge: Charge,
        failure: Option<AttemptFailure>,
        job: Option<RecordJob>,
        question: Option<(Q, QuestionEnd<Q::Answer>)>,
        line: String,
    ) {
        // Count the cost now and not when the disk confirms it, or more calls would be admitted on
        // the same money.
        self.shared.budget.spend(charge.usd());
        let kept = self.shared.ledger.end(uid, charge, failure, job);
        let writing = async move {
            RecordedCall {
                kept: kept.await,
                question,
                charge,
                line,
            }
        };
        self.writing.push(writing.boxed());
    }

    /// Copies the answer of an identical question to this one.
    pub(super) fn share_answer(&mut self, question: Q) {
        let Some(job) = question.share() else {
            return;
        };
        let ended = Some((question, QuestionEnd::Shared));
        let nothing = Charge::Known(0.0);
        self.record_end(None, nothing, None, Some(job), ended, String::new());
    }

    /// Handles a completed write.
    pub(super) async fn written(&mut self, written: RecordedCall<Q>) {
        let RecordedCall {
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
            return self.tell(WorkerEvent::Again { charge, line }).await;
        };
        let key = question.key();
        let end = match (end, kept) {
            (QuestionEnd::Shared, RecordOutcome::Nothing) => {
                // The answer to be shared does not exist after all, so ask this question itself.
                if let Some(key) = &key {
                    self.answered.forget(key);
                }
                self.first.push_back(CallTask::new(question));
                return;
            }
            (QuestionEnd::Answered(answer), RecordOutcome::Duplicate) => {
                QuestionEnd::Duplicate(answer)
            }
            (end, _) => end,
        };
        let shared = matches!(end, QuestionEnd::Shared);
        let answered = matches!(end, QuestionEnd::Answered(_) | QuestionEnd::Duplicate(_));
        // Report it only now: if a counted vote were lost with the process, the run would have
        // claimed to be complete.
        self.tell(WorkerEvent::Ended {
            question,
            end,
            charge,
        })
        .await;
        // After a failure, each identical question is asked itself, and the first of them leads the
        // others.
        let same = key
            .filter(|_| !shared)
            .and_then(|key| self.same.remove(&key));
        for question in same.into_iter().flatten() {
            if answered {
                self.share_answer(question);
            } else {
                self.first.push_back(CallTask::new(question));
            }
        }
    }
}

/// The cost of a failed attempt: nothing if the server refused it or never saw it, or else at most
/// its worst-case price.
fn charge_of(error: &CallError, worst_usd: Option<f64>) -> Charge {
    let exchange = &error.exchange;
    if let Some(usd) = exchange.cost_usd {
        return Charge::Known(usd);
    }
    let refused = match exchange.status {
        Some(status) => !(200..300).contains(&status),
        None => matches!(
            error.cause,
            FailureCause::RateLimited
                | FailureCause::QuotaExhausted
                | FailureCause::Unauthorised
                | FailureCause::BadRequest
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
