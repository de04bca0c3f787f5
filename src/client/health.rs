//! Tracks whether a service answers at all, and whether failures are due to the service or to one
//! case.
//!
//! After several broken calls in a row, one probe at a time is sent, and after a while the service
//! stops with its cause and a remedy. If all failures in a row concern one case, that case is
//! skipped instead, and calls about other cases continue.

use super::question::CaseId;
use crate::judge::{CallError, FailureCause, JudgeLimits};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// This many broken calls in a row without an answer are the fault of the server, not of one call.
const BROKEN: u32 = 6;
/// Number of calls in a row, refused as wrong or answered with junk, that cannot be chance: the
/// case is at fault if all of them concern one case, and the judge if they concern several.
const USELESS: u32 = 25;
/// Number of cases that count as several.
const SEVERAL: usize = 3;
/// Initial and maximum wait between two probes.
const PROBE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// A service that has answered before may stay silent for this many times its longest latency.
const PATIENT: u32 = 4;

/// The consequence of a failure for later calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Consequence {
    Nothing,
    /// Make no more calls about this case, for this reason.
    SkipCase(CaseId, String),
    /// Make no more calls to this service, for this reason.
    Stop(String),
}

/// Broken calls in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Broken {
    count: u32,
    /// Broken calls since a case was skipped last.
    since_skip: u32,
    /// The case that all of these concern.
    case: Option<CaseId>,
    /// Number of skipped cases.
    skipped: usize,
}

impl Broken {
    fn add(&mut self, case: Option<CaseId>) {
        self.case = case.filter(|_| self.since_skip == 0 || self.case == case);
        self.count += 1;
        self.since_skip += 1;
    }

    /// Skips the case that all calls concern, unless several cases were skipped before.
    fn skip(&mut self) -> Option<CaseId> {
        let case = self.case.filter(|_| self.skipped < SEVERAL)?;
        (self.since_skip, self.case, self.skipped) = (0, None, self.skipped + 1);
        Some(case)
    }
}

/// Useless calls in a row.
#[derive(Clone, Debug, Default)]
struct Useless {
    /// Number of calls per case.
    of_case: HashMap<CaseId, u32>,
    /// Number of calls without a case.
    single: u32,
    /// Number of skipped cases.
    skipped: usize,
}

impl Useless {
    /// Counts a call and returns the number of calls about its case.
    fn add(&mut self, case: Option<CaseId>) -> u32 {
        let Some(case) = case else {
            self.single += 1;
            return 1;
        };
        let calls = self.of_case.entry(case).or_default();
        *calls += 1;
        *calls
    }

    fn skip(&mut self, case: CaseId) {
        self.of_case.remove(&case);
        self.skipped += 1;
    }

    /// Whether the calls concern too many cases to be the fault of one.
    fn is_of_several(&self) -> bool {
        let calls = self.of_case.values().sum::<u32>() + self.single;
        let cases = self.of_case.len() + self.single as usize;
        self.skipped >= SEVERAL || (calls >= USELESS && cases >= SEVERAL)
    }
}

/// The known health of a service.
#[derive(Clone, Debug)]
pub(crate) struct Health {
    give_up_after: Duration,
    silent_after: Duration,
    /// Broken calls since the last answer: their number, the start of the first one, and the latest
    /// error message.
    broken: Broken,
    since: Option<Instant>,
    words: String,
    /// Time of the next probe and the wait after it, if only probes are allowed.
    probe: Option<(Instant, Duration)>,
    /// Time of the last answer or refusal, either of which shows that the service is up.
    spoke: Option<Instant>,
    /// Time of the last response of any kind, and the longest latency so far.
    heard: Option<Instant>,
    longest: Duration,
    useless: Useless,
    /// Skipped cases.
    skipped: HashSet<CaseId>,
    pub(crate) answers: u64,
}

impl Health {
    /// Creates the health of a service that is given up after failing or being silent for as long
    /// as `limits` allow.
    pub(crate) fn new(limits: JudgeLimits) -> Self {
        Self {
            give_up_after: limits.give_up_after,
            silent_after: limits.silent_after,
            broken: Broken::default(),
            since: None,
            words: String::new(),
            probe: None,
            spoke: None,
            heard: None,
            longest: Duration::ZERO,
            useless: Useless::default(),
            skipped: HashSet::new(),
            answers: 0,
        }
    }

