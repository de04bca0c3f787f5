//! The regression set: pairs that people decided without seeing the judges' votes, and pairs with a
//! known answer. Prompts are tuned on one part of it and tested on the other.

use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::sampling::SeededRng;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::Outcome;
use serde::Serialize;

/// Number of tenths of the queries that are used for tuning.
const TUNING_TENTHS: usize = 6;

/// A part of the regression set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetPart {
    /// Prompts may be changed in response to these pairs.
    Tuning,
    /// Used only to test a finished prompt.
    HeldOut,
}

impl SetPart {
    /// The part of a query's pairs. It follows from the query's name alone, so that it never
    /// changes and is the same in every copy of a project.
    pub fn of(query: &QueryId) -> Self {
        let mut rng = SeededRng::new(0, &["regression set", query.as_str()]);
        if rng.below(10) < TUNING_TENTHS {
            Self::Tuning
        } else {
            Self::HeldOut
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::HeldOut => "held out",
        }
    }
}

/// A pair of the regression set.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedPair {
    pub query: QueryId,
    pub pair: Pair,
    /// The decision, where A is the document earlier in the pool.
    pub people: Outcome,
    /// Whether the answer was known in advance.
    pub is_gold: bool,
    /// The probability with which the pair was drawn, if it is known.
    pub inclusion: Option<f64>,
    /// Why the judges' votes differ, according to the person.
    pub cause: Option<ErrorCause>,
    pub note: Option<String>,
}

impl DecidedPair {
    pub fn part(&self) -> SetPart {
        SetPart::of(&self.query)
    }

    /// The number of pairs that it stands for; `None` if its probability is unknown.
    pub fn weight(&self) -> Option<f64> {
        self.inclusion.map(f64::recip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_query_is_fixed_for_life() {
        let parts: String = (0..20)
            .map(|at| match SetPart::of(&QueryId::new(format!("q{at}"))) {
                SetPart::Tuning => 't',
                SetPart::HeldOut => 'h',
            })
            .collect();
        assert_eq!(parts, "hhttththhhhhhthtttth");
        let tuning = (0..10_000)
            .filter(|at| SetPart::of(&QueryId::new(at.to_string())) == SetPart::Tuning)
            .count();
        assert!((5_900..6_100).contains(&tuning), "{tuning}");
    }
}
