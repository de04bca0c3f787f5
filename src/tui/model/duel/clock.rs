//! How long a person was at a task: time without a key counts up to a point.

use std::time::{Duration, Instant};

/// Time since the last event that was stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActiveClock {
    /// The last key, or when the texts came into sight; `None` while the task is not in sight.
    since: Option<Instant>,
    active: Duration,
}

impl ActiveClock {
    /// The task is in sight from now on.
    pub fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// A key was pressed with the task in sight. Of a pause, `idle` counts at most.
    pub fn touch(&mut self, now: Instant, idle: Duration) {
        if let Some(since) = self.since.replace(now) {
            self.active += now.saturating_duration_since(since).min(idle);
        } else {
            self.since = None;
        }
    }

    /// The task goes out of sight; what was not counted by a key is not counted.
    pub fn stop(&mut self) {
        self.since = None;
    }

    /// The active time in milliseconds, which starts again.
    pub fn take(&mut self) -> i64 {
        let active = std::mem::take(&mut self.active);
        i64::try_from(active.as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_between_keys_and_idle_time_up_to_a_minute() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let idle = Duration::from_secs(60);
        let mut clock = ActiveClock::default();
        clock.touch(at(5), idle);
        assert_eq!(clock.take(), 0, "nothing was in sight");
        clock.start(at(10));
        clock.start(at(12));
        clock.touch(at(14), idle);
        clock.touch(at(514), idle);
        assert_eq!(clock.take(), 64_000);
        clock.stop();
        clock.touch(at(600), idle);
        assert_eq!(clock.take(), 0);
        clock.start(at(700));
        clock.touch(at(701), idle);
        assert_eq!(clock.take(), 1_000);
    }
}
