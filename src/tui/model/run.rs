//! The run that goes on, or the last one.

use crate::app::annotate::pair_question::PairQuestion;
use crate::app::annotate::progress::RunProgress;
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::store::last_run::LastRun;
use std::collections::VecDeque;

/// What a run is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunScope {
    #[default]
    Project,
    Query(QueryKey),
    /// The same over the project or one query, calls that failed too.
    Retry(Option<QueryKey>),
    Pair(PairQuestion),
}

impl RunScope {
    /// The same queries, calls that failed too; `None` where such calls are among what is asked already, or none is asked twice.
    pub fn with_failed(&self) -> Option<Self> {
        match self {
            Self::Project => Some(Self::Retry(None)),
            Self::Query(query) => Some(Self::Retry(Some(*query))),
            Self::Retry(_) | Self::Pair(_) => None,
        }
    }
}

#[derive(Debug, Default)]
pub struct RunScreen {
    /// The latest progress, of the last run where none is going on.
    pub progress: Option<RunProgress>,
    /// The progress of the run before the one that goes on.
    pub earlier: Option<RunProgress>,
    /// What the latest run that asked something did, where this session has had none: `None` until it has been looked up, then `Some(None)`
    /// where there was none.
    pub last: Option<Option<Box<LastRun>>>,
    pub running: bool,
    /// What the run is about.
    pub scope: RunScope,
    /// What is being priced, so that a run on it may begin.
    pub wanted: RunScope,
    /// The pair that is being priced because judges are to be asked about it.
    pub asking: Option<(QueryKey, Pair)>,
    /// Judges of the whole ensemble that were dropped before a single pair was asked about.
    pub dropped_before: u64,
    pub control: RunControl,
    /// How many calls ended in each second.
    pub pace: CallPace,
    pub ended: Option<String>,
    /// The judge that is dropped or taken back on a key.
    pub chosen_judge: usize,
    /// First line of the log that is shown, from the end.
    pub log_scroll: usize,
}

/// Seconds of a run that are remembered.
const REMEMBERED: usize = 240;

/// How many calls ended in each of the latest seconds of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPace {
    per_second: VecDeque<u64>,
    /// The second that the last entry is of.
    second: u64,
    done: usize,
}

impl CallPace {
    /// Takes in that so many calls have ended so many seconds after the run began; fewer than before begin another run.
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

    /// The latest seconds, oldest first, without the one that is going on.
    pub fn latest(&self, seconds: usize) -> Vec<u64> {
        let whole = self.per_second.len().saturating_sub(1);
        let all = self.per_second.iter().take(whole);
        all.skip(whole.saturating_sub(seconds)).copied().collect()
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
