//! Parsers for the values of options.

use std::str::FromStr;

/// A value on the command line that its option does not accept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("the name is blank")]
    BlankName,
}

/// Parses a number that `is_valid`; `expected` describes the valid numbers.
pub(crate) fn number<T: FromStr>(
    text: &str,
    expected: &'static str,
    is_valid: impl FnOnce(&T) -> bool,
) -> Result<T, ArgumentError> {
    text.parse()
        .ok()
        .filter(is_valid)
        .ok_or(ArgumentError::Expected(expected))
}

/// Parses a share of a whole.
pub(crate) fn share(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number from 0 to 1", |share| {
        (0.0..=1.0).contains(share)
    })
}
