//! How far picks are, and how they ended.

use super::plan::PickPlan;
use crate::app::wording::counted;
use crate::domain::adjudication::{PickRecord, PickResult};
use crate::domain::number_words::count;
use crate::domain::spend::Spend;
use std::fmt::{self, Display};

/// What has come so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickProgress {
    /// Questions that are settled, of those that were to be asked.
    pub done: usize,
    pub all: usize,
    /// Settled by answers that break the rules.
    pub invalid: usize,
    /// Settled by a call that failed for good.
    pub failed: usize,
    /// What the project has spent on picks, earlier ones included.
    pub spent: Spend,
}

impl PickProgress {
    /// Of a plan none of whose questions has been asked.
    pub fn of(plan: &PickPlan) -> Self {
        Self {
            all: plan.calls(),
            ..Self::default()
        }
    }

    /// Takes an attempt in; `last` says whether its question is settled.
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
