//! How fast the server answers and how many requests it takes.

use super::answer::hash;
use super::wire::Dialect;
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

/// How long answers take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Latency {
    Constant(Duration),
    /// exp(N(ln median, sigma)); the same for the same seed, model, case and attempt.
    LogNormal {
        median: Duration,
        sigma: f64,
        seed: u64,
    },
}

impl Default for Latency {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

impl Latency {
    /// The time one attempt at one case takes.
    pub(crate) fn of(self, model: &str, case: &str, attempt: usize) -> Duration {
        match self {
            Self::Constant(latency) => latency,
            Self::LogNormal {
                median,
                sigma,
                seed,
            } => {
                let digest = hash(&[
                    "latency",
                    &seed.to_string(),
                    model,
                    case,
                    &attempt.to_string(),
                ]);
                let uniform = |at: usize| {
                    let bytes = digest[at..at + 8].try_into().unwrap();
                    (u64::from_le_bytes(bytes) as f64 + 1.0) / (u64::MAX as f64 + 2.0)
                };
                let angle = std::f64::consts::TAU * uniform(8);
                let normal = (-2.0 * uniform(0).ln()).sqrt() * angle.cos();
                median.mul_f64((sigma * normal).exp())
            }
        }
    }

    /// The mean over all calls.
    pub(crate) fn mean(self) -> Duration {
        match self {
            Self::Constant(latency) => latency,
            Self::LogNormal { median, sigma, .. } => median.mul_f64((sigma * sigma / 2.0).exp()),
        }
    }
}

/// What `Retry-After` says in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    /// Whole seconds until the next request is taken, at least one.
    NextToken,
    /// Nothing.
    Absent,
    /// Always the same.
    Seconds(u64),
}

/// A token bucket for each model.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) per_minute: f64,
    pub(super) burst: f64,
    /// Whether answers and refusals tell the limit.
    pub(super) headers: bool,
    pub(super) retry_after: RetryAfter,
    buckets: HashMap<String, (f64, Instant)>,
}

/// What a bucket says of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) refused: bool,
    /// Requests left.
    left: f64,
    /// Seconds until there is one more.
    next: f64,
    /// Seconds until the bucket is full.
    full: f64,
}

impl Limit {
    pub(super) fn new(per_minute: f64, burst: u32, headers: bool, retry_after: RetryAfter) -> Self {
        Self {
            per_minute,
            burst: f64::from(burst),
            headers,
            retry_after,
            buckets: HashMap::new(),
        }
    }

    pub(super) fn take(&mut self, model: &str, now: Instant) -> Taken {
        let rate = self.per_minute / 60.0;
        let full = (self.burst, now);
        let (left, at) = self.buckets.entry(model.to_owned()).or_insert(full);
        *left = (*left + (now - *at).as_secs_f64() * rate).min(self.burst);
        *at = now;
        let refused = *left < 1.0;
        if !refused {
            *left -= 1.0;
        }
        Taken {
            refused,
            left: left.floor(),
            next: (1.0 - *left).max(0.0) / rate,
            full: (self.burst - *left) / rate,
        }
    }

    /// Headers for the answer to a request that found its bucket like this.
    pub(super) fn headers(&self, taken: Taken, dialect: Dialect) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if taken.refused {
            match self.retry_after {
                RetryAfter::NextToken => {
                    headers.push(("retry-after", format!("{}", taken.next.ceil().max(1.0))));
                }
                RetryAfter::Absent => {}
                RetryAfter::Seconds(seconds) => headers.push(("retry-after", seconds.to_string())),
            }
        }
        if !self.headers {
            return headers;
        }
        let (burst, left) = (self.burst.to_string(), taken.left.to_string());
        if dialect == Dialect::Anthropic {
            #[expect(
                clippy::disallowed_methods,
                reason = "the header names a time of the real clock"
            )]
            let full = SystemTime::now() + Duration::from_secs_f64(taken.full);
            let full = jiff::Timestamp::try_from(full).unwrap();
            headers.extend([
                ("anthropic-ratelimit-requests-limit", burst),
                ("anthropic-ratelimit-requests-remaining", left),
                ("anthropic-ratelimit-requests-reset", format!("{full:.0}")),
            ]);
            return headers;
        }
        let reset = match taken.full {
            short if short < 1.0 => format!("{:.0}ms", short * 1e3),
            long if long < 60.0 => format!("{long:.3}s"),
            long => format!("{:.0}m{:.0}s", (long / 60.0).floor(), long % 60.0),
        };
        headers.extend([
            ("x-ratelimit-limit-requests", burst),
            ("x-ratelimit-remaining-requests", left),
            ("x-ratelimit-reset-requests", reset),
            ("x-ratelimit-limit-tokens", "30000000".to_owned()),
            ("x-ratelimit-remaining-tokens", "29990000".to_owned()),
            ("x-ratelimit-reset-tokens", "20ms".to_owned()),
        ]);
        headers
    }
}
