//! What a person adds to a decision: how sure they are, and what the judges got wrong.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How sure a person is of a verdict. It is stored and counts for nothing in the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A guess.
    Low,
    /// Fairly sure.
    Medium,
    /// Sure.
    High,
}

impl Confidence {
    /// Every step, least sure first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Low => "a guess",
            Self::Medium => "fairly sure",
            Self::High => "sure",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Confidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        named(
            text,
            "a confidence",
            &Self::ALL.map(|one| (one, one.name())),
        )
    }
}

/// Why a person's verdict differs from the judges' votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// Every cause, in the order in which they are offered.
    pub const ALL: [Self; 6] = [
        Self::JudgeWrong,
        Self::BothDefensible,
        Self::QueryUnclear,
        Self::GuidelineGap,
        Self::DocumentBroken,
        Self::Other,
    ];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::JudgeWrong => "judge-wrong",
            Self::BothDefensible => "both-defensible",
            Self::QueryUnclear => "query-unclear",
            Self::GuidelineGap => "guideline-gap",
            Self::DocumentBroken => "document-broken",
            Self::Other => "other",
        }
    }

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

impl fmt::Display for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ErrorCause {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        named(text, "a cause", &Self::ALL.map(|one| (one, one.name())))
    }
}

/// The one of `all` that is called `text`, or what there is instead.
fn named<T: Copy>(text: &str, what: &str, all: &[(T, &str)]) -> Result<T, String> {
    let found = all.iter().find(|(_, name)| *name == text);
    found.map(|(one, _)| *one).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
        format!("{text:?} is not {what}: expected {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_other_words_are_refused_with_the_choice() {
        for confidence in Confidence::ALL {
            assert_eq!(confidence.to_string().parse(), Ok(confidence));
            let json = serde_json::to_string(&confidence).unwrap();
            assert_eq!(json, format!("\"{confidence}\""));
        }
        for cause in ErrorCause::ALL {
            assert_eq!(cause.to_string().parse(), Ok(cause));
            assert_eq!(
                serde_json::to_string(&cause).unwrap(),
                format!("\"{cause}\"")
            );
        }
        let error = "sure".parse::<Confidence>().unwrap_err();
        assert_eq!(
            error,
            "\"sure\" is not a confidence: expected low, medium, high"
        );
        assert!(
            "".parse::<ErrorCause>()
                .unwrap_err()
                .contains("query-unclear")
        );
    }
}
