//! The wall clock, used only for timestamps in rows and the current day, and never in computations.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

/// When the day of a time began in the system's time zone, both in milliseconds since the Unix
/// epoch.
pub fn day_began_ms(ms: i64) -> i64 {
    let began = Timestamp::from_millisecond(ms)
        .and_then(|time| time.to_zoned(TimeZone::system()).start_of_day());
    began.map_or(ms, |began| began.timestamp().as_millisecond())
}

/// The current day in the system's time zone.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn today() -> Date {
    Zoned::now().date()
}
