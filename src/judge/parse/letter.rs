//! Parses answers of one word: a letter, or yes or no.

use super::thinking::answer_part;
use super::written::Written;

/// A word that makes up a whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerWord {
    A,
    B,
    Tie,
    Yes,
    No,
}

impl AnswerWord {
    /// Whether it is yes or no, instead of an answer about two documents.
    pub fn is_yes_or_no(self) -> bool {
        matches!(self, Self::Yes | Self::No)
    }

    /// Parses an answer word, ignoring case.
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

/// The answer word in `part`, the answer part of a reply, ignoring Markdown, quotation marks and a
/// period.
pub(super) fn word(part: &str) -> Option<AnswerWord> {
    AnswerWord::of(part.trim_matches(|c: char| c.is_whitespace() || "\"'`*_.()[]“”‘’".contains(c)))
}

/// The answer word of a reply after any reasoning, if the answer is one word.
pub(crate) fn answer_word(text: &str) -> Option<AnswerWord> {
    let written = Written::from(text);
    word(answer_part(written.trimmed().ok()?, &written))
}
