//! Decides when the next call may begin: per-minute limits set by the user, limits in the
//! provider's headers, the rate learned from refusals, and waits that the provider asks for.
//!
//! Times are arguments so that tests need not wait.

use crate::judge::{JudgeLimits, RateLimits};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// The bucket of a user-set limit holds at most this much time's worth of calls, so that a whole
/// minute's allowance is not spent at once.
const BURST: Duration = Duration::from_secs(5);
/// The wait after a refusal that names none.
const UNNAMED: Duration = Duration::from_secs(1);
/// Maximum wait, whatever a header says.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// A run does not wait for a provider that asks for a longer wait than this.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(600);
/// Number of latest calls, in the order in which they began, used to tell a limit from sporadic
/// refusals. The order in which they end is useless because refusals return sooner than answers.
const RECENT: u64 = 16;
/// This many refusals among them indicate a limit.
const LIMITED: usize = 12;
/// This many refusals in a row also indicate a limit.
const IN_A_ROW: u64 = 8;
/// If refusals lower the learned rate to this share of its first value, they are not caused by a
/// limit, and the rate is dropped.
const NO_LIMIT: f64 = 0.4;
/// Share by which an admitted call raises the learned rate. It grows with the number of calls since
/// the last refusal, up to `FASTER`.
const RAISE: f64 = 0.01;
const FASTER: f64 = 0.1;
/// Number of admitted calls without a refusal after which the rate rises twice as fast.
const CALM: f64 = 20.0;
/// A refused call lowers the rate to this share of the admitted rate.
const LOWER: f64 = 0.9;

/// A token bucket.
#[derive(Clone, Debug)]
struct Bucket {
    per_s: f64,
    room: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    fn new(per_minute: u64, room_s: f64, now: Instant) -> Self {
        let per_s = per_minute as f64 / 60.0;
        let room = (per_s * room_s).max(1.0);
        Self {
            per_s,
            room,
            level: room,
            at: now,
        }
    }

    /// How long until `amount` may be taken. An amount larger than the bucket waits for a full
    /// bucket and leaves a debt.
    fn wait(&self, amount: f64, now: Instant) -> Duration {
        let short = amount.min(self.room) - self.level_at(now);
        if short <= 0.0 {
            return Duration::ZERO;
        }
        if self.per_s <= 0.0 {
            return LONGEST;
        }
        Duration::from_secs_f64((short / self.per_s).min(LONGEST.as_secs_f64()))
    }

    fn take(&mut self, amount: f64, now: Instant) {
        self.level = self.level_at(now) - amount;
        self.at = now;
    }

    fn set(&mut self, level: f64, now: Instant) {
        (self.level, self.at) = (level.min(self.room), now);
    }

    fn level_at(&self, now: Instant) -> f64 {
        let flowed = now.saturating_duration_since(self.at).as_secs_f64() * self.per_s;
        (self.level + flowed).min(self.room)
    }
}

/// The limit learned from refusals.
#[derive(Clone, Copy, Debug)]
enum LearnedLimit {
    /// No limit was found.
    Nothing,
    /// A limit was found at `since`. Calls from number `from` on are admitted in growing numbers
    /// until one is refused.
    Probing {
        since: Instant,
        from: u64,
        admitted: u32,
        wait: Duration,
    },
    /// Calls per second that the provider admits, the value first found, and the outcome of the
    /// calls since the last change.
    Rate {
        per_s: f64,
        found: f64,
        since: Instant,
        from: u64,
        admitted: u32,
        refused_in_row: u32,
    },
}

/// Decides when the next call may begin.
#[derive(Clone, Debug)]
pub struct Pace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    told_requests: Option<Bucket>,
    told_tokens: Option<Bucket>,
    learned: LearnedLimit,
    /// Number of calls begun so far, which is also the number of the next call.
    begun: u64,
    /// Numbers of the latest refused calls.
    refused: BTreeSet<u64>,
    /// No call begins before this time, because the provider asked for a wait or refused
    /// everything.
    hold: Option<Instant>,
    /// When the learned rate allows the next call.
    next: Option<Instant>,
}

impl Pace {
    /// Creates a pace with the user's per-minute limits for a service.
    pub fn new(limits: JudgeLimits, now: Instant) -> Self {
        let bucket = |rate| Bucket::new(rate, BURST.as_secs_f64(), now);
        Self {
            requests: limits.requests_per_minute.map(bucket),
            tokens: limits.tokens_per_minute.map(bucket),
            told_requests: None,
            told_tokens: None,
            learned: LearnedLimit::Nothing,
            begun: 0,
            refused: BTreeSet::new(),
            hold: None,
            next: None,
        }
    }

