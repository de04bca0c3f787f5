//! How fast a judge may be asked: an adapting number of calls in flight, and calls and tokens a minute.
//!
//! Times are arguments, so that the laws can be tested without waiting.

use crate::judge::{JudgeLimits, RateLimits};
use std::time::{Duration, Instant};

/// Calls in flight that a network judge starts with.
const FIRST: usize = 8;
/// An answer this much slower than the usual one is a sign of strain.
const SLOW: f64 = 2.0;
/// Weight of the newest latency in the running mean.
const NEWEST: f64 = 0.1;
/// A bucket holds at most what flows in during this time, so that a minute's worth is not spent in one burst.
const BURST: Duration = Duration::from_secs(5);

/// Calls in flight: doubled a window until the first sign of strain, then one more a window, halved when a provider
/// says that it is too much. Never past the configured limit.
#[derive(Clone, Debug)]
pub struct Window {
    limit: usize,
    size: usize,
    strained: bool,
    good: usize,
    usual_s: Option<f64>,
    halved: Option<Instant>,
}

impl Window {
    /// A window for a judge; `adapts` is false for judges that share this machine.
    pub fn new(limit: usize, adapts: bool) -> Self {
        let limit = limit.max(1);
        Self {
            limit,
            size: if adapts { FIRST.min(limit) } else { limit },
            strained: false,
            good: 0,
            usual_s: None,
            halved: None,
        }
    }

    /// Calls in flight at most, now.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Changes the configured limit.
    pub fn set_limit(&mut self, limit: usize) {
        let limit = limit.max(1);
        if self.size == self.limit {
            self.size = limit;
        }
        self.limit = limit;
        self.size = self.size.min(limit);
    }

    /// An answer came.
    pub fn answered(&mut self, latency: Duration) {
        let seconds = latency.as_secs_f64();
        let usual = self.usual_s.unwrap_or(seconds);
        self.usual_s = Some(usual + NEWEST * (seconds - usual));
        if seconds > SLOW * usual && self.strained {
            return;
        }
        self.good += 1;
        if self.good >= self.size {
            self.good = 0;
            let wider = if self.strained {
                self.size + 1
            } else {
                self.size * 2
            };
            self.size = wider.min(self.limit);
        }
    }

    /// The provider said that it is too much. Calls that began before the last halving say nothing new.
    pub fn too_much(&mut self, began: Instant, now: Instant) {
        if self.halved.is_some_and(|halved| began < halved) {
            return;
        }
        self.halved = Some(now);
        self.strained = true;
        self.good = 0;
        self.size = (self.size / 2).max(1);
    }
}

/// A quantity that flows in steadily and is taken out in pieces.
#[derive(Clone, Debug)]
struct Bucket {
    per_s: f64,
    room: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    fn new(per_minute: u64, now: Instant) -> Self {
        let per_s = per_minute as f64 / 60.0;
        let room = (per_s * BURST.as_secs_f64()).max(1.0);
        Self {
            per_s,
            room,
            level: room,
            at: now,
        }
    }

    /// When `amount` may be taken. A piece larger than the bucket waits for a full one and leaves a debt.
    fn ready(&self, amount: f64, now: Instant) -> Instant {
        let level = self.level_at(now);
        let short = amount.min(self.room) - level;
        if short <= 0.0 {
            return now;
        }
        if self.per_s <= 0.0 {
            return now + Duration::from_secs(3600);
        }
        now + Duration::from_secs_f64((short / self.per_s).min(3600.0))
    }

    fn take(&mut self, amount: f64, now: Instant) {
        self.level = self.level_at(now) - amount;
        self.at = now;
    }

    fn level_at(&self, now: Instant) -> f64 {
        let flowed = now.saturating_duration_since(self.at).as_secs_f64() * self.per_s;
        (self.level + flowed).min(self.room)
    }
}

/// When the next call may begin.
#[derive(Clone, Debug)]
pub struct Pace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    hold: Option<Instant>,
}

impl Pace {
    /// What the user allows a judge a minute.
    pub fn new(limits: JudgeLimits, now: Instant) -> Self {
        Self {
            requests: limits
                .requests_per_minute
                .map(|rate| Bucket::new(rate, now)),
            tokens: limits.tokens_per_minute.map(|rate| Bucket::new(rate, now)),
            hold: None,
        }
    }

    /// When a call that needs `tokens` may begin.
    pub fn ready(&self, tokens: u64, now: Instant) -> Instant {
        let requests = self.requests.as_ref().map(|bucket| bucket.ready(1.0, now));
        let tokens = self
            .tokens
            .as_ref()
            .map(|bucket| bucket.ready(tokens as f64, now));
        [requests, tokens, self.hold]
            .into_iter()
            .flatten()
            .fold(now, Instant::max)
    }

