//! Additional information on a decision: how certain the person is, and the judges' mistakes.

use crate::domain::named::named;

named! {
    "a confidence", "kebab-case";
    /// How certain a person is of a verdict. Stored, but not used in the fit.
    pub enum Confidence {
        Low,
        Medium,
        High,
    }
}

impl Confidence {
    pub fn words(self) -> &'static str {
        match self {
            Self::Low => "a guess",
            Self::Medium => "fairly sure",
            Self::High => "sure",
        }
    }
}

named! {
    "a cause", "kebab-case";
    /// Why a person's verdict differs from the judges' votes.
    pub enum ErrorCause {
        JudgeWrong,
        /// Both answers are defensible.
        BothDefensible,
        /// The query is ambiguous.
        QueryUnclear,
        /// The guideline does not cover the case.
        GuidelineGap,
        /// A document is truncated, garbled or empty.
        DocumentBroken,
        Other,
    }
}

impl ErrorCause {
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
