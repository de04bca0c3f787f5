//! One measure's assessment of one document.

use super::reading::DocumentReading;
use crate::domain::text::READ_CHARS;
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Assessment {
    pub(super) score: f64,
    pub(super) matched: u64,
    pub(super) passage: Range<usize>,
    pub(super) note: String,
}

impl Assessment {
    /// Without a note and a passage.
    pub(super) fn of_score(score: f64, matched: u64) -> Self {
        Self {
            score,
            matched,
            passage: 0..0,
            note: String::new(),
        }
    }

    /// `note` describes the findings and follows the document's label; `passage` is quoted after
    /// it.
    pub(super) fn new(
        document: &DocumentReading,
        score: f64,
        matched: u64,
        passage: Range<usize>,
        mut note: String,
    ) -> Self {
        if document.words == 0 {
            "has no words".clone_into(&mut note);
        }
        match document.text.get(passage.clone()) {
            Some(quote) if quote.ends_with(['.', '!', '?']) => note += &format!(": “{quote}”"),
            Some(quote) if !quote.is_empty() => note += &format!(": “{quote}”."),
            _ => note.push('.'),
        }
        if document.is_cut {
            note += &format!(" Only its first {READ_CHARS} characters were read.");
        }
        Self {
            score,
            matched,
            passage,
            note,
        }
    }

    #[cfg(test)]
    pub(super) fn score(&self) -> f64 {
        self.score
    }
}