    /// A call that needs `tokens` begins.
    pub fn begin(&mut self, tokens: u64, now: Instant) {
        if let Some(bucket) = &mut self.requests {
            bucket.take(1.0, now);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.take(tokens as f64, now);
        }
    }

    /// Nothing begins before `until`.
    pub fn hold_until(&mut self, until: Instant) {
        self.hold = Some(self.hold.map_or(until, |hold| hold.max(until)));
    }

    /// Until when nothing may begin, where a provider asked for that.
    pub fn held(&self, now: Instant) -> Option<Duration> {
        self.hold
            .and_then(|hold| hold.checked_duration_since(now))
            .filter(|left| !left.is_zero())
    }

    /// Takes in what a provider says about what is left. `tokens` is what a call needs.
    pub fn hear(&mut self, limits: &RateLimits, tokens: u64, now: Instant) {
        if let Some(wait) = limits.retry_after {
            self.hold_until(now + wait);
        }
        // A reset says when everything is back; with nothing left, one call's share of it is enough to wait for.
        let spread = |reset: Duration, limit: Option<u64>, need: u64| match limit {
            Some(limit) if limit > 0 => reset.mul_f64((need as f64 / limit as f64).min(1.0)),
            _ => reset,
        };
        if let (Some(0), Some(reset)) = (limits.requests_remaining, limits.requests_reset) {
            self.hold_until(now + spread(reset, limits.requests_limit, 1));
        }
        if let (Some(left), Some(reset)) = (limits.tokens_remaining, limits.tokens_reset)
            && left < tokens
        {
            self.hold_until(now + spread(reset, limits.tokens_limit, tokens - left));
        }
    }
}

/// How long to wait before attempt `attempt` + 1 when the provider does not say: anywhere between nothing and a bound that
/// doubles from half a second to a minute (full jitter). `draw` is uniform in 0..1.
pub fn back_off(attempt: u32, draw: f64) -> Duration {
    let bound = 0.5 * f64::from(2u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    Duration::from_secs_f64(bound.min(60.0) * draw.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(requests: Option<u64>, tokens: Option<u64>) -> JudgeLimits {
        JudgeLimits {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            ..JudgeLimits::default()
        }
    }

    #[test]
    fn a_window_grows_while_answers_are_quick_and_halves_once_a_strain() {
        let start = Instant::now();
        let mut window = Window::new(100, true);
        for _ in 0..8 {
            window.answered(Duration::from_millis(50));
        }
        assert_eq!(window.size(), 16);
        for _ in 0..500 {
            window.answered(Duration::from_millis(50));
        }
        assert_eq!(window.size(), 100);
        let later = start + Duration::from_secs(1);
        window.too_much(start, later);
        window.too_much(start, later);
        assert_eq!(window.size(), 50);
        window.too_much(later, later + Duration::from_secs(1));
        assert_eq!(window.size(), 25);
        for _ in 0..25 {
            window.answered(Duration::from_millis(50));
        }
        assert_eq!(window.size(), 26);
    }

    #[test]
    fn a_minute_never_takes_more_than_its_calls_and_one_burst() {
        let start = Instant::now();
        let mut pace = Pace::new(limits(Some(120), None), start);
        let (mut now, mut begun) = (start, 0);
        while now < start + Duration::from_secs(60) {
            now = pace.ready(0, now);
            pace.begin(0, now);
            begun += 1;
        }
        assert!((120..=131).contains(&begun), "{begun}");
    }

    #[test]
    fn a_provider_that_names_a_time_is_obeyed() {
        let now = Instant::now();
        let mut pace = Pace::new(limits(None, None), now);
        pace.hear(
            &RateLimits {
                retry_after: Some(Duration::from_secs(7)),
                ..RateLimits::default()
            },
            10,
            now,
        );
        assert_eq!(pace.ready(1, now), now + Duration::from_secs(7));
        assert_eq!(pace.held(now), Some(Duration::from_secs(7)));
        assert_eq!(pace.held(now + Duration::from_secs(8)), None);
    }

    proptest! {
        #[test]
        fn tokens_are_kept_to(rate in 600u64..600_000, sizes in prop::collection::vec(1u64..5_000, 1..80)) {
            let start = Instant::now();
            let mut pace = Pace::new(limits(None, Some(rate)), start);
            let (mut now, mut taken) = (start, 0u64);
            for size in sizes {
                now = pace.ready(size, now);
                pace.begin(size, now);
                taken += size;
                let allowed = rate as f64 / 60.0 * ((now - start).as_secs_f64() + BURST.as_secs_f64());
                prop_assert!(taken as f64 <= allowed + size as f64 + 1.0);
            }
        }

        #[test]
        fn back_off_stays_within_its_bounds(attempt in 0u32..40, draw in 0.0f64..1.0) {
            let wait = back_off(attempt, draw);
            prop_assert!(wait <= Duration::from_secs(60));
        }
    }
}
