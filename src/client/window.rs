//! Calls in flight: begun boldly, widened while answers come as quickly as before, narrowed by the share of refusals.
//!
//! Times are arguments, so that the laws can be tested without waiting.

use std::time::Duration;
use tokio::time::Instant;

/// Calls in flight that a service begins with.
pub const FIRST: usize = 64;
/// The window may grow this much ...
const GROWTH: f64 = 4.0;
/// ... in this time, however quick the answers are: a limit is then met by few calls at once.
const GROWTH_TIME: f64 = 0.5;
/// Places that an answer adds before the first sign of strain: few answers of a slow model let the window grow as quickly
/// as its time allows.
const QUICK: f64 = 7.0;
/// Places that an answer adds after it.
const STEADY: f64 = 0.25;
/// Answers this much slower than the quickest usual ones say that the server's queue grows.
const SLOWER: f64 = 2.0;
/// Weight of the newest latency in the running mean.
const NEWEST: f64 = 0.1;
/// Answers before the running mean says anything.
const SETTLED: u32 = 16;
/// Above this share of refusals the window grows no more in leaps.
const SOME: f64 = 0.1;
/// Above this share it is halved.
const MANY: f64 = 0.5;

/// Calls in flight at most. Never past the configured limit.
#[derive(Clone, Debug)]
pub struct Window {
    limit: usize,
    first: usize,
    size: f64,
    began: Option<Instant>,
    strained: bool,
    /// Answers and refusals since the share was last looked at.
    answered: u32,
    refused: u32,
    /// Mean latency now and at its best, in seconds, and answers so far.
    mean_s: f64,
    best_s: f64,
    seen: u32,
}

impl Window {
    /// A window that begins with `first` places; `adapts` is false for services on this machine's own cores.
    pub fn new(limit: usize, first: usize, adapts: bool) -> Self {
        let limit = limit.max(1);
        let first = if adapts { first.clamp(1, limit) } else { limit };
        Self {
            limit,
            first,
            size: first as f64,
            began: None,
            strained: false,
            answered: 0,
            refused: 0,
            mean_s: 0.0,
            best_s: f64::INFINITY,
            seen: 0,
        }
    }

    /// Calls in flight at most, now.
    pub fn size(&self) -> usize {
        (self.size as usize).clamp(1, self.limit)
    }

    /// Answers a second that all its places would bring, where that is known.
    pub(crate) fn per_s(&self) -> Option<f64> {
        (self.mean_s > 0.0).then(|| self.size() as f64 / self.mean_s)
    }

    /// Changes the configured limit.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.size = self.size.min(self.limit as f64).max(1.0);
    }

    /// A call begins.
    pub fn begin(&mut self, now: Instant) {
        self.began.get_or_insert(now);
    }

    /// An answer came.
    pub fn answered(&mut self, latency: Duration, now: Instant) {
        let seconds = latency.as_secs_f64();
        self.seen = self.seen.saturating_add(1);
        self.mean_s = match self.seen {
            1 => seconds,
            _ => self.mean_s + NEWEST * (seconds - self.mean_s),
        };
        if self.seen >= SETTLED {
            self.best_s = self.best_s.min(self.mean_s);
        }
        self.answered += 1;
        if self.mean_s <= SLOWER * self.best_s {
            self.size += if self.strained { STEADY } else { QUICK };
        }
        self.size = self.size.min(self.limit as f64).min(self.ramp(now));
        self.look(now);
    }

    /// The provider refused a call as too many.
    pub fn refused(&mut self, now: Instant) {
        self.refused += 1;
        self.look(now);
    }

    /// How large the window may be at most after this time.
    fn ramp(&self, now: Instant) -> f64 {
        let since = self.began.map_or(0.0, |began| {
            now.saturating_duration_since(began).as_secs_f64()
        });
        // Past a hundred growth times it is no bound any more.
        self.first as f64 * GROWTH.powf((since / GROWTH_TIME).min(100.0))
    }

    /// Follows the share of refusals, once a window of answers.
    fn look(&mut self, now: Instant) {
        let all = self.answered + self.refused;
        if all < (self.size() as u32).max(SETTLED) {
            return;
        }
        let share = f64::from(self.refused) / f64::from(all);
        (self.answered, self.refused) = (0, 0);
        if share > SOME {
            // Where growth begins again, it begins from here.
            (self.strained, self.began, self.first) = (true, Some(now), self.size());
        } else {
            self.strained = false;
        }
        if share > MANY {
            self.size = (self.size / 2.0).max(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn answers_widen_it_and_quick_ones_do_not_rush_it() {
        let start = Instant::now();
        let mut window = Window::new(450, FIRST, true);
        window.begin(start);
        for _ in 0..64 {
            window.answered(Duration::from_millis(50), after(start, 50));
        }
        assert!((64..80).contains(&window.size()), "{}", window.size());
        for _ in 0..64 {
            window.answered(Duration::from_millis(50), after(start, 1_500));
        }
        assert_eq!(window.size(), 450, "{}", window.size());
        for _ in 0..300 {
            window.answered(Duration::from_millis(50), after(start, 3_000));
        }
        assert_eq!(window.size(), 450);
    }

    #[test]
    fn sporadic_refusals_leave_it_and_many_halve_it() {
        let start = Instant::now();
        let mut window = Window::new(128, 128, true);
        window.begin(start);
        for at in 0..1_000u64 {
            match at % 5 {
                0 => window.refused(after(start, at)),
                _ => window.answered(Duration::from_millis(50), after(start, at)),
            }
        }
        assert_eq!(window.size(), 128);
        for at in 0..256 {
            window.refused(after(start, 1_000 + at));
        }
        assert!(
            window.size() <= 64 && window.size() >= 8,
            "{}",
            window.size()
        );
        for at in 0..800 {
            window.answered(Duration::from_millis(50), after(start, 3_000 + at));
        }
        assert_eq!(window.size(), 128, "it recovers");
    }

    #[test]
    fn a_server_whose_answers_slow_down_is_not_pressed_further() {
        let start = Instant::now();
        let mut window = Window::new(1_000, 8, true);
        window.begin(start);
        for at in 0..2_000u64 {
            // One call at a time: the more are in flight, the longer each takes.
            let latency = Duration::from_millis(10 * window.size() as u64);
            window.answered(latency, after(start, 10_000 + at * 10));
        }
        assert!(window.size() < 200, "{}", window.size());
    }

    #[test]
    fn judges_on_this_machine_have_all_their_places_at_once() {
        assert_eq!(Window::new(256, FIRST, false).size(), 256);
    }
}
