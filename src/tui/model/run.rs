//! State of the current run, or of the last one.

use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PairQuestion;
use crate::app::annotate::progress::RunProgress;
use crate::client::RunControl;
use crate::domain::judge_set::JudgeSet;
use crate::store::corpus::QueryKey;
use crate::store::last_run::LastRun;
use crate::tui::widgets::toast::Level;
use std::collections::VecDeque;

/// Scope of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunScope {
    #[default]
    Project,
    Query(QueryKey),
    /// Chosen queries, each once.
    Queries(Vec<QueryKey>),
    /// The project or one query, including failed calls.
    Retry(Option<QueryKey>),
    Pair(PairQuestion),
}

impl RunScope {
    /// The same queries, including failed calls; `None` if they are already included, if nothing is
    /// asked twice, or for chosen queries, whose failed calls are asked from the list or in a query.
    pub fn with_failed(&self) -> Option<Self> {
        match self {
            Self::Project => Some(Self::Retry(None)),
            Self::Query(query) => Some(Self::Retry(Some(*query))),
            Self::Queries(_) | Self::Retry(_) | Self::Pair(_) => None,
        }
    }
}

/// How a run without missing votes ends.
pub(crate) const ALL_VOTES: &str = "every battle has all its votes";

/// How a run ended: in full, and as a badge in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    pub level: Level,
    pub words: String,
    pub badge: &'static str,
}

#[derive(Debug, Default)]
pub struct RunState {
    /// The latest progress; that of the last run if none is in progress.
    pub progress: Option<RunProgress>,
    /// The progress of the run before the current one.
    pub earlier: Option<RunProgress>,
    /// Summary of the latest run that asked anything, if there was none in this session: `None`
    /// until it has been read, and `Some(None)` if there was none.
    pub last: Option<Option<Box<LastRun>>>,
    /// The cost of what a run would ask now, or why it is not known; `None` until it has been
    /// computed.
    pub next: Option<Result<Box<CostEstimate>, String>>,
    pub running: bool,
    /// Scope of the run.
    pub scope: RunScope,
    /// The scope being priced, so that a run can start.
    pub wanted: RunScope,
    /// Judges of the whole ensemble that were dropped before a single pair was asked about.
    pub dropped_before: JudgeSet,
    pub control: RunControl,
    /// Number of calls that ended in each second.
    pub pace: CallPace,
    pub ended: Option<RunEnd>,
    /// Index of the judge to drop or restore on a key press.
    pub chosen_judge: usize,
    /// Notes of features about the judges.
    pub notes: Vec<String>,
    /// First visible line of the log, counted from the end.
    pub log_scroll: usize,
}

/// Number of seconds of a run to remember.
const REMEMBERED: usize = 240;

/// Number of calls that ended in each of the latest seconds of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPace {
    per_second: VecDeque<u64>,
    /// The second that the last entry belongs to.
    second: u64,
    done: usize,
}

impl CallPace {
    /// Records that `done` calls have ended `elapsed_s` seconds after the start of the run; a
    /// smaller number than before starts a new run.
    pub fn add(&mut self, elapsed_s: f64, done: usize) {
        let second = elapsed_s.max(0.0) as u64;
        if done < self.done || second < self.second || self.per_second.is_empty() {
            *self = Self {
                per_second: VecDeque::from([0]),
                second,
                done: done.min(self.done),
            };
        }
        let passed = usize::try_from(second - self.second).unwrap_or(REMEMBERED);
        self.per_second
            .extend(std::iter::repeat_n(0, passed.min(REMEMBERED)));
        if let Some(last) = self.per_second.back_mut() {
            *last += (done - self.done) as u64;
        }
        let surplus = self.per_second.len().saturating_sub(REMEMBERED);
        self.per_second.drain(..surplus);
        (self.second, self.done) = (second, done);
    }

    /// The latest seconds, oldest first, without the current one.
    pub fn latest(&self, seconds: usize) -> Vec<u64> {
        let whole = self.per_second.len().saturating_sub(1);
        self.per_second
            .iter()
            .take(whole)
            .skip(whole.saturating_sub(seconds))
            .copied()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_in_the_second_in_which_they_are_told() {
        let mut pace = CallPace::default();
        for (elapsed, done) in [(0.2, 1), (0.9, 3), (1.1, 4), (3.5, 9), (4.0, 9)] {
            pace.add(elapsed, done);
        }
        assert_eq!(pace.latest(10), [3, 1, 0, 5]);
        assert_eq!(pace.latest(2), [0, 5]);
        pace.add(1_000.0, 10);
        assert_eq!(pace.latest(1_000).len(), REMEMBERED - 1);
        pace.add(0.5, 2);
        assert!(pace.latest(10).is_empty());
    }
}
