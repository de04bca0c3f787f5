//! Parses rate-limit headers in all spellings that providers use. Invalid values are skipped.

use super::response::HttpResponse;
use crate::judge::call::RateLimits;
use jiff::Timestamp;
use std::time::Duration;

/// Longer times are not trusted.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Numbers from this many seconds on, about thirty years, are Unix times rather than waits.
const UNIX: f64 = 1e9;
/// Units of time in words, in seconds.
const UNITS: [(&str, f64); 6] = [
    ("ms", 1e-3),
    ("millisecond", 1e-3),
    ("sec", 1.0),
    ("min", 60.0),
    ("hour", 3600.0),
    ("s", 1.0),
];

/// The rate limits in the headers of a response, relative to the time when it arrived.
pub(crate) fn read(received: &HttpResponse) -> RateLimits {
    let now = received.at;
    let count = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| received.header(name)?.trim().parse::<u64>().ok())
    };
    let reset = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| until(received.header(name)?.trim(), now))
    };
    RateLimits {
        requests_limit: count(&[
            "x-ratelimit-limit-requests",
            "anthropic-ratelimit-requests-limit",
            "x-ratelimit-limit-req-minute",
        ]),
        requests_remaining: count(&[
            "x-ratelimit-remaining-requests",
            "anthropic-ratelimit-requests-remaining",
            "x-ratelimit-remaining-req-minute",
        ]),
        requests_reset: reset(&[
            "x-ratelimit-reset-requests",
            "anthropic-ratelimit-requests-reset",
        ]),
        tokens_limit: count(&[
            "x-ratelimit-limit-tokens",
            "anthropic-ratelimit-tokens-limit",
            "anthropic-ratelimit-input-tokens-limit",
            "x-ratelimit-limit-tokens-minute",
        ]),
        tokens_remaining: count(&[
            "x-ratelimit-remaining-tokens",
            "anthropic-ratelimit-tokens-remaining",
            "anthropic-ratelimit-input-tokens-remaining",
            "x-ratelimit-remaining-tokens-minute",
        ]),
        tokens_reset: reset(&[
            "x-ratelimit-reset-tokens",
            "anthropic-ratelimit-tokens-reset",
            "anthropic-ratelimit-input-tokens-reset",
        ]),
        retry_after: retry_after(received, now),
    }
}

/// `retry-after-ms`, or `retry-after` in seconds, as a date or as Unix time. For a 429 without
/// either, the time until the server's request window is reset.
fn retry_after(received: &HttpResponse, now: Timestamp) -> Option<Duration> {
    let milliseconds = received
        .header("retry-after-ms")
        .and_then(|text| number(text, 1e-3, now));
    milliseconds
        .or_else(|| until(received.header("retry-after")?.trim(), now))
        .or_else(|| {
            let names = ["x-ratelimit-reset", "ratelimit-reset"];
            let reset = names.iter().find_map(|name| received.header(name))?;
            until(reset.trim(), now).filter(|_| received.status == 429)
        })
}

/// A number of seconds or of another unit. A number that is far too large for a wait is a Unix time
/// in seconds or milliseconds.
fn number(text: &str, unit: f64, now: Timestamp) -> Option<Duration> {
    let number = text.parse::<f64>().ok()?;
    if (UNIX..1e6 * UNIX).contains(&number) {
        let seconds = if number < 1e3 * UNIX {
            number
        } else {
            number / 1e3
        };
        let then = Timestamp::from_millisecond((seconds * 1e3) as i64).ok()?;
        return from_now(then, now);
    }
    seconds(number * unit)
}

/// Nonnegative seconds, at most a day, so that adding them to a time cannot overflow.
fn seconds(seconds: f64) -> Option<Duration> {
    let sensible = seconds.is_finite() && seconds >= 0.0;
    sensible.then(|| Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64())))
}

fn from_now(then: Timestamp, now: Timestamp) -> Option<Duration> {
    let until = Duration::try_from(then.duration_since(now)).unwrap_or_default();
    Some(until.min(LONGEST))
}

