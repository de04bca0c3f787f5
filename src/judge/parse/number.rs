//! Parses scores in the spellings that models use.

use super::error::{ParseError, shown};
use super::scan;
use crate::domain::vote::Margin;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Unambiguous minus signs. A dash is not one, because it is also a separator.
const MINUS: [char; 3] = ['\u{2212}', '\u{fe63}', '\u{ff0d}'];

/// A JSON number.
pub(super) fn strict(raw: &str) -> Result<Margin, ParseError> {
    if !raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return Err(ParseError::ScoreNotNumber(shown(raw)));
    }
    let value: f64 = raw
        .parse()
        .map_err(|_| ParseError::ScoreNotNumber(shown(raw)))?;
    in_range(value, raw)
}

/// A number, bare or as a JSON string, with any of the signs.
pub(super) fn tolerant(raw: &str) -> Result<Margin, ParseError> {
    let inner = match serde_json::from_str::<String>(raw) {
        Ok(text) => text,
        Err(_) => raw.to_owned(),
    };
    let canonical =
        canonical(inner.trim()).ok_or_else(|| ParseError::ScoreNotNumber(shown(raw)))?;
    let value: f64 = canonical
        .parse()
        .map_err(|_| ParseError::ScoreNotNumber(shown(raw)))?;
    in_range(value, raw)
}

/// The number with an ASCII sign, or `None` if it is not a plain decimal number.
fn canonical(text: &str) -> Option<String> {
    let mut chars = text.chars();
    let (sign, digits) = match chars.next()? {
        '+' => ("", chars.as_str()),
        '-' => ("-", chars.as_str()),
        c if MINUS.contains(&c) => ("-", chars.as_str()),
        _ => ("", text),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !plain(whole) || !plain(part) || whole.is_empty() && part.is_empty() {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !plain(digits) {
            return None;
        }
    }
    Some(format!("{sign}{digits}"))
}

/// `object` with its score in JSON spelling, if the score is a plain number in another spelling.
pub(super) fn respelt(object: &str) -> Cow<'_, str> {
    let Some(range) = scan::bare_value(object, "score") else {
        return object.into();
    };
    let raw = &object[range.clone()];
    if serde_json::from_str::<&RawValue>(raw).is_ok() {
        return object.into();
    }
    match canonical(raw) {
        Some(number) => format!(
            "{}\"{number}\"{}",
            &object[..range.start],
            &object[range.end..]
        )
        .into(),
        None => object.into(),
    }
}

fn in_range(value: f64, raw: &str) -> Result<Margin, ParseError> {
    if value.is_finite() {
        Margin::new(value).ok_or_else(|| ParseError::ScoreOutOfRange(shown(raw)))
    } else {
        Err(ParseError::ScoreNotFinite(shown(raw)))
    }
}