    /// If only one call at a time is allowed, the time from which it may begin.
    pub(crate) fn probes_from(&self) -> Option<Instant> {
        self.probe.map(|(at, _)| at)
    }

    /// The current problem while only probes are allowed.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.probe.is_some().then_some(self.words.as_str())
    }

    /// Records an answer, whether or not it is usable.
    pub(crate) fn answered(&mut self, latency: Duration, now: Instant) {
        self.answers += 1;
        self.is_there(now);
        self.longest = self.longest.max(latency);
    }

    /// Records that an answer contained an opinion.
    pub(crate) fn useful(&mut self) {
        self.useless = Useless::default();
    }

    /// Whether calls about `case` are skipped.
    pub(crate) fn skips(&self, case: CaseId) -> bool {
        self.skipped.contains(&case)
    }

    /// Records that the provider refused a call because of a limit, which shows that it is up.
    pub(crate) fn refused(&mut self, now: Instant) {
        self.is_there(now);
    }

    fn is_there(&mut self, now: Instant) {
        (self.broken, self.since, self.probe) = (Broken::default(), None, None);
        (self.heard, self.spoke) = (Some(now), Some(now));
    }

    /// Records the failure of a call about `case` that began at `began`.
    pub(crate) fn failed(
        &mut self,
        error: &CallError,
        case: Option<CaseId>,
        began: Instant,
        now: Instant,
    ) -> Consequence {
        self.heard = Some(now);
        if error.stops_judge {
            return Consequence::Stop(error.message.clone());
        }
        // Calls that were in flight when the case was skipped carry no new information.
        if case.is_some_and(|case| self.skipped.contains(&case)) {
            return Consequence::Nothing;
        }
        if is_broken(error) {
            return self.broke(error, case, began, now);
        }
        self.is_there(now);
        let what = match error.cause {
            FailureCause::BadRequest => "were refused like this",
            FailureCause::Malformed => "had answers that could not be read",
            // The judge is not to blame for the texts of one call.
            _ => return Consequence::Nothing,
        };
        let calls = self.useless.add(case);
        let message = &error.message;
        let failing = case.filter(|_| calls >= USELESS);
        failing.iter().for_each(|case| self.useless.skip(*case));
        if self.useless.is_of_several() {
            return Consequence::Stop(format!(
                "{message} (at least {USELESS} calls in a row about several queries {what}; \
                 correct overrule.toml, then \
                 --retry-failed)"
            ));
        }
        let Some(case) = failing else {
            return Consequence::Nothing;
        };
        self.skipped.insert(case);
        let why = format!("{message} ({USELESS} calls in a row about this query {what})");
        Consequence::SkipCase(case, why)
    }

    fn broke(
        &mut self,
        error: &CallError,
        case: Option<CaseId>,
        began: Instant,
        now: Instant,
    ) -> Consequence {
        // Only an internal error or a truncated response can be caused by the texts of a call.
        let internal =
            error.cause == FailureCause::Server && matches!(error.exchange.status, Some(200 | 500));
        self.broken.add(case.filter(|_| internal));
        // A call that timed out may have gone well for minutes before, and a response that arrived
        // after the call began came from a working server.
        let from = match error.cause {
            FailureCause::TimedOut => began,
            _ => now,
        };
        let from = self.spoke.map_or(from, |spoke| from.max(spoke));
        self.since = Some(self.since.map_or(from, |since| since.min(from)));
        self.words.clone_from(&error.message);
        if self.broken.count < BROKEN {
            return Consequence::Nothing;
        }
        let wait = match self.probe {
            // Calls that were already in flight are not probes.
            Some((at, _)) if began < at => return self.given_up(now),
            Some((_, wait)) => (wait * 3 / 2).min(PROBE.1),
            None => PROBE.0,
        };
        self.probe = Some((now + wait, wait));
        self.given_up(now)
    }

    fn given_up(&mut self, now: Instant) -> Consequence {
        let since = self.since.filter(|_| self.probe.is_some());
        let failed = since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if since.is_none() || failed < self.give_up_after {
            return Consequence::Nothing;
        }
        let (seconds, words) = (failed.as_secs_f64(), &self.words);
        // Make the next probe use another case.
        if let Some(case) = self.broken.skip() {
            self.skipped.insert(case);
            let why = format!(
                "no call has succeeded for {seconds:.0} s, the last one about this query: {words}"
            );
            return Consequence::SkipCase(case, why);
        }
        Consequence::Stop(format!(
            "no call has succeeded for {seconds:.0} s: {words}; when the server answers again, run \
             the same command again \
             (give_up_after_s in overrule.toml says how long to wait)"
        ))
    }

    /// Until when calls in flight may go without any answer, where the oldest began at `oldest`.
    pub(crate) fn silent_until(&self, oldest: Instant) -> Instant {
        let from = self.heard.map_or(oldest, |heard| heard.max(oldest));
        from + self.silent_after.max(self.longest * PATIENT)
    }

    /// Why a service stops after a long silence.
    pub(crate) fn silence(&self, in_flight: usize, oldest: Instant, now: Instant) -> String {
        let seconds = now.saturating_duration_since(oldest).as_secs_f64();
        let calls = match in_flight {
            1 => "the call in flight".to_owned(),
            calls => format!("any of {calls} calls in flight"),
        };
        format!(
            "no answer to {calls} for {seconds:.0} s; check whether the server works, or, if the \
             model needs longer, raise give_up_after_s in overrule.toml (and first_byte_timeout_s, \
             which must be smaller), then run the same command again"
        )
    }
}

