//! Settings that can change during a run: pause, stop, pace, budget and dropped judges.

use crate::domain::judge_set::JudgeSet;
use std::time::Duration;

/// How long calls in flight may keep running after a cancel, since they are paid for anyway.
pub const GRACE: Duration = Duration::from_secs(15);

/// Settings that can change while calls are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunControl {
    /// Start no new calls while true.
    pub paused: bool,
    /// Stop now: calls in flight have [`RunControl::grace`] to finish, and no new calls start.
    pub cancelled: bool,
    /// How long calls in flight may keep running after a cancel.
    pub grace: Duration,
    /// Maximum number of calls in flight per service.
    pub concurrency: usize,
    /// Maximum number of new calls per second over all services; `None` for no limit.
    pub pace: Option<f64>,
    /// Maximum total spending of the project in dollars; `None` for no limit.
    pub budget_usd: Option<f64>,
    /// Judges that make no calls for now.
    pub dropped: JudgeSet,
}

impl RunControl {
    /// Stops the run and waits at most `grace` for the calls in flight.
    #[cfg(test)]
    pub fn stop_within(&mut self, grace: Duration) {
        (self.cancelled, self.grace) = (true, grace);
    }

    /// Stops the run. A second call stops waiting for the calls in flight.
    pub fn stop(&mut self) {
        if self.cancelled {
            self.grace = Duration::ZERO;
        }
        self.cancelled = true;
    }
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            paused: false,
            cancelled: false,
            grace: GRACE,
            concurrency: 256,
            pace: None,
            budget_usd: None,
            dropped: JudgeSet::EMPTY,
        }
    }
}
