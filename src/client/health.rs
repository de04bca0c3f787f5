//! Whether a service answers at all: a run of broken calls lets one probe through at a time, and after a while the service
//! stops, with its cause and what to do.

use crate::judge::{CallError, FailureCause};
use std::time::Duration;
use tokio::time::Instant;

/// So many broken calls in a row, and no answer between them, are the server's fault and not a call's.
const BROKEN: u32 = 6;
/// So many answers in a row that were refused as wrong, or are junk, are the judge's fault, not the documents'.
const USELESS: u32 = 25;
/// Between two probes, at first and at most.
const PROBE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// A service that has answered before may be silent for so many of its longest answers.
const PATIENT: u32 = 4;

/// What is known of a service's health.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    give_up_after: Duration,
    /// Broken calls since the last answer: how many, when the first of them began, what the latest says.
    broken: u32,
    since: Option<Instant>,
    words: String,
    /// The next probe, and how long to wait after it, where only probes are let through.
    probe: Option<(Instant, Duration)>,
    /// When an answer or a refusal came last: the service was there then.
    spoke: Option<Instant>,
    /// When anything was heard last, and the longest answer so far.
    heard: Option<Instant>,
    longest: Duration,
    useless: u32,
    pub(crate) answers: u64,
}

impl Health {
    /// A service that is given up when it has failed or been silent for `give_up_after`.
    pub(crate) fn new(give_up_after: Duration) -> Self {
        Self {
            give_up_after,
            broken: 0,
            since: None,
            words: String::new(),
            probe: None,
            spoke: None,
            heard: None,
            longest: Duration::ZERO,
            useless: 0,
            answers: 0,
        }
    }

    /// Whether only one call at a time may be made, and from when on.
    pub(crate) fn probes_from(&self) -> Option<Instant> {
        self.probe.map(|(at, _)| at)
    }

    /// What is wrong, while only probes are let through.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.probe.is_some().then_some(self.words.as_str())
    }

    /// An answer came, whatever it says.
    pub(crate) fn answered(&mut self, latency: Duration, now: Instant) {
        self.answers += 1;
        self.is_there(now);
        self.longest = self.longest.max(latency);
    }

    /// The answer was an opinion.
    pub(crate) fn useful(&mut self) {
        self.useless = 0;
    }

    /// The provider refused a call as too many: it is there.
    pub(crate) fn refused(&mut self, now: Instant) {
        self.is_there(now);
    }

    fn is_there(&mut self, now: Instant) {
        (self.broken, self.since, self.probe) = (0, None, None);
        (self.heard, self.spoke) = (Some(now), Some(now));
    }

    /// A call that began at `began` failed. Returns why the service has to stop, where it has to.
    pub(crate) fn failed(
        &mut self,
        error: &CallError,
        began: Instant,
        now: Instant,
    ) -> Option<String> {
        self.heard = Some(now);
        if error.stops_judge {
            return Some(error.message.clone());
        }
        if is_broken(error) {
            return self.broke(error, began, now);
        }
        self.is_there(now);
        let what = match error.cause {
            FailureCause::BadRequest => "calls in a row were refused like this",
            FailureCause::Malformed => "answers in a row could not be read",
            _ => return None,
        };
        self.useless += 1;
        (self.useless >= USELESS).then(|| {
            format!(
                "{} ({USELESS} {what}; correct overrule.toml, then --retry-failed)",
                error.message
            )
        })
    }

    fn broke(&mut self, error: &CallError, began: Instant, now: Instant) -> Option<String> {
        self.broken += 1;
        // A call that was cut off may have gone well for minutes until then; and whatever came since a call began came from
        // a server that worked.
        let from = match error.cause {
            FailureCause::TimedOut => began,
            _ => now,
        };
        let from = self.spoke.map_or(from, |spoke| from.max(spoke));
        self.since = Some(self.since.map_or(from, |since| since.min(from)));
        self.words.clone_from(&error.message);
        if self.broken < BROKEN {
            return None;
        }
        let wait = match self.probe {
            // Calls that were in flight already are no probes.
            Some((at, _)) if began < at => return self.given_up(now),
            Some((_, wait)) => (wait * 3 / 2).min(PROBE.1),
            None => PROBE.0,
        };
        self.probe = Some((now + wait, wait));
        self.given_up(now)
    }

    fn given_up(&self, now: Instant) -> Option<String> {
        let since = self.since.filter(|_| self.probe.is_some())?;
        let seconds = now.saturating_duration_since(since);
        (seconds >= self.give_up_after).then(|| {
            format!(
                "no call has succeeded for {:.0} s: {}; when the server answers again, run the same command again \
                 (give_up_after_s in overrule.toml says how long to wait)",
                seconds.as_secs_f64(),
                self.words
            )
        })
    }

    /// Until when calls in flight, the oldest of which began at `oldest`, may stay without any answer.
    pub(crate) fn silent_until(&self, oldest: Instant) -> Instant {
        let from = self.heard.map_or(oldest, |heard| heard.max(oldest));
        from + self.give_up_after.max(self.longest * PATIENT)
    }

    /// Why a service stops that has been silent for so long.
    pub(crate) fn silence(&self, in_flight: usize, oldest: Instant, now: Instant) -> String {
        let seconds = now.saturating_duration_since(oldest).as_secs_f64();
        let calls = match in_flight {
            1 => "the call in flight".to_owned(),
            calls => format!("any of {calls} calls in flight"),
        };
        format!(
            "no answer to {calls} for {seconds:.0} s; look whether the server works, or raise give_up_after_s in \
             overrule.toml where the model needs longer, then run the same command again"
        )
    }
}