/// Whether a failure points to the server and not to the call: no connection, a timeout, a server
/// error, or a page from a server in between.
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
    use rstest::rstest;

    const ONE: Option<CaseId> = Some(CaseId(1));
    const TWO: Option<CaseId> = Some(CaseId(2));
    const THREE: Option<CaseId> = Some(CaseId(3));

    fn new() -> Health {
        Health::new(JudgeLimits::default())
    }

    fn broken() -> CallError {
        CallError::new(FailureCause::Connection, "cannot connect to host")
    }

    /// The reason for stopping, if the service stops.
    fn stop(consequence: Consequence) -> Option<String> {
        match consequence {
            Consequence::Stop(why) => Some(why),
            Consequence::Nothing => None,
            Consequence::SkipCase(case, why) => panic!("leaves {case:?}: {why}"),
        }
    }

    #[test]
    fn a_dead_server_is_probed_and_given_up_after_a_minute() {
        let start = Instant::now();
        // All calls may be about a single query.
        for case in [None, ONE] {
            let mut health = new();
            let fail = |health: &mut Health, at| stop(health.failed(&broken(), case, at, at));
            for _ in 0..5 {
                assert_eq!(fail(&mut health, start), None);
            }
            assert_eq!(health.probes_from(), None, "five may be chance");
            assert_eq!(fail(&mut health, start), None);
            let mut probes = 0;
            let why = loop {
                let at = health.probes_from().unwrap();
                probes += 1;
                if let Some(why) = fail(&mut health, at) {
                    assert!(at >= start + Duration::from_secs(60));
                    assert!(at <= start + Duration::from_secs(71));
                    break why;
                }
            };
            assert!(probes < 15, "{probes}");
            assert!(why.contains("cannot connect to host"), "{why}");
        }
    }

    #[test]
    fn slow_calls_that_are_cut_off_together_do_not_give_the_server_up() {
        let start = Instant::now();
        let mut health = new();
        // Answers take three minutes; one broken connection fails all of them.
        let broke = start + Duration::from_secs(170);
        for _ in 0..64 {
            assert_eq!(stop(health.failed(&broken(), None, start, broke)), None);
        }
        assert!(health.probes_from().is_some_and(|probe| probe > broke));
    }

    #[test]
    fn calls_that_hang_while_others_are_answered_do_not_give_the_server_up() {
        let start = Instant::now();
        let mut health = new();
        let at = start + Duration::from_secs(300);
        health.answered(Duration::from_secs(2), at);
        for _ in 0..8 {
            let hung = CallError::new(FailureCause::TimedOut, "no answer within 300 s");
            assert_eq!(stop(health.failed(&hung, None, start, at)), None);
        }
    }

    #[test]
    fn an_answer_closes_the_trouble() {
        let now = Instant::now();
        let mut health = new();
        for _ in 0..8 {
            health.failed(&broken(), None, now, now);
        }
        assert_eq!(health.trouble(), Some("cannot connect to host"));
        health.answered(Duration::from_secs(20), now);
        assert_eq!(health.trouble(), None);
        assert_eq!(health.silent_until(now), now + Duration::from_secs(80));
    }

    #[test]
    fn what_would_fail_every_call_stops_at_once() {
        let now = Instant::now();
        let error = CallError::new(FailureCause::Unauthorized, "the key is not known").stopping();
        let why = stop(new().failed(&error, ONE, now, now));
        assert_eq!(why.as_deref(), Some("the key is not known"));
    }

    /// Fails `times` calls about a case and returns the last consequence; all earlier ones must be
    /// `Nothing`.
    fn fail(
        health: &mut Health,
        cause: FailureCause,
        case: Option<CaseId>,
        times: usize,
    ) -> Consequence {
        let now = Instant::now();
        let junk = CallError::new(cause, "junk");
        for _ in 1..times {
            let early = health.failed(&junk, case, now, now);
            assert_eq!(early, Consequence::Nothing);
        }
        health.failed(&junk, case, now, now)
    }

    #[rstest]
    fn junk_stops_a_judge_as_refused_requests_do(
        #[values(FailureCause::Malformed, FailureCause::BadRequest)] cause: FailureCause,
    ) {
        // Calls about many cases, then about three.
        let mut health = new();
        assert!(stop(fail(&mut health, cause, None, 25)).is_some_and(|why| why.contains("25 ")));
        let mut health = new();
        for case in [ONE, TWO] {
            assert_eq!(fail(&mut health, cause, case, 12), Consequence::Nothing);
        }
        assert!(stop(fail(&mut health, cause, THREE, 1)).is_some());
    }

    #[rstest]
    fn a_case_is_skipped_and_three_of_them_stop_the_judge(
        #[values(FailureCause::Malformed, FailureCause::BadRequest)] cause: FailureCause,
        #[values(true, false)] answered: bool,
    ) {
        let mut health = new();
        for case in [ONE, TWO] {
            let left = fail(&mut health, cause, case, 25);
            assert!(
                matches!(&left, Consequence::SkipCase(of, why) if Some(*of) == case && why.contains("junk (25 calls")),
                "{left:?}"
            );
            // The calls still in flight.
            assert_eq!(fail(&mut health, cause, case, 60), Consequence::Nothing);
        }
        if answered {
            health.answered(Duration::from_secs(1), Instant::now());
            health.useful();
        }
        let next = fail(&mut health, cause, THREE, 25);
        if answered {
            assert!(matches!(next, Consequence::SkipCase(CaseId(3), _)))
        } else {
            assert!(stop(next).is_some())
        }
    }

    #[rstest]
    #[case(FailureCause::TooLong)]
    #[case(FailureCause::Filtered)]
    #[case(FailureCause::Refused)]
    #[case(FailureCause::Truncated)]
    fn a_judge_is_not_at_fault_for_the_texts(#[case] cause: FailureCause) {
        let now = Instant::now();
        let mut health = new();
        for _ in 0..500 {
            let error = CallError::new(cause, "these texts");
            assert_eq!(health.failed(&error, ONE, now, now), Consequence::Nothing);
        }
    }

    #[rstest]
    #[case::internal_error(500)]
    #[case::broken_off_answer(200)]
    fn errors_of_the_server_about_one_case_skip_it_and_those_about_several_stop_it(
        #[case] status: u16,
    ) {
        let mut error = CallError::new(FailureCause::Server, "it broke");
        error.exchange.status = Some(status);
        let mut health = new();
        let mut at = Instant::now();
        for case in 1..=SEVERAL as i64 {
            let left = loop {
                match health.failed(&error, Some(CaseId(case)), at, at) {
                    Consequence::Nothing => at = health.probes_from().unwrap_or(at),
                    other => break other,
                }
            };
            assert!(
                matches!(left, Consequence::SkipCase(of, _) if of == CaseId(case)),
                "{left:?}"
            );
            let mut other = health.clone();
            other.answered(Duration::from_secs(1), at);
            assert_eq!(other.trouble(), None);
            at = health.probes_from().unwrap();
        }
        assert!(stop(health.failed(&error, Some(CaseId(9)), at, at)).is_some());
    }
}
