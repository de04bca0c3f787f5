//! Parsers for the values of options.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::str::FromStr;

/// A value of the core, or one that a feature adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrAdded<C, A> {
    Core(C),
    Added(A),
}

impl<C, A> OrAdded<C, A>
where
    C: ValueEnum + Send + Sync + 'static,
    A: ValueEnum + Send + Sync + 'static,
{
    /// Accepts the values of both; those of the core are listed first.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        let core = C::value_variants().iter().map(C::to_possible_value);
        let added = A::value_variants().iter().map(A::to_possible_value);
        PossibleValuesParser::new(core.chain(added).flatten()).try_map(|name| {
            C::from_str(&name, false)
                .map(Self::Core)
                .or_else(|_| A::from_str(&name, false).map(Self::Added))
        })
    }

    /// Its name on the command line.
    pub(crate) fn name(&self) -> String {
        let value = match self {
            Self::Core(value) => value.to_possible_value(),
            Self::Added(value) => value.to_possible_value(),
        };
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

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
