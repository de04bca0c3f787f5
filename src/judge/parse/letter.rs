//! Answers of one word: a letter, or yes or no.

use super::thinking::answer_part;
use super::written::Written;

/// A word that is a whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerWord {
    A,
    B,
    Tie,
    Yes,
    No,
}

impl AnswerWord {
    /// Whether it is yes or no, and not about two documents.
    pub fn is_yes_or_no(self) -> bool {
        matches!(self, Self::Yes | Self::No)
    }

    /// The answer that `text` is, in any case.
    pub fn of(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "a" => Some(Self::A),
            "b" => Some(Self::B),
            "t" | "tie" => Some(Self::Tie),
            "yes" => Some(Self::Yes),
            "no" => Some(Self::No),
            _ => None,
        }
    }
}

/// The answer that `part`, the answer part of a reply, is but for Markdown, quotation marks and a
/// full stop.
pub(super) fn word(part: &str) -> Option<AnswerWord> {
    AnswerWord::of(part.trim_matches(|c: char| c.is_whitespace() || "\"'`*_.()[]“”‘’".contains(c)))
}

/// The answer that a reply is after any thinking, if it is one word.
pub(crate) fn answer_word(text: &str) -> Option<AnswerWord> {
    let written = Written::from(text);
    word(answer_part(written.trimmed().ok()?, &written))
}
