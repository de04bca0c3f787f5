//! Progress and result of picks.

use super::plan::PickPlan;
use crate::app::text_format::counted;
use crate::domain::adjudication::{PickRecord, PickResult};
use crate::domain::number_words::count;
use crate::domain::spend::Spend;
use std::fmt::{self, Display};

/// Progress so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickProgress {
    /// Resolved questions, of those to be asked.
    pub done: usize,
    pub all: usize,
    /// Resolved by answers that break the rules.
    pub invalid: usize,
    /// Resolved by a call that failed for good.
    pub failed: usize,
    /// Spending of the project on picks, including earlier ones.
    pub spent: Spend,
}

impl PickProgress {
    /// The progress of a plan before its first question.
    pub fn of(plan: &PickPlan) -> Self {
        Self {
            all: plan.calls(),
            ..Self::default()
        }
    }

    /// Counts an attempt; `last` says whether its question is resolved.
    pub fn count(&mut self, record: &PickRecord, last: bool) {
        if !last {
            return;
        }
        self.done += 1;
        match record.result {
            PickResult::Slots(_) | PickResult::Verdicts(_) => {}
            PickResult::Invalid(_) => self.invalid += 1,
            PickResult::Failure(_) => self.failed += 1,
        }
    }
}

impl Display for PickProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}: {} invalid, {} failed, spent {}",
            count(self.done),
            counted(self.all, "question"),
            count(self.invalid),
            count(self.failed),
            self.spent.words()
        )
    }
}