/// Whether a failure says nothing of the call and much of the server: no connection, no answer in time, an error of its own,
/// or a page of some server in between.
pub(crate) fn is_broken(error: &CallError) -> bool {
    let cause = error.cause;
    error.no_answer
        || matches!(
            cause,
            FailureCause::Connection | FailureCause::TimedOut | FailureCause::Server
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> CallError {
        CallError::new(FailureCause::Connection, "cannot connect to host")
    }

    #[test]
    fn a_dead_server_is_probed_and_given_up_after_a_minute() {
        let start = Instant::now();
        let mut health = Health::new(Duration::from_secs(60));
        for _ in 0..5 {
            assert_eq!(health.failed(&broken(), start, start), None);
        }
        assert_eq!(health.probes_from(), None, "five may be chance");
        assert_eq!(health.failed(&broken(), start, start), None);
        let mut probes = 0;
        let why = loop {
            let at = health.probes_from().unwrap();
            probes += 1;
            if let Some(why) = health.failed(&broken(), at, at) {
                assert!(at >= start + Duration::from_secs(60));
                assert!(at <= start + Duration::from_secs(71));
                break why;
            }
        };
        assert!(probes < 15, "{probes}");
        assert!(why.contains("cannot connect to host"), "{why}");
    }

    #[test]
    fn slow_calls_that_are_cut_off_together_do_not_give_the_server_up() {
        let start = Instant::now();
        let mut health = Health::new(Duration::from_secs(60));
        // Answers take three minutes; one broken connection takes all of them along.
        let broke = start + Duration::from_secs(170);
        for _ in 0..64 {
            assert_eq!(health.failed(&broken(), start, broke), None);
        }
        assert!(health.probes_from().is_some_and(|probe| probe > broke));
    }

    #[test]
    fn calls_that_hang_while_others_are_answered_do_not_give_the_server_up() {
        let start = Instant::now();
        let mut health = Health::new(Duration::from_secs(60));
        let at = start + Duration::from_secs(300);
        health.answered(Duration::from_secs(2), at);
        for _ in 0..8 {
            let hung = CallError::new(FailureCause::TimedOut, "no answer within 300 s");
            assert_eq!(health.failed(&hung, start, at), None);
        }
    }

    #[test]
    fn an_answer_closes_the_trouble() {
        let now = Instant::now();
        let mut health = Health::new(Duration::from_secs(60));
        for _ in 0..8 {
            health.failed(&broken(), now, now);
        }
        assert_eq!(health.trouble(), Some("cannot connect to host"));
        health.answered(Duration::from_secs(20), now);
        assert_eq!(health.trouble(), None);
        assert_eq!(health.silent_until(now), now + Duration::from_secs(80));
    }

    #[test]
    fn what_would_fail_every_call_stops_at_once() {
        let now = Instant::now();
        let mut health = Health::new(Duration::from_secs(60));
        let mut error = CallError::new(FailureCause::Unauthorised, "the key is not known");
        error.stops_judge = true;
        let why = health.failed(&error, now, now);
        assert_eq!(why.as_deref(), Some("the key is not known"));
    }

    #[test]
    fn junk_stops_a_judge_as_refused_requests_do() {
        let now = Instant::now();
        for cause in [FailureCause::Malformed, FailureCause::BadRequest] {
            let mut health = Health::new(Duration::from_secs(60));
            for _ in 0..24 {
                assert_eq!(
                    health.failed(&CallError::new(cause, "junk"), now, now),
                    None
                );
            }
            let why = health.failed(&CallError::new(cause, "junk"), now, now);
            assert!(why.is_some_and(|why| why.contains("25 ")));
        }
    }
}
