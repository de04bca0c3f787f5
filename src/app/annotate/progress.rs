//! Progress of a run: counts, rate, remaining time and spending.

use crate::app::failure_tally::FailureTally;
use crate::app::text_format::counted;
use crate::domain::answering_models::AnsweringModel;
use crate::domain::judge_report::{AnswerFinding, BothOrders, PositionCounts};
use crate::domain::number_words::count;
use crate::domain::spend::{Spend, serialize_told_usd};
use crate::judge::{CallError, FailureCause, JudgeSpec, Usage};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

const LOG_LINES: usize = 200;
/// Length of the window over which the rate is measured.
const RATE_WINDOW: Duration = Duration::from_secs(5);
/// Minimum number of calls for a rate, if that many have ended.
const RATE_CALLS: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// Choosing pairs and counting existing votes.
    #[default]
    Planning,
    Judging,
    /// Refitting queries whose numbers have changed: unfinished ones, and all if the noise of the
    /// battles was estimated again.
    Refitting,
    Writing,
    Done,
}

/// A query that a judge skipped because its calls about it kept failing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedQuery {
    pub query: String,
    pub why: String,
}

/// One judge's progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeProgress {
    pub name: String,
    /// Whether it is one of the embedded lexical judges.
    pub offline: bool,
    pub total: usize,
    /// Calls that ended with a vote.
    pub votes: usize,
    /// Calls that ended without a vote.
    pub failures: usize,
    /// Failures by cause.
    #[serde(flatten)]
    pub tally: FailureTally,
    pub usage: Usage,
    /// Cost of its calls.
    #[serde(flatten)]
    pub spend: Spend,
    /// Sum of latencies in milliseconds.
    pub latency_ms: f64,
    pub in_flight: usize,
    /// Current maximum number of calls in flight.
    pub window: usize,
    /// Calls per minute that the provider admits, if learned from refusals.
    pub learned_per_minute: Option<f64>,
    /// Number of retried calls.
    pub retries: usize,
    /// Votes from answers that the project already held.
    pub reused: usize,
    /// Seconds for which no calls are made because of the provider or its server.
    pub held_s: Option<f64>,
    pub waiting_for: Option<String>,
    /// Why the judge makes no more calls.
    pub stopped: Option<String>,
    /// Queries that it skipped because its calls about them kept failing.
    pub skipped_queries: Vec<SkippedQuery>,
    pub dropped: bool,
    /// Preferences by position, including earlier runs on the same queries.
    pub answers: PositionCounts,
    /// Answers on pairs seen in both orders, including earlier runs on the same queries.
    pub both_orders: BothOrders,
    /// A problem of the judge that they reveal, as a phrase that follows its name.
    pub finding: Option<String>,
    /// Models named in its votes, including earlier runs and other queries.
    pub models: Vec<AnsweringModel>,
    /// Number of votes cast with model weights other than the current ones.
    pub votes_by_other_weights: usize,
    /// Findings about its server, as phrases that follow its name.
    pub server_notes: Vec<&'static str>,
}

impl JudgeProgress {
    /// Counts a call that ended without a vote.
    pub fn failed(&mut self, error: &CallError) {
        self.failures += 1;
        self.tally.add(error);
    }

    /// Records the model named in an answer. Returns whether it is new.
    pub(super) fn answered_as(&mut self, model: &str, now_ms: i64) -> bool {
        let known = self.models.iter_mut().find(|of| of.model == model);
        let is_new = known.is_none();
        match known {
            Some(of) => of.votes += 1,
            None => self.models.push(AnsweringModel {
                model: model.to_owned(),
                votes: 1,
                first_ms: now_ms,
            }),
        }
        is_new
    }

    /// Number of calls that have ended.
    pub fn calls(&self) -> usize {
        self.votes + self.failures
    }

    /// Notes that its weights were replaced, as a phrase that follows its name.
    pub fn replaced_words(&self) -> Option<String> {
        (self.votes_by_other_weights > 0).then(|| replaced_weights(self.votes_by_other_weights))
    }
}

/// Times of failures with one cause, in seconds since the run began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureTimes {
    pub first_s: f64,
    pub last_s: f64,
}