    /// When a call that needs `tokens` may begin.
    pub fn ready(&self, tokens: u64, now: Instant) -> Instant {
        let of = |bucket: &Option<Bucket>, amount: f64| {
            bucket
                .as_ref()
                .map_or(now, |bucket| now + bucket.wait(amount, now))
        };
        let buckets = [
            of(&self.requests, 1.0),
            of(&self.told_requests, 1.0),
            of(&self.tokens, tokens as f64),
            of(&self.told_tokens, tokens as f64),
        ];
        let waits = [self.hold, self.next].into_iter().flatten();
        buckets.into_iter().chain(waits).fold(now, Instant::max)
    }

    /// Maximum number of calls in flight while probing a limit.
    pub fn places(&self) -> Option<usize> {
        match self.learned {
            LearnedLimit::Probing { admitted, .. } => Some(admitted as usize + 1),
            _ => None,
        }
    }

    /// Whether the provider's headers told a limit.
    pub(crate) fn is_told(&self) -> bool {
        self.told_requests.is_some() || self.told_tokens.is_some()
    }

    pub fn is_limited(&self) -> bool {
        !matches!(self.learned, LearnedLimit::Nothing)
    }

    /// Calls per second learned from refusals.
    pub fn learned_per_s(&self) -> Option<f64> {
        match self.learned {
            LearnedLimit::Rate { per_s, .. } => Some(per_s),
            _ => None,
        }
    }

    /// Records the start of a call that needs `tokens` and returns its number.
    pub fn begin(&mut self, tokens: u64, now: Instant) -> u64 {
        for (bucket, amount) in [
            (&mut self.requests, 1.0),
            (&mut self.told_requests, 1.0),
            (&mut self.tokens, tokens as f64),
            (&mut self.told_tokens, tokens as f64),
        ] {
            if let Some(bucket) = bucket {
                bucket.take(amount, now);
            }
        }
        if let LearnedLimit::Rate { per_s, since, .. } = &mut self.learned {
            // Time without pending calls or without room in the window does not count, since
            // nothing could be admitted.
            if let Some(idle) = self.next.and_then(|next| now.checked_duration_since(next)) {
                *since += idle;
            }
            // Make up for a slight delay, but not for a long wait.
            let gap = Duration::from_secs_f64((1.0 / per_s.max(1e-3)).min(LONGEST.as_secs_f64()));
            let from = self
                .next
                .map_or(now, |next| next.max(now - gap.min(UNNAMED)));
            self.next = Some(from + gap);
        }
        self.begun += 1;
        self.begun - 1
    }

    /// Lets no call begin before `until`.
    fn hold_until(&mut self, until: Instant) {
        self.hold = Some(self.hold.map_or(until, |hold| hold.max(until)));
    }

    /// How long no call may begin because the provider asked for a wait or refused everything.
    pub fn held(&self, now: Instant) -> Option<Duration> {
        self.hold
            .and_then(|hold| hold.checked_duration_since(now))
            .filter(|left| !left.is_zero())
    }

    /// Records an answer to the call with this number.
    pub fn answered(&mut self, number: u64) {
        match &mut self.learned {
            LearnedLimit::Nothing => {}
            LearnedLimit::Probing { from, admitted, .. } => *admitted += u32::from(number >= *from),
            LearnedLimit::Rate {
                per_s,
                from,
                admitted,
                refused_in_row,
                ..
            } => {
                if number >= *from {
                    *admitted += 1;
                }
                *refused_in_row = 0;
                let calm = f64::from(*admitted) / CALM;
                *per_s *= 1.0 + (RAISE * (1.0 + calm * calm)).min(FASTER);
            }
        }
    }

    /// Records that the call with this number was refused because of a limit; `wait` is the wait
    /// that the provider asked for.
    pub fn refused(&mut self, number: u64, wait: Option<Duration>, now: Instant) {
        let named = wait.unwrap_or(UNNAMED).min(LONGEST);
        match self.learned {
            LearnedLimit::Nothing => {
                if self.meets_limit(number) {
                    self.probe(named, now);
                }
            }
            // The refusal of an earlier call carries no new information.
            LearnedLimit::Probing { from, .. } | LearnedLimit::Rate { from, .. }
                if number < from => {}
            LearnedLimit::Probing {
                since,
                from,
                admitted: 0,
                wait,
            } => {
                // Still closed: double the wait each time, unless the provider asks for more.
                let wait = named.max((wait * 2).min(Duration::from_secs(60)));
                self.learned = LearnedLimit::Probing {
                    since,
                    from,
                    admitted: 0,
                    wait,
                };
                self.hold_until(now + wait);
            }
            LearnedLimit::Probing {
                since, admitted, ..
            } => {
                let seconds = now.saturating_duration_since(since).as_secs_f64();
                let per_s = f64::from(admitted) / seconds.max(1e-3);
                self.rate(per_s, per_s, 0, now);
            }
            LearnedLimit::Rate { refused_in_row, .. } if refused_in_row >= 2 => {
                self.probe(named, now)
            }
            LearnedLimit::Rate {
                per_s,
                found,
                since,
                admitted,
                refused_in_row,
                ..
            } => {
                let seconds = now.saturating_duration_since(since).as_secs_f64();
                let admitted_per_s = match admitted {
                    4.. => f64::from(admitted) / seconds.max(1e-3),
                    _ => per_s,
                };
                let lower = LOWER * per_s.min(admitted_per_s);
                if lower < NO_LIMIT * found {
                    self.refused.clear();
                    (self.learned, self.next) = (LearnedLimit::Nothing, None);
                } else {
                    self.rate(lower, found, refused_in_row + 1, now);
                }
            }
        }
    }

