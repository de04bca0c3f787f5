//! Admission of single attempts: the window, per-minute limits and the health of the server.

use super::health::{Consequence, Health};
use super::pace::{Pace, TOO_LONG};
use super::question::CaseId;
use super::slots::ServerSlots;
use super::window::{self, CallWindow};
use crate::judge::{CallError, Exchange, FailureCause, JudgeEnsemble, JudgeLimits, RateLimits};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BegunCall {
    pub(crate) at: Instant,
    /// Number of calls that began before this one.
    number: u64,
}

/// The state of one service, shared by its worker and by observers.
#[derive(Debug)]
pub(crate) struct RateGate {
    pub(crate) window: CallWindow,
    pub(crate) pace: Pace,
    pub(crate) health: Health,
    /// Calls in flight now, as counted by the worker.
    pub(crate) in_flight: usize,
    /// Why the service makes no more calls.
    pub(crate) stopped: Option<String>,
    /// The message of the latest refusal, and the start of the current series of refusals without
    /// an answer in between.
    refusal: String,
    refused_since: Option<Instant>,
}

impl RateGate {
    /// Creates the gate of a service whose limits are still unknown. At most `most` calls may be in
    /// flight; it starts with `first`.
    pub(crate) fn new(
        limits: JudgeLimits,
        most: usize,
        first: usize,
        adapts: bool,
        now: Instant,
    ) -> Self {
        Self {
            window: CallWindow::new(most, first, adapts),
            pace: Pace::new(limits, now),
            health: Health::new(limits),
            in_flight: 0,
            stopped: None,
            refusal: String::new(),
            refused_since: None,
        }
    }

    /// The gates of all judges of an ensemble. `remembered` holds the final window sizes of the
    /// last run. Judges on the same server share its initial window and, if its slots must be
    /// found, the slots.
    pub(crate) fn of_ensemble(
        ensemble: &JudgeEnsemble,
        concurrency: usize,
        remembered: &[Option<usize>],
    ) -> Vec<Self> {
        let mut servers: HashMap<&str, Arc<ServerSlots>> = HashMap::new();
        let judges = ensemble.iter().enumerate();
        judges
            .map(|(judge_index, judge)| {
                let limits = judge.limits();
                let most = limits.concurrency.unwrap_or(concurrency).min(concurrency);
                let neighbors = ensemble
                    .iter()
                    .filter(|other| other.server().is_some() && other.server() == judge.server());
                // A compromise: some servers count all judges together, others count each model
                // separately.
                let first = window::FIRST as f64 / (neighbors.count().max(1) as f64).sqrt();
                let first = remembered
                    .get(judge_index)
                    .copied()
                    .flatten()
                    .unwrap_or(first as usize)
                    .max(1);
                let adapts = !judge.spec().is_offline();
                let gate = Self::new(limits, most, first, adapts, Instant::now());
                let slots = judge.server().filter(|_| limits.slots_unknown);
                match slots.map(|server| servers.entry(server).or_insert_with(ServerSlots::new)) {
                    Some(slots) => Self {
                        window: CallWindow::of_slots(most, Arc::clone(slots)),
                        ..gate
                    },
                    None => gate,
                }
            })
            .collect()
    }

    /// Maximum number of calls in flight now.
    pub(crate) fn places(&self, most: usize) -> usize {
        let places = self.window.size().min(most.max(1));
        match (self.health.probes_from(), self.pace.places()) {
            (Some(_), _) => 1,
            (None, Some(felt)) => places.min(felt),
            (None, None) => places,
        }
    }

    /// When a call that needs `tokens` may begin, provided that the window has room.
    pub(crate) fn ready(&self, tokens: u64, now: Instant) -> Instant {
        let ready = self.pace.ready(tokens, now).max(self.window.ready(now));
        self.health
            .probes_from()
            .map_or(ready, |probe| ready.max(probe))
    }

    pub(crate) fn begin(&mut self, tokens: u64, now: Instant) -> BegunCall {
        self.window.begin(now);
        let number = self.pace.begin(tokens, now);
        BegunCall { at: now, number }
    }

    /// Records an answer while `in_flight` other calls are pending.
    pub(crate) fn answered(
        &mut self,
        exchange: &Exchange,
        tokens: u64,
        in_flight: usize,
        begun: BegunCall,
        now: Instant,
    ) {
        self.refused_since = None;
        self.window.answered(exchange.latency);
        self.health.answered(exchange.latency, now);
        self.pace.answered(begun.number);
        self.hear(&exchange.limits, in_flight, tokens, now);
    }

    /// Reads the limits in a response's headers. Once the provider tells them, time alone no longer
    /// opens the window.
    fn hear(&mut self, limits: &RateLimits, in_flight: usize, tokens: u64, now: Instant) {
        self.pace.hear(limits, in_flight, tokens, now);
        if self.pace.is_told() {
            self.window.stop_doubling();
        }
    }

