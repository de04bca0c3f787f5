//! Formats numbers, times and lists of names as text.

use crate::domain::corpus::QueryId;
pub use crate::domain::number_words::{counted, duration};
use crate::domain::sanitize;
use std::collections::BTreeSet;

/// Why the difference between original and corrected labels is not tested for significance.
pub const UNTESTED: &str = "no p-value: people ruled where picks and labels differ, so the changes \
                            are not a random sample";

/// Maximum number of names listed; the rest are only counted.
const LISTED: usize = 5;

/// Formats a p-value. A value that would round to zero at four decimal places is given as below
/// that threshold.
pub fn p_value(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        _ => format!("{p:.4}"),
    }
}

/// A time to the minute in UTC: `2026-03-01 14:05 UTC`; the milliseconds if it is out of range.
pub fn moment_words(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => ms.to_string(),
    }
}

/// RFC 3339 in UTC, to the millisecond; the number if it is out of range.
pub fn rfc_3339(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => ms.to_string(),
    }
}

/// The first few names, safe to print, and the number of further ones.
pub fn first_names<S: AsRef<str>>(names: &[S]) -> String {
    first_of(names, LISTED)
}

/// The first `listed` names, safe to print, and the number of further ones.
pub fn first_of<S: AsRef<str>>(names: &[S], listed: usize) -> String {
    let first = names.iter().take(listed);
    let first: Vec<_> = first.map(|name| sanitize::line(name.as_ref())).collect();
    let more = match names.len().saturating_sub(listed) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", first.join(", "))
}

/// The note, after their number, on queries whose own document is skipped.
pub const OWN_DOCUMENT: &str = "with a document of the same id, which has no label: that document \
                                is skipped, as in BEIR (ignore_identical_ids)";

/// The note on these queries; `None` if there are none.
pub fn own_documents(queries: &BTreeSet<&QueryId>) -> Option<String> {
    let names: Vec<&str> = queries.iter().map(|query| query.as_str()).collect();
    (!names.is_empty()).then(|| {
        let queries = counted(names.len(), "query");
        format!("{queries} {OWN_DOCUMENT}: {}", first_names(&names))
    })
}
