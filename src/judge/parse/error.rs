//! Reasons why a reply is not an answer.

use crate::judge::call::FailureCause;

/// Maximum length of text quoted from a reply in a message.
const SHOWN: usize = 40;

/// Why a reply states no answer, independent of the question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    #[error("the reply is empty")]
    Empty,
    #[error("the reply has thinking and no answer after it")]
    OnlyThinking,
    #[error("the model declined to answer: {0}")]
    Declined(String),
    #[error("the answer does not end")]
    Unfinished,
    #[error("the only answer in the reply is copied from a text that the judge was shown")]
    Copied,
    #[error("the reply has several answers that differ")]
    Differ,
    #[error("the reply does not stand by its answer: {0}")]
    TakenBack(String),
    /// The text is in the field of the model's reasoning, and is not by itself an answer.
    #[error(
        "the content of the reply is empty, and its {field} ({characters} characters) is not \
         exactly an answer; turn the \
         model's thinking off or allow it more tokens, or check the server's reasoning parser"
    )]
    OutsideContent {
        field: &'static str,
        characters: usize,
    },
}

impl NoAnswer {
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::Declined(_) => FailureCause::Refused,
            _ => FailureCause::Malformed,
        }
    }
}

/// Why a reply is not an opinion on two documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
    /// A string, a list or a number.
    #[error("the reply is not a JSON object")]
    NotAnObject,
    #[error("the reply is not valid JSON: {0}")]
    Json(String),
    #[error("the reply has more than one \"{0}\"")]
    Duplicate(&'static str),
    #[error("the reply has no \"{0}\"")]
    Missing(&'static str),
    /// `score` is not a number in any spelling.
    #[error("\"score\" is not a number: {0}")]
    ScoreNotNumber(String),
    /// `score` exceeds the range of a float.
    #[error("\"score\" is not a finite number: {0}")]
    ScoreNotFinite(String),
    /// `score` is a number outside −1..=1.
    #[error("\"score\" is not between -1 and 1: {0}")]
    ScoreOutOfRange(String),
    #[error("the choice is neither A nor B nor a tie: {0}")]
    NotAChoice(String),
    #[error("the reply is not one of the letters A, B and T alone: {0}")]
    NotALetter(String),
    #[error("\"thoughts\" is neither a string nor a list of strings")]
    ThoughtsNotText,
}

impl ParseError {
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::NoAnswer(why) => why.cause(),
            _ => FailureCause::Malformed,
        }
    }
}

/// The beginning of a text, for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