/// The failures with one cause, with the number for each judge.
#[derive(Clone, Debug, PartialEq)]
pub struct FailuresOfCause<'a> {
    pub cause: FailureCause,
    pub count: usize,
    pub times: FailureTimes,
    pub judges: Vec<(&'a str, usize)>,
    /// The message of the first failure of the first judge.
    pub message: &'a str,
}

/// A line of the log, with the number of times it was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub text: String,
    pub count: usize,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "{}", self.text),
            count => write!(f, "{} ×{count}", self.text),
        }
    }
}

/// The state of a run at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunProgress {
    pub phase: RunPhase,
    /// Whether new calls are paused.
    pub paused: bool,
    pub queries_planned: usize,
    pub queries: usize,
    /// Number of queries whose calls have all ended.
    pub queries_done: usize,
    /// Number of queries processed by the phase, if it is [`RunPhase::Refitting`] or
    /// [`RunPhase::Writing`].
    pub step_done: usize,
    /// Number of queries that the phase has to process.
    pub step_total: usize,
    pub battles: usize,
    /// Votes that existed before the run and were not requested again.
    pub already: usize,
    pub total: usize,
    /// Spending of the project before this run.
    #[serde(rename = "spent_before_usd", serialize_with = "serialize_told_usd")]
    pub spent_before: Spend,
    /// Seconds since the run began.
    pub elapsed_s: f64,
    /// Calls per second over the last few seconds; 0 unless judges are being called.
    pub rate: f64,
    /// One entry per judge, in ensemble order.
    pub judges: Vec<JudgeProgress>,
    /// When calls failed, by cause.
    #[serde(skip)]
    pub failed_at: BTreeMap<FailureCause, FailureTimes>,
    /// Log of failures and turning points, latest last.
    #[serde(skip)]
    pub log: VecDeque<LogLine>,
    #[serde(skip)]
    recent: VecDeque<(f64, usize)>,
}

impl RunProgress {
    pub(super) fn new(specs: &[JudgeSpec]) -> Self {
        Self {
            judges: specs
                .iter()
                .map(|spec| JudgeProgress {
                    name: spec.name.clone(),
                    offline: spec.is_offline(),
                    ..JudgeProgress::default()
                })
                .collect(),
            ..Self::default()
        }
    }

    /// Counts a call of a judge that ended without a vote now.
    pub(super) fn failed(&mut self, judge: usize, error: &CallError) {
        if let Some(judge) = self.judges.get_mut(judge) {
            judge.failed(error);
        }
        let now = self.elapsed_s;
        let times = self.failed_at.entry(error.cause).or_insert(FailureTimes {
            first_s: now,
            last_s: now,
        });
        times.last_s = now;
    }

