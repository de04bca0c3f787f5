//! Whether the fit models judges' tastes: set, or learned from the votes.

use crate::domain::auto_or_number::{AUTO, AutoOrNumber, NeitherAutoNorNumber};
use crate::domain::number_words::fixed;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const OFF: &str = "off";

/// Whether the fit models what a judge persistently adds to the score of a document, and how much
/// that varies (science.md § Tastes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AutoOrNumber", into = "AutoOrNumber")]
pub enum Tastes {
    /// Judges have no tastes: all their errors are independent.
    #[default]
    Off,
    /// The variance that the votes support; none unless there is clear evidence for it.
    Auto,
    /// This variance, relative to that of true scores.
    Set(f64),
}

impl Tastes {
    /// The variance of a taste relative to that of scores; `None` if tastes are not modeled.
    pub fn value(self, learned: Option<f64>) -> Option<f64> {
        match self {
            Self::Off => None,
            Self::Auto => learned.filter(|taste| *taste > 0.0),
            Self::Set(taste) => Some(taste),
        }
    }
}

/// The note printed with scores in which judges have tastes.
pub fn taste_words(taste: f64) -> String {
    format!("judges have tastes ({} of score variance)", fixed(taste, 2))
}

impl fmt::Display for Tastes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str(OFF),
            Self::Auto => f.write_str(AUTO),
            Self::Set(taste) => taste.fmt(f),
        }
    }
}

impl FromStr for Tastes {
    type Err = NeitherAutoNorNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            OFF => Ok(Self::Off),
            AUTO => Ok(Self::Auto),
            _ => {
                let number = text.parse().map(Self::Set);
                number.map_err(|_| NeitherAutoNorNumber {
                    expected: format!("{OFF}, or a number"),
                    found: text.to_owned(),
                })
            }
        }
    }
}

impl From<Tastes> for AutoOrNumber {
    fn from(of: Tastes) -> Self {
        match of {
            Tastes::Set(taste) => Self::Number(taste),
            word => Self::Word(word.to_string()),
        }
    }
}

impl TryFrom<AutoOrNumber> for Tastes {
    type Error = NeitherAutoNorNumber;

    fn try_from(written: AutoOrNumber) -> Result<Self, Self::Error> {
        match written {
            AutoOrNumber::Number(taste) => Ok(Self::Set(taste)),
            AutoOrNumber::Word(word) => word.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_they_are_read() {
        for (text, tastes) in [
            ("\"off\"", Tastes::Off),
            ("\"auto\"", Tastes::Auto),
            ("0.3", Tastes::Set(0.3)),
        ] {
            assert_eq!(serde_json::to_string(&tastes).unwrap(), text);
            assert_eq!(serde_json::from_str::<Tastes>(text).unwrap(), tastes);
            assert_eq!(tastes.to_string().parse(), Ok(tastes));
        }
        assert!(serde_json::from_str::<Tastes>("\"strong\"").is_err());
    }

    #[test]
    fn nothing_is_modeled_without_evidence() {
        assert_eq!(Tastes::Off.value(Some(0.2)), None);
        assert_eq!(Tastes::Auto.value(None), None);
        assert_eq!(Tastes::Auto.value(Some(0.0)), None);
        assert_eq!(Tastes::Auto.value(Some(0.2)), Some(0.2));
        assert_eq!(Tastes::Set(0.1).value(Some(0.2)), Some(0.1));
    }
}
