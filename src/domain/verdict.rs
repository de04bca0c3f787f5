//! Verdicts: a person's judgment of a pair. Append-only; an undo is another row.

mod final_rule;
mod gold;
mod history;
mod reason;

pub use final_rule::{AnnotatorVerdicts, FinalRule};
pub use gold::{GoldItem, GoldScore, gold_score};
pub use history::{DecisionChange, VerdictEvent, decision_changes};
pub use reason::{Confidence, ErrorCause};

use super::vote::Outcome;
use crate::domain::named::named;

named! {
    "a verdict", "kebab-case";
    /// A person's decision about document A against document B.
    #[derive(Default)]
    pub enum Decision {
        MuchA,
        A,
        Tie,
        B,
        MuchB,
        /// Cannot tell: states no preference, and the judges' votes remain.
        #[default]
        CannotTell,
    }
}

impl Decision {
    /// The score in 0..=1 that replaces the votes: the five steps 0, ⅓, ½, ⅔, 1, or `None` for
    /// *cannot tell*.
    ///
    /// A plain win is ⅔, not 1: a win of full weight would imply a large gap that nobody stated.
    pub fn score(self) -> Option<f64> {
        match self {
            Self::MuchA => Some(0.0),
            Self::A => Some(1.0 / 3.0),
            Self::Tie => Some(0.5),
            Self::B => Some(2.0 / 3.0),
            Self::MuchB => Some(1.0),
            Self::CannotTell => None,
        }
    }

    /// The preferred side, regardless of strength; `None` for *cannot tell*.
    pub fn direction(self) -> Option<Outcome> {
        match self {
            Self::MuchA | Self::A => Some(Outcome::A),
            Self::Tie => Some(Outcome::Tie),
            Self::B | Self::MuchB => Some(Outcome::B),
            Self::CannotTell => None,
        }
    }

    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::MuchA => Self::MuchB,
            Self::A => Self::B,
            Self::Tie => Self::Tie,
            Self::B => Self::A,
            Self::MuchB => Self::MuchA,
            Self::CannotTell => Self::CannotTell,
        }
    }

    /// The decision in words, given the names of the two documents.
    pub fn words(self, a: &str, b: &str) -> String {
        match self {
            Self::MuchA => format!("{a} is much better"),
            Self::A => format!("{a} is better"),
            Self::Tie => "about equal".to_owned(),
            Self::B => format!("{b} is better"),
            Self::MuchB => format!("{b} is much better"),
            Self::CannotTell => "cannot tell".to_owned(),
        }
    }
}

named! {
    "an override mode", "kebab-case";
    /// How a verdict counts in the fit, in relation to the judges' votes on its pair.
    #[derive(Default)]
    pub enum OverrideMode {
        /// The verdict is added to the votes.
        #[default]
        #[serde(alias = "beside")]
        Alongside,
        /// A verdict that contradicts the votes replaces them; any other is added to them.
        Replace,
        /// The rule of versions up to 0.1: a contradicting verdict replaces the votes with ⅔ of a
        /// win. It can lower the document that the verdict prefers.
        Legacy,
        /// The former `beside`: a contradicting verdict adds ⅔ of a win to the votes.
        LegacyBeside,
    }
}

impl OverrideMode {
    /// Whether verdicts count as they did in versions up to 0.1.
    pub fn is_legacy(self) -> bool {
        matches!(self, Self::Legacy | Self::LegacyBeside)
    }
}

/// The effective verdict on a pair of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Globally unique, so that files of two analysts can be merged.
    pub uid: String,
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    pub decision: Decision,
    /// The person's explanation.
    pub note: Option<String>,
    pub annotator: String,
    /// Time of the verdict, in milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl Verdict {
    /// The decision with document `a` of the pair first.
    pub fn seen_from(&self, a: usize) -> Decision {
        if self.a == a {
            self.decision
        } else {
            self.decision.flipped()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipping_a_decision_mirrors_its_score() {
        for decision in Decision::ALL {
            assert_eq!(decision.flipped().flipped(), decision);
            assert_eq!(decision.name().parse(), Ok(decision));
            if let (Some(score), Some(mirrored)) = (decision.score(), decision.flipped().score()) {
                assert!((score + mirrored - 1.0).abs() < 1e-15);
            }
        }
    }
}