    /// The failures by cause, most frequent first, each with the judges concerned.
    pub fn failures_by_cause(&self) -> Vec<FailuresOfCause<'_>> {
        let each = self.failed_at.iter().map(|(cause, times)| {
            let of = |judge: &JudgeProgress| judge.tally.causes.get(cause).copied();
            let judges = self.judges.iter();
            let judges: Vec<(&str, usize)> = judges
                .filter_map(|judge| Some((judge.name.as_str(), of(judge)?)))
                .collect();
            let count = judges.iter().map(|(_, count)| count).sum();
            let mut messages = self
                .judges
                .iter()
                .map(|judge| judge.tally.messages.get(cause));
            let message = messages.find_map(|message| message.map(String::as_str));
            FailuresOfCause {
                message: message.unwrap_or_default(),
                cause: *cause,
                count,
                times: *times,
                judges,
            }
        });
        let mut all: Vec<_> = each.collect();
        all.sort_by_key(|one| Reverse(one.count));
        all
    }

    /// Starts a phase that processes this many queries.
    pub fn enter(&mut self, phase: RunPhase, queries: usize) {
        self.phase = phase;
        self.step_done = 0;
        self.step_total = queries;
        self.rate = 0.0;
    }

    /// The current query-by-query phase as a word, with the number of processed queries and of all;
    /// `None` while judges are called and after the end.
    pub fn step(&self) -> Option<(&'static str, usize, usize)> {
        match self.phase {
            RunPhase::Planning => Some(("planning", self.queries_planned, self.queries)),
            RunPhase::Refitting => Some(("refitting", self.step_done, self.step_total)),
            RunPhase::Writing => Some(("writing", self.step_done, self.step_total)),
            RunPhase::Judging | RunPhase::Done => None,
        }
    }

    pub fn done(&self) -> usize {
        self.votes() + self.failures()
    }

    pub fn votes(&self) -> usize {
        self.judges.iter().map(|judge| judge.votes).sum()
    }

    /// Whether the votes of a language model carry no information about the documents. Embedded
    /// judges are excluded, as a dataset may offer nothing for them to compare.
    pub fn has_void_judge(&self) -> bool {
        self.judges
            .iter()
            .filter(|judge| !judge.offline)
            .filter_map(|judge| judge.answers.finding())
            .any(AnswerFinding::is_void)
    }

    /// The number of calls that were not made because a person dropped their judges, with the
    /// judges' names.
    pub fn not_asked_of_dropped(&self) -> Option<(usize, Vec<&str>)> {
        let dropped = || self.judges.iter().filter(|judge| judge.dropped);
        let calls = dropped()
            .map(|judge| judge.total.saturating_sub(judge.votes + judge.failures))
            .sum();
        (calls > 0).then(|| (calls, dropped().map(|judge| judge.name.as_str()).collect()))
    }

    pub fn failures(&self) -> usize {
        self.judges.iter().map(|judge| judge.failures).sum()
    }

    /// Spending of this run.
    pub fn spend(&self) -> Spend {
        self.judges.iter().map(|judge| judge.spend).sum()
    }

    /// Describes the rate of calls, or says that none has ended yet.
    pub fn rate_words(&self) -> String {
        match self.done() {
            0 => "none has ended yet".to_owned(),
            _ => rate_in_words(self.rate),
        }
    }

    /// The judge with the most failures among those that make calls or were stopped by failures.
    pub fn failing_judge(&self) -> Option<&JudgeProgress> {
        self.judges
            .iter()
            .filter(|judge| !judge.dropped && (judge.failures > 0 || judge.stopped.is_some()))
            .max_by_key(|judge| (judge.stopped.is_some(), judge.failures))
    }

    /// Remaining seconds at the current rate, if there is one.
    pub fn eta_s(&self) -> Option<f64> {
        let left = self.total.checked_sub(self.done())?;
        (self.rate > 0.0 && !self.paused).then(|| left as f64 / self.rate)
    }

    pub(super) fn tick(&mut self, elapsed: Duration) {
        self.elapsed_s = elapsed.as_secs_f64();
        if self.phase != RunPhase::Judging {
            return;
        }
        let done = self.done();
        let newer = |(at, before): &(f64, usize)| self.elapsed_s - at >= 0.1 && done > *before;
        if self.recent.back().is_none_or(newer) {
            self.recent.push_back((self.elapsed_s, done));
        }
        // A judge that answers once a minute also has a rate: keep a minimum number of calls,
        // however old.
        let old = self.elapsed_s - RATE_WINDOW.as_secs_f64();
        while let (Some((at, _)), Some((_, next))) = (self.recent.front(), self.recent.get(1))
            && *at < old
            && done - next >= RATE_CALLS
        {
            self.recent.pop_front();
        }
        if let Some((at, before)) = self.recent.front() {
            let span = self.elapsed_s - at;
            if span > 0.05 {
                self.rate = (done - before) as f64 / span;
            }
        }
    }

    /// Adds a line to the log; one that is already there moves to the end and is counted.
    pub(super) fn say(&mut self, text: String) {
        tracing::info!(target: "overrule::run", "{text}");
        let earlier = self.log.iter().position(|line| line.text == text);
        let earlier = earlier.and_then(|at| self.log.remove(at));
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        let count = earlier.map_or(0, |line| line.count) + 1;
        self.log.push_back(LogLine { text, count });
    }
}

/// Notes that the weights behind a judge's model were replaced after this many votes, as a phrase
/// that follows its name.
pub fn replaced_weights(votes: usize) -> String {
    format!(
        "answers with different weights than for {} before: the model with this name was replaced; \
         use another judge name to keep the votes apart",
        counted(votes, "vote")
    )
}