    /// Records the failure of a call about `case`. Returns `Stop` only the first time.
    pub(crate) fn failed(
        &mut self,
        error: &CallError,
        case: Option<CaseId>,
        tokens: u64,
        in_flight: usize,
        begun: BegunCall,
        now: Instant,
    ) -> Consequence {
        let limits = &error.exchange.limits;
        let consequence = if is_refusal(error) {
            let wait = limits.retry_after;
            self.refusal.clone_from(&error.message);
            self.window.refused();
            self.health.refused(now);
            self.pace.refused(begun.number, wait, now);
            self.hear(limits, in_flight, tokens, now);
            let since = *self.refused_since.get_or_insert(begun.at);
            match self.too_long(wait, now.saturating_duration_since(since)) {
                Some(why) => Consequence::Stop(why),
                None => Consequence::Nothing,
            }
        } else {
            let reply = error.raw.is_some() && !error.no_answer;
            if reply
                && matches!(
                    error.cause,
                    FailureCause::Malformed
                        | FailureCause::Truncated
                        | FailureCause::TooLong
                        | FailureCause::Refused
                        | FailureCause::Filtered
                )
            {
                // The provider accepted the call, even if the answer is unusable.
                self.refused_since = None;
                self.window.answered(error.exchange.latency);
                self.health.answered(error.exchange.latency, now);
                self.pace.answered(begun.number);
            }
            if error.cause == FailureCause::TimedOut && self.health.answers > 0 {
                // It answers some calls but not others, so it receives more than it can process.
                self.window.timed_out();
            }
            self.hear(limits, in_flight, tokens, now);
            self.health.failed(error, case, begun.at, now)
        };
        match &consequence {
            Consequence::Stop(_) if self.stopped.is_some() => return Consequence::Nothing,
            Consequence::Stop(why) => self.stopped = Some(why.clone()),
            Consequence::SkipCase(..) | Consequence::Nothing => {}
        }
        consequence
    }

    /// Why the run does not wait for a provider that asks for `wait` or has refused every call for
    /// `refused`.
    fn too_long(&self, wait: Option<Duration>, refused: Duration) -> Option<String> {
        let wait = wait.filter(|wait| *wait > TOO_LONG);
        if let Some(wait) = wait {
            return Some(format!(
                "the provider asks to wait for {}: {}; run the same command again after that",
                words(wait),
                self.refusal
            ));
        }
        (refused > TOO_LONG).then(|| {
            format!(
                "every call was refused for {}: {}; run the same command again later",
                words(refused),
                self.refusal
            )
        })
    }

    /// Stops the service. Returns whether it was still running.
    pub(crate) fn stop(&mut self, why: &str) -> bool {
        let first = self.stopped.is_none();
        self.stopped.get_or_insert_with(|| why.to_owned());
        first
    }

    /// How long the service makes no calls and why, if the provider or its server is the cause.
    pub(crate) fn waiting(&self, now: Instant) -> Option<(Duration, String)> {
        if let (Some(probe), Some(trouble)) = (self.health.probes_from(), self.health.trouble()) {
            let wait = probe.saturating_duration_since(now);
            return Some((wait, format!("the server does not answer: {trouble}")));
        }
        let wait = self.pace.held(now)?;
        let why = match self.refusal.as_str() {
            "" => "the limit in its headers is used up".to_owned(),
            refusal => format!("rate limited: {refusal}"),
        };
        Some((wait, why))
    }
}

/// Whether the provider refused the call because of its load or limits, and not because of the call
/// itself.
pub(crate) fn is_refusal(error: &CallError) -> bool {
    let overloaded = matches!(error.exchange.status, Some(503 | 529))
        && error.exchange.limits.retry_after.is_some();
    !error.stops_judge && (error.cause == FailureCause::RateLimited || overloaded)
}

fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(wait_s: u64) -> CallError {
        let mut error = CallError::new(FailureCause::RateLimited, "slow down");
        error.exchange.limits = RateLimits {
            retry_after: Some(Duration::from_secs(wait_s)),
            ..RateLimits::default()
        };
        error
    }

    #[test]
    fn a_wait_of_hours_stops_the_judge_and_one_of_minutes_does_not() {
        let now = Instant::now();
        let mut gate = RateGate::new(JudgeLimits::default(), 64, 64, true, now);
        let begun = gate.begin(1, now);
        let mut fail = |wait| gate.failed(&refusal(wait), None, 1, 0, begun, now);
        assert_eq!(fail(500), Consequence::Nothing);
        let Consequence::Stop(why) = fail(7_300) else {
            panic!("it goes on");
        };
        assert!(why.contains("2 h") && why.contains("slow down"), "{why}");
        assert_eq!(fail(7_300), Consequence::Nothing, "said once");
    }

    #[test]
    fn an_overloaded_server_that_says_when_to_come_back_has_refused_and_is_not_broken() {
        let mut error = CallError::new(FailureCause::Server, "busy");
        error.exchange.status = Some(503);
        assert!(!is_refusal(&error));
        error.exchange.limits.retry_after = Some(Duration::from_secs(2));
        assert!(is_refusal(&error));
        error.exchange.status = Some(500);
        assert!(!is_refusal(&error));
    }

    #[test]
    fn an_answer_that_is_junk_opens_what_refusals_have_closed() {
        let now = Instant::now();
        let mut gate = RateGate::new(JudgeLimits::default(), 64, 64, true, now);
        for _ in 0..8 {
            let begun = gate.begin(1, now);
            gate.failed(&refusal(1), None, 1, 0, begun, now);
        }
        assert_eq!(gate.places(64), 1);
        let later = now + Duration::from_secs(2);
        let mut junk = CallError::new(FailureCause::Malformed, "no JSON").with_raw("hm");
        junk.exchange.latency = Duration::from_secs(1);
        for _ in 0..3 {
            let begun = gate.begin(1, later);
            gate.failed(&junk, None, 1, 0, begun, later);
        }
        assert_eq!(gate.places(64), 4);
        assert_eq!(gate.health.answers, 3);
    }

    #[test]
    fn a_hold_is_told_with_its_cause() {
        let now = Instant::now();
        let mut gate = RateGate::new(JudgeLimits::default(), 64, 64, true, now);
        for _ in 0..8 {
            let begun = gate.begin(1, now);
            gate.failed(&refusal(45), None, 1, 0, begun, now);
        }
        let (wait, why) = gate.waiting(now).unwrap();
        assert_eq!(wait, Duration::from_secs(45));
        assert!(why.contains("slow down"), "{why}");
        assert_eq!(gate.places(64), 1);
    }
}
