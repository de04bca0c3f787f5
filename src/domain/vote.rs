//! Votes: one judge's margin for one battle. A failed call is not a vote and has no value here.

mod margin_curve;

pub use margin_curve::MarginCurve;

use serde::{Deserialize, Serialize};

/// The row ID of a judge in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JudgeId(pub i64);

/// A preference in −1..=1: negative for document A, positive for document B, 0 for neither.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Margin(f64);

impl Margin {
    /// Creates a margin, or `None` if `value` is not a number in −1..=1.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, so that equal margins have equal bits.
        (-1.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    pub fn get(self) -> f64 {
        self.0
    }

    #[must_use]
    pub fn flipped(self) -> Self {
        Self(0.0 - self.0)
    }

    pub fn outcome(self) -> Outcome {
        if self.0 < 0.0 {
            Outcome::A
        } else if self.0 > 0.0 {
            Outcome::B
        } else {
            Outcome::Tie
        }
    }
}

/// A number that is outside the range of margins.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a margin: expected a number from -1 to 1")]
pub struct NotAMargin(pub f64);

impl TryFrom<f64> for Margin {
    type Error = NotAMargin;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or(NotAMargin(value))
    }
}

impl From<Margin> for f64 {
    fn from(margin: Margin) -> Self {
        margin.get()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    A,
    Tie,
    B,
}

impl Outcome {
    /// The same outcome if the documents are exchanged.
    pub fn flipped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::Tie => Self::Tie,
            Self::B => Self::A,
        }
    }
}

/// How margins become a battle's score in 0..=1 (0: A is better).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VoteRule {
    /// The mean of {0, ½, 1} over the existing votes; missing votes stay missing.
    #[default]
    Ternary,
    /// zBench's own rule: a third for each vote strictly above zero, over three judges, so that a
    /// tie counts for A.
    Zbench,
    /// The mean over the existing votes of (1 + margin) / 2: margins are taken literally.
    Margin,
    /// The mean over the existing votes of their calibrated margins, see [`MarginCurve`]; like
    /// `Ternary` for a judge without a curve.
    Calibrated,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote {
    pub judge: JudgeId,
    pub margin: Margin,
    /// Whether the judge was shown B first.
    pub swapped: bool,
}

impl VoteRule {
    /// The battle's score in 0..=1 (0: A is better, 1: B is better), or `None` without votes.
    ///
    /// `Zbench` divides by three, or by the number of votes if there are more. `Calibrated` is
    /// `Ternary` without the judges' curves.
    pub fn score(self, margins: impl IntoIterator<Item = Margin>) -> Option<f64> {
        if self == Self::Margin {
            return mean(
                margins
                    .into_iter()
                    .map(|margin| self.vote_score(margin, None)),
            );
        }
        let (mut wins, mut ties, mut votes) = (0u32, 0u32, 0u32);
        for margin in margins {
            votes += 1;
            match margin.outcome() {
                Outcome::B => wins += 1,
                Outcome::Tie => ties += 1,
                Outcome::A => {}
            }
        }
        if votes == 0 {
            return None;
        }
        Some(match self {
            // Count half points as integers, so that the order of the votes cannot change the last
            // bit.
            Self::Zbench => f64::from(wins) / f64::from(votes.max(3)),
            _ => f64::from(2 * wins + ties) / f64::from(2 * votes),
        })
    }

    /// The score of a single vote, in 0..=1 (1: B is better), using its judge's curve if there is
    /// one.
    pub fn vote_score(self, margin: Margin, curve: Option<&MarginCurve>) -> f64 {
        match (self, curve) {
            (Self::Margin, _) => 0.5 * (1.0 + margin.get()),
            (Self::Calibrated, Some(curve)) => curve.score(margin),
            _ => match margin.outcome() {
                Outcome::A => 0.0,
                Outcome::Tie => 0.5,
                Outcome::B => 1.0,
            },
        }
    }
}

fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = scores.fold((0.0, 0u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The battle's score under [`VoteRule::Calibrated`], given votes with their judges' curves.
pub fn calibrated_score<'a>(
    votes: impl IntoIterator<Item = (Margin, Option<&'a MarginCurve>)>,
) -> Option<f64> {
    let score = |(margin, curve)| VoteRule::Calibrated.vote_score(margin, curve);
    mean(votes.into_iter().map(score))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins(values: &[f64]) -> Vec<Margin> {
        values.iter().map(|v| Margin::new(*v).unwrap()).collect()
    }

    #[test]
    fn a_tie_is_half_a_point_and_nobody_voting_is_no_score() {
        let table: &[(&[f64], Option<f64>, Option<f64>)] = &[
            (&[], None, None),
            (&[0.0, 0.0, 0.0], Some(0.5), Some(0.0)),
            (&[0.4, 0.0, 0.0], Some(2.0 / 3.0), Some(1.0 / 3.0)),
            (&[0.4, 0.1, 0.0], Some(5.0 / 6.0), Some(2.0 / 3.0)),
            (&[-0.4, 0.0, 0.0], Some(1.0 / 3.0), Some(0.0)),
            (&[1.0, -1.0, 0.0], Some(0.5), Some(1.0 / 3.0)),
            (&[1.0], Some(1.0), Some(1.0 / 3.0)),
        ];
        for (votes, ternary, zbench) in table {
            assert_eq!(
                VoteRule::Ternary.score(margins(votes)),
                *ternary,
                "{votes:?}"
            );
            assert_eq!(VoteRule::Zbench.score(margins(votes)), *zbench, "{votes:?}");
        }
    }

    #[test]
    fn only_numbers_from_minus_one_to_one_are_margins() {
        for bad in [f64::NAN, f64::INFINITY, -1.0001, 1.0001] {
            assert!(Margin::new(bad).is_none(), "{bad}");
        }
        assert_eq!(
            Margin::new(0.0).unwrap().flipped().get().to_bits(),
            0.0f64.to_bits()
        );
        assert_eq!(Margin::new(-0.3).unwrap().flipped().outcome(), Outcome::B);
    }
}
