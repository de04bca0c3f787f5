//! What a person adds to a decision: how sure they are, and what the judges got wrong.

use crate::domain::named::named;

named! {
    "a confidence", "kebab-case";
    /// How sure a person is of a verdict. It is stored and counts for nothing in the fit.
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
        /// Both answers can be defended.
        BothDefensible,
        /// The query can be understood in more than one way.
        QueryUnclear,
        /// The guideline does not say.
        GuidelineGap,
        /// A document is cut off, garbled or empty.
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
