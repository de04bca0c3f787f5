//! The strength of the prior on scores: set, or learned from the battles.

use crate::domain::auto_or_number::{AUTO, AutoOrNumber, NeitherAutoNorNumber};
use crate::domain::number_words::counted;
use crate::domain::rating::{PRIOR_BATTLES, PriorGridEnd, RatingOptions, prior_grid_end};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The precision of the Gaussian prior on a score, per battle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AutoOrNumber", into = "AutoOrNumber")]
pub enum PriorPrecision {
    /// The value that the battles support, if there are enough of them; otherwise .05.
    #[default]
    Auto,
    Set(f64),
}

/// The prior learned from the battles of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedPrior {
    pub lambda: f64,
    /// Number of battles it was estimated from.
    pub battles: usize,
}

impl PriorPrecision {
    /// The precision that applies.
    pub fn value(self, learned: Option<LearnedPrior>) -> f64 {
        match self {
            Self::Set(lambda) => lambda,
            Self::Auto => learned.map_or(RatingOptions::default().lambda, |learned| learned.lambda),
        }
    }

    /// The precision that applies, with its source.
    pub fn words(self, learned: Option<LearnedPrior>) -> String {
        let value = self.value(learned);
        match (self, learned) {
            (Self::Set(_), _) => format!("{value} (set)"),
            (Self::Auto, Some(learned)) => {
                let end = match prior_grid_end(learned.lambda) {
                    Some(PriorGridEnd::Smallest) => "; the smallest value tried",
                    Some(PriorGridEnd::Largest) => "; the largest value tried",
                    None => "",
                };
                format!(
                    "{value} (estimated from {}{end})",
                    counted(learned.battles, "battle")
                )
            }
            (Self::Auto, None) => {
                format!("{value} (default until there are {PRIOR_BATTLES} battles)")
            }
        }
    }
}

impl fmt::Display for PriorPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(AUTO),
            Self::Set(lambda) => lambda.fmt(f),
        }
    }
}

impl FromStr for PriorPrecision {
    type Err = NeitherAutoNorNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == AUTO {
            return Ok(Self::Auto);
        }
        let number = text.parse().map(Self::Set);
        number.map_err(|_| NeitherAutoNorNumber {
            expected: "a number".to_owned(),
            found: text.to_owned(),
        })
    }
}

impl From<PriorPrecision> for AutoOrNumber {
    fn from(of: PriorPrecision) -> Self {
        match of {
            PriorPrecision::Auto => Self::Word(AUTO.to_owned()),
            PriorPrecision::Set(lambda) => Self::Number(lambda),
        }
    }
}

impl TryFrom<AutoOrNumber> for PriorPrecision {
    type Error = NeitherAutoNorNumber;

    fn try_from(written: AutoOrNumber) -> Result<Self, Self::Error> {
        match written {
            AutoOrNumber::Number(lambda) => Ok(Self::Set(lambda)),
            AutoOrNumber::Word(word) => word.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_it_is_read() {
        for (text, prior) in [
            ("\"auto\"", PriorPrecision::Auto),
            ("0.15", PriorPrecision::Set(0.15)),
        ] {
            assert_eq!(serde_json::to_string(&prior).unwrap(), text);
            assert_eq!(serde_json::from_str::<PriorPrecision>(text).unwrap(), prior);
            assert_eq!(prior.to_string().parse(), Ok(prior));
        }
        assert!(serde_json::from_str::<PriorPrecision>("\"much\"").is_err());
    }

    #[test]
    fn what_is_set_is_not_learned() {
        let learned = Some(LearnedPrior {
            lambda: 0.15,
            battles: 4_000,
        });
        assert_eq!(PriorPrecision::Auto.value(None), 0.05);
        assert_eq!(PriorPrecision::Auto.value(learned), 0.15);
        assert_eq!(PriorPrecision::Set(0.07).value(learned), 0.07);
        let said = PriorPrecision::Auto.words(learned);
        assert_eq!(said, "0.15 (estimated from 4,000 battles)");
        let at_the_end = Some(LearnedPrior {
            lambda: 8.0,
            battles: 300,
        });
        let said = PriorPrecision::Auto.words(at_the_end);
        assert_eq!(
            said,
            "8 (estimated from 300 battles; the largest value tried)"
        );
    }
}
