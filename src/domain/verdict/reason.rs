//! What a person adds to a decision: how sure they are, and what the judges got wrong.

use crate::domain::named::named;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// How sure a person is of a verdict. It is stored and counts for nothing in the fit.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Confidence {
    /// A guess.
    Low,
    /// Fairly sure.
    Medium,
    /// Sure.
    High,
}

impl Confidence {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Low => "a guess",
            Self::Medium => "fairly sure",
            Self::High => "sure",
        }
    }
}

named!(Confidence, "a confidence");

/// Why a person's verdict differs from the judges' votes.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ErrorCause {
    /// The judges are wrong.
    JudgeWrong,
    /// Both answers can be defended.
    BothDefensible,
    /// The query can be understood in more than one way.
    QueryUnclear,
    /// The guideline does not say.
    GuidelineGap,
    /// A document is cut off, garbled or empty.
    DocumentBroken,
    /// Something else.
    Other,
}

impl ErrorCause {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::JudgeWrong => "the judges are wrong",
            Self::BothDefensible => "both answers can be defended",
            Self::QueryUnclear => "the query is unclear",
            Self::GuidelineGap => "the guideline does not say",
            Self::DocumentBroken => "a document is broken",
            Self::Other => "another cause",
        }
    }
}

named!(ErrorCause, "a cause");
