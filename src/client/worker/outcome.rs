//! Handles returned calls: stores, charges, retries and shares them.

use super::{CallTask, QuestionEnd, RecordedCall, ReturnedCall, SentCall, Worker, WorkerEvent};
use crate::client::gate::is_refusal;
use crate::client::health::{Consequence, is_broken};
use crate::client::lock;
use crate::client::pace::{back_off, named};
use crate::client::question::{AttemptEnd, CaseId, RecordJob, RecordOutcome, ServiceQuestion};
use crate::domain::sampling::SeededRng;
use crate::judge::{CallError, FailureCause, MAX_ADAPTIONS, Retry};
use crate::store::ledger::{AttemptFailure, Charge};
use futures::FutureExt as _;
use std::time::Duration;
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
                self.record_end(AttemptRecord {
                    failure: Some(AttemptFailure::Abandoned),
                    ..AttemptRecord::new(sent.uid, charge)
                });
            }
        }
        self.tell_skipped().await;
    }

    /// Reports skipped cases without calls in flight: until then, somebody else who took over such
    /// a case would pay for these calls again.
    async fn tell_skipped(&mut self) {
        let is_flying = |(case, _): &(CaseId, String)| {
            let mut sent = self.sent.values();
            sent.any(|sent| sent.case == Some(*case))
        };
        let skipped = std::mem::take(&mut self.skipped);
        let (flying, ended) = skipped.into_iter().partition(is_flying);
        self.skipped = flying;
        for (case, why) in ended {
            self.tell(WorkerEvent::CaseSkipped { case, why }).await;
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
        let charge = charge_of_answer(exchange.cost_usd, sent.worst_usd);
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
        self.record_end(AttemptRecord {
            job,
            ended,
            ..AttemptRecord::new(sent.uid, charge)
        });
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
        let charge = charge_of_failure(&error, sent.worst_usd);
        let needs = call.question.needs();
        if error.exchange.cost_usd.is_some() {
            self.usage.note(error.exchange.cost_usd, needs.worst_usd);
        }
        if charge != Charge::Known(0.0) {
            call.charged += 1;
        }
        // Otherwise a refused call would be recorded as one without a known price.
        if let Charge::Known(usd) = charge {
            error.exchange.cost_usd = Some(usd);
        }
        let tokens = needs.tokens;
        let case = call.question.case();
        // Read before the gate learns of this failure: whether the call is at fault depends on the
        // state of the service while the call was in flight.
        let service = {
            let gate = lock(&self.gate);
            ServiceState {
                answers: gate.health.answers,
                probing: gate.health.probes_from().is_some(),
                stopped: gate.stopped.is_some(),
            }
        };
        let in_flight = self.sent.len();
        let attempts = CallAttempts {
            attempts: call.attempts,
            charged: call.charged,
            most_charged: call.question.most_charged(),
            adaptions: call.adaptions,
            answers: call.answers,
        };
        let next = decide(&error, attempts, service, call.question.rephrased(&error));
        if matches!(next, Next::Retry { .. }) {
            call.answers = service.answers;
        }
        self.act(
            next,
            call,
            &error,
            AttemptRecord::new(sent.uid, charge),
            now,
        );
        let consequence = {
            let mut gate = lock(&self.gate);
            if error.cause == FailureCause::Malformed && !Q::JUNK_STOPS {
                gate.health.useful();
            }
            gate.failed(&error, case, tokens, in_flight, sent.begun, now)
        };
        match consequence {
            Consequence::Nothing => {}
            Consequence::SkipCase(case, why) => self.skipped.push((case, why)),
            Consequence::Stop(why) => {
                // Do not wait for a server that answers no calls; others may still answer the calls
                // in flight.
                self.abandon = is_broken(&error) && !error.stops_judge;
                self.tell(WorkerEvent::Stopped(why)).await;
            }
        }
    }

    /// Records a failed attempt, and asks the question again if it is worth it.
    fn act(
        &mut self,
        next: Next<Q>,
        mut call: CallTask<Q>,
        error: &CallError,
        record: AttemptRecord<Q>,
        now: Instant,
    ) {
        let record = AttemptRecord {
            failure: Some(AttemptFailure::Failed(error.cause)),
            ..record
        };
        match next {
            Next::Rephrase(question) => {
                self.record_end(AttemptRecord {
                    job: call
                        .question
                        .keep(AttemptEnd::Failed { error, again: true }),
                    line: format!("{error}; asked once more"),
                    ..record
                });
                let rephrased = CallTask {
                    // Identical calls are waiting for the final answer to this question.
                    leads: call.leads,
                    charged: call.charged,
                    ..CallTask::new(question)
                };
                self.ask_again_at(rephrased, now);
            }
            Next::Adapt => {
                self.record_end(record);
                call.adaptions += 1;
                self.ask_again_at(call, now);
            }
            Next::Retry { attempts, wait } => {
                call.attempts = attempts;
                let draw = self.jitter(&call);
                let wait = match wait {
                    Some(wait) => named(wait, draw),
                    None => back_off(attempts.max(1), draw),
                };
                self.record_end(AttemptRecord {
                    line: format!("{error}; asking again in {:.1} s", wait.as_secs_f64()),
                    ..record
                });
                self.ask_again_at(call, now + wait);
            }
            Next::Leave => self.record_end(record),
            Next::Fail => {
                let again = false;
                let job = call.question.keep(AttemptEnd::Failed { error, again });
                self.record_end(AttemptRecord {
                    job,
                    ended: Some((call.question, QuestionEnd::Failed(error.clone()))),
                    ..record
                });
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
    fn record_end(&mut self, record: AttemptRecord<Q>) {
        let AttemptRecord {
            uid,
            charge,
            failure,
            job,
            ended,
            line,
        } = record;
        // Count the cost now and not when the disk confirms it, or more calls would be admitted on
        // the same money.
        self.shared.budget.spend(charge.usd());
        let kept = self.shared.ledger.end(uid, charge, failure, job);
        let writing = async move {
            RecordedCall {
                kept: kept.await,
                question: ended,
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
        self.record_end(AttemptRecord {
            job: Some(job),
            ended: Some((question, QuestionEnd::Shared)),
            ..AttemptRecord::new(None, Charge::Known(0.0))
        });
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

/// The end of an attempt, as it is written to the project.
struct AttemptRecord<Q: ServiceQuestion> {
    /// The attempt's row in the ledger; `None` if it was not sent.
    uid: Option<[u8; 16]>,
    charge: Charge,
    failure: Option<AttemptFailure>,
    job: Option<RecordJob>,
    /// The question, if it ends with this attempt.
    ended: Option<(Q, QuestionEnd<Q::Answer>)>,
    /// A message for the user, if there is anything to say.
    line: String,
}

impl<Q: ServiceQuestion> AttemptRecord<Q> {
    /// An attempt of which only the cost is recorded.
    fn new(uid: Option<[u8; 16]>, charge: Charge) -> Self {
        Self {
            uid,
            charge,
            failure: None,
            job: None,
            ended: None,
            line: String::new(),
        }
    }
}

/// The attempts of a call so far, including the one that failed.
#[derive(Clone, Copy, Debug, Default)]
struct CallAttempts {
    /// Those that count toward [`ATTEMPTS`], without the one that failed.
    attempts: u32,
    charged: u32,
    /// Number of charged attempts after which the call has failed.
    most_charged: u32,
    adaptions: usize,
    /// Number of answers of the service when the call was last refused.
    answers: u64,
}

/// The state of a service before it learns of a failure.
#[derive(Clone, Copy, Debug, Default)]
struct ServiceState {
    /// Number of answers so far.
    answers: u64,
    /// Whether single calls test if it answers again.
    probing: bool,
    stopped: bool,
}

/// What happens to a question after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next<Q> {
    /// Ask a rephrased question.
    Rephrase(Q),
    /// Ask again now, with a request that the service accepts.
    Adapt,
    /// Ask again after a wait; `None` if the service does not name one.
    Retry {
        /// The attempts that count so far.
        attempts: u32,
        wait: Option<Duration>,
    },
    /// The question stays outstanding.
    Leave,
    /// The question has failed.
    Fail,
}

/// Decides about a question after a failed attempt.
fn decide<Q>(
    error: &CallError,
    call: CallAttempts,
    service: ServiceState,
    rephrased: Option<Q>,
) -> Next<Q> {
    let may_be_charged = call.charged < call.most_charged;
    if error.retry == Retry::Adapted && call.adaptions < MAX_ADAPTIONS && may_be_charged {
        return Next::Adapt;
    }
    if let Some(question) = rephrased.filter(|_| !error.stops_judge && may_be_charged) {
        return Next::Rephrase(question);
    }
    let refusal = is_refusal(error);
    // A refusal is not the call's fault while other calls are answered, and neither is a server
    // that answers none.
    let is_excused = if refusal {
        service.answers > call.answers
    } else {
        service.probing
    };
    let attempts = call.attempts + u32::from(!is_excused);
    let wait = match error.retry {
        _ if refusal => Some(error.exchange.limits.retry_after),
        // It stays outstanding as long as it is unknown whether the server comes back.
        _ if error.no_answer && service.probing => Some(None),
        Retry::After(wait) => Some(wait),
        Retry::Never | Retry::Adapted => None,
    };
    match wait {
        Some(wait) if attempts < ATTEMPTS && may_be_charged && !error.stops_judge => {
            Next::Retry { attempts, wait }
        }
        // The first such failure is reported; other calls in flight at the time stay outstanding.
        _ if error.stops_judge && service.stopped => Next::Leave,
        _ => Next::Fail,
    }
}

/// The cost of an answer: at most its worst-case price if the provider does not say.
pub(crate) fn charge_of_answer(cost_usd: Option<f64>, worst_usd: Option<f64>) -> Charge {
    cost_usd.map_or_else(|| unknown(worst_usd), Charge::Known)
}

/// The cost of a failed attempt: nothing if the server refused it or never saw it, or else at most
/// its worst-case price.
pub(crate) fn charge_of_failure(error: &CallError, worst_usd: Option<f64>) -> Charge {
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
                | FailureCause::Unauthorized
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::MAX_CHARGED;

    const FIRST: CallAttempts = CallAttempts {
        attempts: 0,
        charged: 0,
        most_charged: MAX_CHARGED,
        adaptions: 0,
        answers: 0,
    };
    const HEALTHY: ServiceState = ServiceState {
        answers: 0,
        probing: false,
        stopped: false,
    };

    fn error(cause: FailureCause, retry: Retry) -> CallError {
        CallError {
            retry,
            ..CallError::new(cause, "why".to_owned())
        }
    }

    fn next(error: &CallError, call: CallAttempts, service: ServiceState) -> Next<()> {
        decide(error, call, service, None)
    }

    #[test]
    fn a_failure_is_retried_until_its_attempts_are_used_up() {
        let wait = Some(Duration::from_secs(2));
        let error = error(FailureCause::Server, Retry::After(wait));
        let after = |attempts, charged| {
            let call = CallAttempts {
                attempts,
                charged,
                ..FIRST
            };
            next(&error, call, HEALTHY)
        };
        assert_eq!(after(0, 0), Next::Retry { attempts: 1, wait });
        assert_eq!(
            after(ATTEMPTS - 2, 0),
            Next::Retry {
                attempts: ATTEMPTS - 1,
                wait
            }
        );
        assert_eq!(after(ATTEMPTS - 1, 0), Next::Fail);
        assert_eq!(after(0, MAX_CHARGED), Next::Fail);
        let once = CallAttempts {
            charged: 1,
            most_charged: 1,
            ..FIRST
        };
        assert_eq!(next(&error, once, HEALTHY), Next::Fail);
    }

    #[test]
    fn a_refusal_counts_only_if_the_service_has_answered_nothing_else_since() {
        let error = error(FailureCause::RateLimited, Retry::After(None));
        assert!(is_refusal(&error));
        let wait = None;
        let first = next(&error, FIRST, HEALTHY);
        assert_eq!(first, Next::Retry { attempts: 1, wait });
        let busy = ServiceState {
            answers: 1,
            ..HEALTHY
        };
        let excused = next(&error, FIRST, busy);
        assert_eq!(excused, Next::Retry { attempts: 0, wait });
    }

    #[test]
    fn a_server_that_answers_nothing_does_not_use_up_attempts() {
        let silent = CallError {
            no_answer: true,
            ..error(FailureCause::Server, Retry::Never)
        };
        let probing = ServiceState {
            probing: true,
            ..HEALTHY
        };
        let expected = Next::Retry {
            attempts: 0,
            wait: None,
        };
        assert_eq!(next(&silent, FIRST, probing), expected);
        assert_eq!(next(&silent, FIRST, HEALTHY), Next::Fail);
    }

    #[test]
    fn requests_are_adapted_before_they_are_rephrased_and_neither_past_the_limit_of_charges() {
        let adapted = error(FailureCause::BadRequest, Retry::Adapted);
        let charged = CallAttempts {
            charged: MAX_CHARGED,
            ..FIRST
        };
        let tried = CallAttempts {
            adaptions: MAX_ADAPTIONS,
            ..FIRST
        };
        assert_eq!(decide(&adapted, FIRST, HEALTHY, Some(7)), Next::Adapt);
        assert_eq!(decide(&adapted, tried, HEALTHY, Some(7)), Next::Rephrase(7));
        assert_eq!(decide(&adapted, charged, HEALTHY, Some(7)), Next::Fail);
        assert_eq!(next(&adapted, tried, HEALTHY), Next::Fail);
    }

    #[test]
    fn only_the_first_failure_that_stops_a_service_is_reported() {
        let fatal = CallError {
            stops_judge: true,
            ..error(FailureCause::Unauthorized, Retry::Never)
        };
        let stopped = ServiceState {
            stopped: true,
            ..HEALTHY
        };
        assert_eq!(decide(&fatal, FIRST, HEALTHY, Some(7)), Next::Fail);
        assert_eq!(decide(&fatal, FIRST, stopped, Some(7)), Next::Leave);
    }
}
