//! Why a reply is not an opinion.

use crate::judge::call::FailureCause;

/// The most characters of a reply repeated in a message.
const SHOWN: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing but white space or thinking.
    #[error("the reply is empty")]
    Empty,
    /// Text, a list, a number.
    #[error("the reply is not a JSON object")]
    NotAnObject,
    /// The model declines in words.
    #[error("the model declined to answer: {0}")]
    Declined(String),
    #[error("the reply is not valid JSON: {0}")]
    Json(String),
    #[error("the reply has more than one \"{0}\"")]
    Duplicate(&'static str),
    #[error("the reply has no \"{0}\"")]
    Missing(&'static str),
    /// `score` is no number, however it is spelt.
    #[error("\"score\" is not a number: {0}")]
    ScoreNotNumber(String),
    /// `score` is beyond what a float holds.
    #[error("\"score\" is not a finite number: {0}")]
    ScoreNotFinite(String),
    /// `score` is a number outside −1..=1.
    #[error("\"score\" is not between -1 and 1: {0}")]
    ScoreOutOfRange(String),
    #[error("the choice is neither A nor B nor a tie: {0}")]
    NotAChoice(String),
    #[error("\"thoughts\" is neither a string nor a list of strings")]
    ThoughtsNotText,
}

impl ParseError {
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::Declined(_) => FailureCause::Refused,
            _ => FailureCause::Malformed,
        }
    }
}

/// The beginning of a text for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
