//! The one caller of paid services: every attempt of a vote, a pick or an embedding is admitted, written down, sent,
//! charged and, where that helps, made again by the `worker` of its service.
//!
//! A worker owns one service's queue of calls. Each attempt, the first and every later one, passes the same gate: a place
//! in the [`window`], the limits a minute and what was learnt of them ([`pace`]), and the `health` of the server. Money
//! is set aside before and charged after ([`budget`]); the row of the attempt is in the project before it is sent
//! (`ledger`).

pub mod budget;
pub(crate) mod call_ledger;
pub(crate) mod gate;
pub(crate) mod health;
pub mod pace;
pub(crate) mod question;
pub mod window;
pub(crate) mod worker;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
