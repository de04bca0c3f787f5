//! `status --require`: what a project must have reached, for scripts and CI.

use crate::app::status::{PartOf, ProjectStatus};
use crate::cli::argument::ArgumentError;
use crate::domain::named::named;
use crate::domain::number_words::{fixed, probability};
use serde_json::{Value, json};

named! {
    "a value of the status", "kebab-case";
    /// A value that can be required.
    #[derive(Default)]
    pub enum RequiredValue {
        /// Share of queries whose top is settled at 95 %, of all queries.
        #[default]
        Settled,
        /// Share of battles with a vote.
        Fought,
        /// Share of unanimous battles.
        Unanimous,
        /// Number of verdicts that count.
        Verdicts,
        /// Share of decided triads that are cyclic.
        Cyclic,
        /// Number of failed calls.
        Failures,
        /// Number of missing votes.
        Missing,
        /// Number of pairs on which people differ.
        Conflicts,
    }
}

impl RequiredValue {
    /// Whether a larger value is better, so that the bound is the smallest one that is accepted.
    fn is_minimum(self) -> bool {
        matches!(
            self,
            Self::Settled | Self::Fought | Self::Unanimous | Self::Verdicts
        )
    }

    fn is_share(self) -> bool {
        matches!(
            self,
            Self::Settled | Self::Fought | Self::Unanimous | Self::Cyclic
        )
    }

    /// The value in a project; `None` if it was not run.
    fn of(self, status: &ProjectStatus) -> Option<f64> {
        let share =
            |PartOf { part, whole }: PartOf| (whole > 0).then(|| part as f64 / whole as f64);
        match self {
            Self::Settled => share(PartOf {
                whole: status.queries.len(),
                ..status.settled
            }),
            Self::Fought => share(status.fought),
            Self::Unanimous => share(status.unanimous),
            Self::Cyclic => share(status.cyclic),
            Self::Verdicts => Some(status.verdicts as f64),
            Self::Failures => Some(status.failures as f64),
            Self::Missing => Some(status.votes_missing as f64),
            Self::Conflicts => Some(status.conflicts as f64),
        }
    }

    fn words(self, value: f64) -> String {
        if self.is_share() {
            probability(value)
        } else {
            fixed(value, 0)
        }
    }
}

/// A value with the bound that it must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Requirement {
    value: RequiredValue,
    /// In 0..=1 for a share.
    bound: f64,
}

/// Parses `settled=0.9`.
pub(super) fn requirement(text: &str) -> Result<Requirement, ArgumentError> {
    const EXPECTED: ArgumentError = ArgumentError::Expected(
        "NAME=VALUE with settled, fought, unanimous or cyclic (shares from 0 to 1), verdicts, \
         failures, missing or conflicts (numbers)",
    );
    let (name, bound) = text.split_once('=').ok_or(EXPECTED)?;
    let value: RequiredValue = name.trim().parse().map_err(|_| EXPECTED)?;
    let bound: f64 = bound.trim().parse().map_err(|_| EXPECTED)?;
    let is_valid = if value.is_share() {
        (0.0..=1.0).contains(&bound)
    } else {
        bound >= 0.0 && bound.fract() == 0.0
    };
    if is_valid {
        Ok(Requirement { value, bound })
    } else {
        Err(EXPECTED)
    }
}

impl Requirement {
    /// Whether a project meets it. What was not run is not met.
    pub(super) fn is_met(self, status: &ProjectStatus) -> bool {
        let minimum = self.value.is_minimum();
        self.value.of(status).is_some_and(|value| {
            if minimum {
                value >= self.bound
            } else {
                value <= self.bound
            }
        })
    }

    /// `settled is 45 %, required: at least 90 %`.
    pub(super) fn words(self, status: &ProjectStatus) -> String {
        let found = self.value.of(status);
        let found = found.map_or("not run".to_owned(), |value| self.value.words(value));
        let least = if self.value.is_minimum() {
            "at least"
        } else {
            "at most"
        };
        format!(
            "{} is {found}, required: {least} {}",
            self.value,
            self.value.words(self.bound)
        )
    }

    pub(super) fn json(self, status: &ProjectStatus) -> Value {
        json!({
            "name": self.value,
            "value": self.value.of(status),
            "required": self.bound,
            "at_least": self.value.is_minimum(),
            "met": self.is_met(status),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_names_a_value_and_a_bound_in_its_range() {
        let settled = requirement("settled=0.9").unwrap();
        assert_eq!(
            (settled.value, settled.bound),
            (RequiredValue::Settled, 0.9)
        );
        let failures = requirement(" failures = 0 ").unwrap();
        assert_eq!(failures.value, RequiredValue::Failures);
        for bad in [
            "settled",
            "settled=90",
            "failures=0.5",
            "failures=-1",
            "missing=NaN",
            "speed=1",
            "",
        ] {
            assert!(requirement(bad).is_err(), "{bad}");
        }
    }
}
