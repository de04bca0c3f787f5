//! Measures a person's active time on a task: pauses without a key press count only up to a limit.

use std::time::{Duration, Instant};

/// Active time since the last stored event.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActiveClock {
    /// Time of the last key press, or when the texts became visible; `None` while the task is
    /// hidden.
    since: Option<Instant>,
    active: Duration,
}

impl ActiveClock {
    /// The task becomes visible.
    pub fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    /// A key was pressed while the task is visible. A pause counts for at most `idle`.
    pub fn touch(&mut self, now: Instant, idle: Duration) {
        if let Some(since) = self.since.replace(now) {
            self.active += now.saturating_duration_since(since).min(idle);
        } else {
            self.since = None;
        }
    }

    /// The task is hidden. Time since the last key press is not counted.
    pub fn stop(&mut self) {
        self.since = None;
    }

    /// The active time in milliseconds, which is reset.
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
