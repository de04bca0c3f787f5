//! The wall clock, used only for timestamps in rows and the current day, and never in computations.

use jiff::Zoned;
use jiff::civil::Date;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

/// The current day in the system's time zone.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn today() -> Date {
    Zoned::now().date()
}
