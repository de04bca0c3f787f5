//! When the next call may begin: limits a minute that the user set, those that the provider's headers tell, the rate that
//! refusals teach, and the waits that the provider asks for.
//!
//! Times are arguments, so that the laws can be tested without waiting.

use crate::judge::{JudgeLimits, RateLimits};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// A bucket of the user's own holds at most what flows in during this time, so that a minute's worth is not spent at once.
const BURST: Duration = Duration::from_secs(5);
/// A wait that nobody names.
const UNNAMED: Duration = Duration::from_secs(1);
/// No wait is longer, whatever a header says.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// A provider that wants nothing for longer than this is not waited for in this run.
pub(crate) const TOO_LONG: Duration = Duration::from_secs(600);
/// Calls, in the order in which they began, that tell a limit from sporadic refusals. The order of their ends does not:
/// refusals come back sooner than answers.
const RECENT: u64 = 16;
/// So many refusals among them ...
const LIMITED: usize = 12;
/// ... or among so many are a limit.
const IN_A_ROW: u64 = 8;
/// A learned rate that refusals have brought to this share of what was found first is none: they do not come of a limit.
const NO_LIMIT: f64 = 0.4;
/// An admitted call raises the learned rate by this share, more the longer none was refused, and at most by `FASTER` ...
const RAISE: f64 = 0.01;
const FASTER: f64 = 0.1;
/// Admitted calls without a refusal after which the rate rises twice as fast.
const CALM: f64 = 20.0;
/// ... and a refused one lowers it to this share of what was admitted.
const LOWER: f64 = 0.9;

/// A quantity that flows in steadily and is taken out in pieces.
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

    /// How long until `amount` may be taken. A piece larger than the bucket waits for a full one and leaves a debt.
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

/// What refusals have taught.
#[derive(Clone, Copy, Debug)]
enum LearnedLimit {
    /// No limit was met.
    Nothing,
    /// A limit was met at `since`: calls, from the number `from` on, are let through in growing numbers until one is refused.
    Probing {
        since: Instant,
        from: u64,
        admitted: u32,
        wait: Duration,
    },
    /// Calls a second that the provider admits, `found` at first, and what came of the calls since the last change.
    Rate {
        per_s: f64,
        found: f64,
        since: Instant,
        from: u64,
        admitted: u32,
        refused_in_row: u32,
    },
}

/// When the next call may begin.
#[derive(Clone, Debug)]
pub struct Pace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    told_requests: Option<Bucket>,
    told_tokens: Option<Bucket>,
    learned: LearnedLimit,
    /// Calls begun so far: the number of the next one.
    begun: u64,
    /// The numbers of the latest calls that were refused.
    refused: BTreeSet<u64>,
    /// Nothing begins before: the provider asked for that, or refused everything.
    hold: Option<Instant>,
    /// When the learned rate allows the next call.
    next: Option<Instant>,
}

impl Pace {
    /// What the user allows a service a minute.
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

    /// Calls in flight at most, where a limit that was met is being felt out.
    pub fn places(&self) -> Option<usize> {
        match self.learned {
            LearnedLimit::Probing { admitted, .. } => Some(admitted as usize + 1),
            _ => None,
        }
    }

    pub fn is_limited(&self) -> bool {
        !matches!(self.learned, LearnedLimit::Nothing)
    }

    /// Calls a second that refusals have taught.
    pub fn learned_per_s(&self) -> Option<f64> {
        match self.learned {
            LearnedLimit::Rate { per_s, .. } => Some(per_s),
            _ => None,
        }
    }

    /// A call that needs `tokens` begins; returns its number.
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
            // While nothing was to be asked, or no place was free, nothing could be admitted.
            if let Some(idle) = self.next.and_then(|next| now.checked_duration_since(next)) {
                *since += idle;
            }
            // A moment of lateness is made up for, a long wait is not.
            let gap = Duration::from_secs_f64((1.0 / per_s.max(1e-3)).min(LONGEST.as_secs_f64()));
            let from = self
                .next
                .map_or(now, |next| next.max(now - gap.min(UNNAMED)));
            self.next = Some(from + gap);
        }
        self.begun += 1;
        self.begun - 1
    }

    /// Nothing begins before `until`.
    fn hold_until(&mut self, until: Instant) {
        self.hold = Some(self.hold.map_or(until, |hold| hold.max(until)));
    }

    /// For how long nothing may begin, where the provider asked for that or refused everything.
    pub fn held(&self, now: Instant) -> Option<Duration> {
        self.hold
            .and_then(|hold| hold.checked_duration_since(now))
            .filter(|left| !left.is_zero())
    }

    /// An answer came to the call of this number.
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

    /// The call of this number was refused as too many; `wait` is what the provider asked for.
    pub fn refused(&mut self, number: u64, wait: Option<Duration>, now: Instant) {
        let named = wait.unwrap_or(UNNAMED).min(LONGEST);
        match self.learned {
            LearnedLimit::Nothing => {
                if self.meets_limit(number) {
                    self.probe(named, now);
                }
            }
            // A call of before says nothing new.
            LearnedLimit::Probing { from, .. } | LearnedLimit::Rate { from, .. }
                if number < from => {}
            LearnedLimit::Probing {
                since,
                from,
                admitted: 0,
                wait,
            } => {
                // Still closed; each time twice as long, where the provider does not ask for more.
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

    /// Whether the refusal of a call, with those before it, is that of a limit.
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

    /// Takes in what a provider says about what is left; `in_flight` calls it may not have counted yet, of `tokens` each.
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
        // A reset says when everything is back; with nothing left, one call's share of it is enough to wait for.
        let spread = |reset: Duration, limit: Option<u64>, need: u64| {
            let reset = reset.min(LONGEST);
            match limit {
                Some(limit) if limit > 0 => reset.mul_f64((need as f64 / limit as f64).min(1.0)),
                _ => reset,
            }
        };
        let mut hold = |wait: Duration| {
            // Headers alone are not believed that much: the next call is refused where it is true, and that says why.
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

/// How long to wait before attempt `attempt` + 1 when the provider does not say: anywhere between nothing and a bound that
/// doubles from half a second to a minute (full jitter). `draw` is uniform in 0..1.
pub fn back_off(attempt: u32, draw: f64) -> Duration {
    let bound = 0.5 * f64::from(2u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    Duration::from_secs_f64(bound.min(60.0) * draw.clamp(0.0, 1.0))
}

/// The wait that a provider names, a little longer so that not all come back at once. `draw` is uniform in 0..1.
pub fn named(wait: Duration, draw: f64) -> Duration {
    let wait = wait.min(LONGEST);
    wait + wait
        .min(Duration::from_secs(10))
        .mul_f64(0.1 * draw.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