    /// Whether this refusal and the ones before it indicate a limit.
    fn meets_limit(&mut self, number: u64) -> bool {
        self.refused.insert(number);
        if self.refused.len() > 8 * RECENT as usize {
            self.refused.pop_first();
        }
        let of_latest = |calls: u64| {
            self.refused
                .range((number + 1).saturating_sub(calls)..=number)
        };
        of_latest(IN_A_ROW).count() >= IN_A_ROW as usize || of_latest(RECENT).count() >= LIMITED
    }

    fn probe(&mut self, wait: Duration, now: Instant) {
        self.learned = LearnedLimit::Probing {
            since: now,
            from: self.begun,
            admitted: 0,
            wait,
        };
        self.refused.clear();
        self.next = None;
        self.hold_until(now + wait);
    }

    fn rate(&mut self, per_s: f64, found: f64, refused_in_row: u32, now: Instant) {
        self.learned = LearnedLimit::Rate {
            per_s,
            found,
            since: now,
            from: self.begun,
            admitted: 0,
            refused_in_row,
        };
        self.next = Some(now + Duration::from_secs_f64((1.0 / per_s.max(1e-3)).min(60.0)));
    }

    /// Reads the remaining quota from a provider's response. The provider may not have counted
    /// `in_flight` calls of `tokens` each yet.
    pub fn hear(&mut self, limits: &RateLimits, in_flight: usize, tokens: u64, now: Instant) {
        let told =
            |bucket: &mut Option<Bucket>, limit: Option<u64>, left: Option<u64>, out: f64| {
                let (Some(limit), Some(left)) = (limit.filter(|limit| *limit > 0), left) else {
                    return;
                };
                let bucket = bucket.get_or_insert_with(|| Bucket::new(limit, 60.0, now));
                if (bucket.room - limit as f64).abs() > 0.5 {
                    *bucket = Bucket::new(limit, 60.0, now);
                }
                bucket.set(left as f64 - out, now);
            };
        let out = in_flight as f64;
        told(
            &mut self.told_requests,
            limits.requests_limit,
            limits.requests_remaining,
            out,
        );
        told(
            &mut self.told_tokens,
            limits.tokens_limit,
            limits.tokens_remaining,
            out * tokens as f64,
        );
        // The reset time says when the whole quota is back. If none is left, it is enough to wait
        // for one call's share.
        let spread = |reset: Duration, limit: Option<u64>, need: u64| {
            let reset = reset.min(LONGEST);
            match limit {
                Some(limit) if limit > 0 => reset.mul_f64((need as f64 / limit as f64).min(1.0)),
                _ => reset,
            }
        };
        let mut hold = |wait: Duration| {
            // Do not trust headers alone for a long wait: if they are right, the next call is
            // refused, and the refusal gives the reason.
            if wait <= TOO_LONG {
                self.hold_until(now + wait);
            }
        };
        if let (Some(0), Some(reset)) = (limits.requests_remaining, limits.requests_reset) {
            hold(spread(reset, limits.requests_limit, 1));
        }
        if let (Some(left), Some(reset)) = (limits.tokens_remaining, limits.tokens_reset)
            && left < tokens
        {
            hold(spread(reset, limits.tokens_limit, tokens - left));
        }
    }
}

/// Back-off before attempt `attempt` + 1 if the provider names no wait: between zero and a bound
/// that doubles from half a second up to a minute (full jitter). `draw` is uniform in 0..1.
pub fn back_off(attempt: u32, draw: f64) -> Duration {
    let bound = 0.5 * f64::from(2u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    Duration::from_secs_f64(bound.min(60.0) * draw.clamp(0.0, 1.0))
}

/// Slightly lengthens a wait that the provider asks for, so that calls do not all return at once.
/// `draw` is uniform in 0..1.
pub fn named(wait: Duration, draw: f64) -> Duration {
    let wait = wait.min(LONGEST);
    wait + wait
        .min(Duration::from_secs(10))
        .mul_f64(0.1 * draw.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