/// Describes a rate in calls per second, or in seconds per call if it is low.
pub fn rate_in_words(per_s: f64) -> String {
    if per_s >= 9.5 {
        format!("{} calls/s", count(per_s.round() as u64))
    } else if per_s >= 0.95 {
        format!("{per_s:.1} calls/s")
    } else if per_s > 0.0 {
        format!("a call every {:.1} s", 1.0 / per_s)
    } else {
        "no call ended".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_lines_are_logged_once_with_their_count() {
        let mut progress = RunProgress::default();
        for line in ["a: timed out", "b stopped", "a: timed out", "a: timed out"] {
            progress.say(line.to_owned());
        }
        let log: Vec<String> = progress.log.iter().map(ToString::to_string).collect();
        assert_eq!(log, ["b stopped", "a: timed out ×3"]);
    }

    #[test]
    fn a_slow_judge_has_a_rate_from_its_first_answers_on() {
        let mut progress = RunProgress {
            phase: RunPhase::Judging,
            total: 100,
            judges: vec![JudgeProgress::default()],
            ..RunProgress::default()
        };
        progress.tick(Duration::from_secs(0));
        assert_eq!(progress.rate_words(), "none has ended yet");
        for call in 1..=20 {
            for part in 0..50 {
                progress.tick(Duration::from_millis(25_000 * (call - 1) + 500 * part));
            }
            progress.judges[0].votes += 1;
        }
        progress.tick(Duration::from_secs(500));
        assert_eq!(progress.rate_words(), "a call every 25.0 s");
        assert!((progress.eta_s().unwrap() - 80.0 * 25.0).abs() < 1.0);
    }

    #[test]
    fn a_rate_is_told_in_the_unit_that_suits_it() {
        for (per_s, words) in [
            (450.4, "450 calls/s"),
            (2.0, "2.0 calls/s"),
            (0.2, "a call every 5.0 s"),
            (0.0, "no call ended"),
        ] {
            assert_eq!(rate_in_words(per_s), words);
        }
    }

    #[test]
    fn failures_are_grouped_by_cause_with_their_times() {
        let judge = |name: &str| JudgeProgress {
            name: name.to_owned(),
            ..JudgeProgress::default()
        };
        let mut progress = RunProgress {
            judges: vec![judge("x"), judge("y")],
            ..RunProgress::default()
        };
        assert!(progress.failures_by_cause().is_empty());
        for (at, judge, cause) in [
            (2.0, 0, FailureCause::TimedOut),
            (3.0, 1, FailureCause::RateLimited),
            (9.0, 0, FailureCause::RateLimited),
            (12.0, 1, FailureCause::RateLimited),
        ] {
            progress.elapsed_s = at;
            progress.failed(judge, &CallError::new(cause, format!("said at {at}")));
        }
        let [first, second] = progress.failures_by_cause().try_into().unwrap();
        assert_eq!((first.cause, first.count), (FailureCause::RateLimited, 3));
        assert_eq!((first.times.first_s, first.times.last_s), (3.0, 12.0));
        assert_eq!(first.judges, [("x", 1), ("y", 2)]);
        assert_eq!(first.message, "said at 9");
        assert_eq!((second.cause, second.count), (FailureCause::TimedOut, 1));
        assert_eq!(progress.failures(), 4);
    }

    #[test]
    fn there_is_a_rate_only_while_judges_are_called() {
        let mut progress = RunProgress {
            phase: RunPhase::Judging,
            total: 10,
            judges: vec![JudgeProgress::default()],
            ..RunProgress::default()
        };
        progress.tick(Duration::from_secs(1));
        progress.judges[0].votes = 4;
        progress.tick(Duration::from_secs(2));
        assert_eq!((progress.rate, progress.eta_s()), (4.0, Some(1.5)));
        assert_eq!(progress.step(), None);
        progress.enter(RunPhase::Writing, 7);
        progress.tick(Duration::from_secs(3));
        assert_eq!((progress.rate, progress.eta_s()), (0.0, None));
        assert_eq!(progress.step(), Some(("writing", 0, 7)));
    }
}
