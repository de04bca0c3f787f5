//! How far a run is: counts, rate, time left, spend.

use crate::app::failure_tally::FailureTally;
use crate::app::wording::counted;
use crate::domain::answering_models::AnsweringModel;
use crate::domain::judge_report::{AnswerFinding, BothOrders, PositionCounts};
use crate::domain::number_words::count;
use crate::domain::spend::{Spend, serialize_told_usd};
use crate::judge::{CallError, FailureCause, JudgeSpec, Usage};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

const LOG_LINES: usize = 200;
/// The rate is measured over this much of the past.
const RATE_WINDOW: Duration = Duration::from_secs(5);
/// Calls that a rate rests on at least, where so many have ended.
const RATE_CALLS: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// Choosing pairs and counting what is there.
    #[default]
    Planning,
    Judging,
    /// Fitting queries again whose numbers have changed: those left unfinished, and all where the noise of the battles was
    /// estimated anew.
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

/// One judge's share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeProgress {
    pub name: String,
    /// Whether it is one of the embedded lexical judges.
    pub offline: bool,
    pub total: usize,
    /// Calls ended with a vote.
    pub votes: usize,
    /// Calls ended without one.
    pub failures: usize,
    /// Why they did, and how often.
    #[serde(flatten)]
    pub tally: FailureTally,
    pub usage: Usage,
    /// What its calls cost.
    #[serde(flatten)]
    pub spend: Spend,
    /// Sum of latencies in milliseconds.
    pub latency_ms: f64,
    /// Calls in flight now.
    pub in_flight: usize,
    /// Calls in flight at most, as the judge is used now.
    pub window: usize,
    /// Calls a minute that the provider admits, where refusals have taught it.
    pub learned_per_minute: Option<f64>,
    /// Times a call was made again.
    pub retries: usize,
    /// Votes taken over from an identical call made before.
    pub reused: usize,
    /// Seconds for which no call is made because of the provider or its server.
    pub held_s: Option<f64>,
    pub waiting_for: Option<String>,
    /// Why the judge makes no more calls.
    pub stopped: Option<String>,
    /// Queries that it skipped because its calls about them kept failing.
    pub skipped_queries: Vec<SkippedQuery>,
    pub dropped: bool,
    /// What its votes name, those of earlier runs on the same queries included.
    pub answers: PositionCounts,
    /// What it says of pairs that it saw in both orders, those of earlier runs on the same queries included.
    pub both_orders: BothOrders,
    /// What they show to be wrong with the judge, in words that go on after its name.
    pub finding: Option<String>,
    /// The models that its votes name, those of earlier runs and other queries included.
    pub models: Vec<AnsweringModel>,
    /// Votes that were cast with other weights than those it answers with now.
    pub votes_by_other_weights: usize,
    /// What was found out about its server, in words that go on after its name.
    pub server_notes: Vec<&'static str>,
}

impl JudgeProgress {
    /// Counts a call that ended without a vote.
    pub fn failed(&mut self, error: &CallError) {
        self.failures += 1;
        self.tally.add(error);
    }

    /// Takes in the model that an answer names; returns whether it is new.
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

    /// That its weights were replaced, in words that go on after its name.
    pub fn replaced_words(&self) -> Option<String> {
        (self.votes_by_other_weights > 0).then(|| replaced_weights(self.votes_by_other_weights))
    }
}

/// When calls failed of one cause, in seconds since the run began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureTimes {
    pub first_s: f64,
    pub last_s: f64,
}

/// The failures of one cause, with how many each judge had.
#[derive(Clone, Debug, PartialEq)]
pub struct FailuresOfCause<'a> {
    pub cause: FailureCause,
    pub count: usize,
    pub times: FailureTimes,
    pub judges: Vec<(&'a str, usize)>,
    /// The message of the first failure of the first judge.
    pub message: &'a str,
}

/// A run's state at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunProgress {
    pub phase: RunPhase,
    /// Whether new calls are held back.
    pub paused: bool,
    pub queries_planned: usize,
    pub queries: usize,
    /// Queries whose calls have all ended.
    pub queries_done: usize,
    /// Queries that the phase has been through, where it is [`RunPhase::Refitting`] or [`RunPhase::Writing`].
    pub step_done: usize,
    /// Queries that it has to go through.
    pub step_total: usize,
    pub battles: usize,
    /// Votes that were there before the run and that it did not ask for again.
    pub already: usize,
    pub total: usize,
    /// What the project had spent before this run.
    #[serde(rename = "spent_before_usd", serialize_with = "serialize_told_usd")]
    pub spent_before: Spend,
    /// Seconds since the run began.
    pub elapsed_s: f64,
    /// Calls a second over the last few seconds; 0 unless judges are being called.
    pub rate: f64,
    /// One entry a judge, in ensemble order.
    pub judges: Vec<JudgeProgress>,
    /// When calls failed, by cause.
    #[serde(skip)]
    pub failed_at: BTreeMap<FailureCause, FailureTimes>,
    /// What happened, latest last: failures and turning points.
    #[serde(skip)]
    pub log: VecDeque<String>,
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

    /// The failures by cause, the most frequent first; only judges that had some.
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

    /// Begins a phase that goes through so many queries.
    pub fn enter(&mut self, phase: RunPhase, queries: usize) {
        self.phase = phase;
        self.step_done = 0;
        self.step_total = queries;
        self.rate = 0.0;
    }

    /// What the run is going through query by query, in a word, with the queries done and all of them; `None` while it is
    /// calling judges, and when it is over.
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

    /// Whether the votes of a language model say nothing about the documents. An embedded judge may well have nothing to go by
    /// in a dataset.
    pub fn has_void_judge(&self) -> bool {
        let models = self.judges.iter().filter(|judge| !judge.offline);
        let mut findings = models.filter_map(|judge| judge.answers.finding());
        findings.any(AnswerFinding::is_void)
    }

    /// The calls that were not made because a person dropped their judges, with those judges' names.
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

    /// What this run has spent.
    pub fn spend(&self) -> Spend {
        self.judges.iter().map(|judge| judge.spend).sum()
    }

    /// How quickly calls end, in words; that none has yet, where that is so.
    pub fn rate_words(&self) -> String {
        match self.done() {
            0 => "none has ended yet".to_owned(),
            _ => rate_in_words(self.rate),
        }
    }

    /// Seconds left at the current rate, if there is one.
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
        // A judge that answers once a minute has a rate too: some calls are looked back at, however long they took.
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

    pub(super) fn say(&mut self, line: String) {
        tracing::info!(target: "overrule::run", "{line}");
        if self.log.len() == LOG_LINES {
            self.log.pop_front();
        }
        self.log.push_back(line);
    }
}

/// That the weights behind a judge's model were replaced after so many votes, in words that go on after its name.
pub fn replaced_weights(votes: usize) -> String {
    format!(
        "answers with other weights than those of {} before: the model of this name was replaced; another judge name \
         keeps the votes apart",
        counted(votes, "vote")
    )
}

/// Calls a second in words; where there are few, the seconds from one to the next.
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