/// Parses an RFC 3339 time, an HTTP date, a Unix time, a duration in Go's format such as `6m0s`, or
/// plain seconds.
pub(crate) fn until(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(then) = text.parse::<Timestamp>() {
        return from_now(then, now);
    }
    if let Ok(date) = jiff::fmt::rfc2822::parse(text) {
        return from_now(date.timestamp(), now);
    }
    number(text, 1.0, now).or_else(|| go_duration(text))
}

/// The wait stated in a lowercase message, such as `please try again in 6m0s`. Gateways often drop
/// the header and the details and only repeat the provider's message.
pub(crate) fn told(words: &str) -> Option<Duration> {
    const BEFORE: [&str; 8] = [
        "try again in ",
        "try again after ",
        "retry in ",
        "retry after ",
        "retrying in ",
        "please wait ",
        "reset in ",
        "retrydelay",
    ];
    BEFORE.iter().find_map(|before| {
        let (_, after) = words.split_once(before)?;
        let after = after.trim_start_matches([' ', '"', '\\', ':', '\'']);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let (first, rest) = after.split_at(end.unwrap_or(after.len()));
        let first = first.trim_end_matches('.');
        go_duration(first).or_else(|| {
            let number: f64 = first.parse().ok()?;
            let unit = rest.trim_start();
            let unit = UNITS
                .iter()
                .find(|(name, _)| unit.starts_with(name))
                .map(|(_, unit)| unit)?;
            seconds(number * unit)
        })
    })
}

fn go_duration(text: &str) -> Option<Duration> {
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let end = unit
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(unit.len());
        seconds += value
            * match &unit[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &unit[end..];
    }
    self::seconds(seconds).filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn limits(pairs: &[(&'static str, &'static str)]) -> RateLimits {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let received = HttpResponse {
            headers,
            at: "2026-11-21T12:00:00Z".parse().unwrap(),
            ..HttpResponse::default()
        };
        read(&received)
    }

    #[test]
    fn every_spelling_is_read() {
        let openai = limits(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "12ms"),
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "6m0.5s"),
            ("retry-after-ms", "1500.5"),
            ("retry-after", "9"),
        ]);
        assert_eq!(
            (openai.requests_limit, openai.requests_remaining),
            (Some(500), Some(499))
        );
        assert_eq!(openai.requests_reset, Some(Duration::from_millis(12)));
        assert_eq!(openai.tokens_remaining, None);
        assert_eq!(openai.tokens_reset, Some(Duration::from_millis(360_500)));
        assert_eq!(openai.retry_after, Some(Duration::from_micros(1_500_500)));
        let anthropic = limits(&[
            ("anthropic-ratelimit-tokens-remaining", "1000"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-21T12:00:30Z"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T11:00:00Z"),
            ("retry-after", "Sat, 21 Nov 2026 12:01:00 GMT"),
        ]);
        assert_eq!(anthropic.tokens_remaining, Some(1000));
        assert_eq!(anthropic.tokens_reset, Some(Duration::from_secs(30)));
        assert_eq!(anthropic.requests_reset, Some(Duration::ZERO));
        assert_eq!(anthropic.retry_after, Some(Duration::from_secs(60)));
    }

    #[test]
    fn no_time_is_longer_than_a_day() {
        for long in [
            "9223372036854775807",
            "1e19",
            "1e300",
            "9999999h",
            "9999-01-01T00:00:00Z",
        ] {
            let limits = limits(&[("x-ratelimit-reset-tokens", long)]);
            assert_eq!(limits.tokens_reset, Some(LONGEST), "{long}");
        }
        for long in ["9223372036854775807", "Thu, 31 Dec 9998 12:01:00 GMT"] {
            let limits = limits(&[("retry-after", long)]);
            assert_eq!(limits.retry_after, Some(LONGEST), "{long}");
        }
    }

    #[test]
    fn nonsense_is_left_out() {
        for bad in ["", "soon", "-5", "NaN", "1e400", "5x"] {
            assert_eq!(limits(&[("retry-after", bad)]).retry_after, None, "{bad}");
            assert_eq!(
                limits(&[("x-ratelimit-reset-tokens", bad)]).tokens_reset,
                None,
                "{bad}"
            );
        }
    }
}
