//! What can be changed while calls are made: pause, stop, pace, budget, dropped judges.

use std::time::Duration;

/// How long calls in flight may still run after a cancel: they have been paid for.
pub const GRACE: Duration = Duration::from_secs(15);

/// What can be changed while calls are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunControl {
    /// No new call while true.
    pub paused: bool,
    /// End now: calls in flight have [`RunControl::grace`] to finish, and nothing else is begun.
    pub cancelled: bool,
    /// How long calls in flight may still run after a cancel.
    pub grace: Duration,
    /// Calls in flight at most, of each service.
    pub concurrency: usize,
    /// New calls a second at most, over all services; `None` for no limit.
    pub pace: Option<f64>,
    /// Dollars that the project may have spent in all; `None` for no limit.
    pub budget_usd: Option<f64>,
    /// Judges that make no call for now, one bit each, by their place in the ensemble.
    pub dropped: u64,
}

impl RunControl {
    /// Whether the judge at this place makes no call for now.
    pub fn is_dropped(&self, judge_index: usize) -> bool {
        judge_index < 64 && self.dropped & (1 << judge_index) != 0
    }

    /// Drops the judge at this place, or takes it back.
    pub fn toggle(&mut self, judge_index: usize) {
        if judge_index < 64 {
            self.dropped ^= 1 << judge_index;
        }
    }

    /// Ends everything without waiting for the calls in flight for longer than this.
    #[cfg(test)]
    pub fn stop_within(&mut self, grace: Duration) {
        (self.cancelled, self.grace) = (true, grace);
    }

    /// Ends everything; a second time, without waiting for the calls in flight.
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
            dropped: 0,
        }
    }
}
