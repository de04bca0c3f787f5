//! Truncates a document to a maximum number of characters, at the end of a sentence or a word.

use super::text;
use std::sync::Arc;

/// How far before the limit to look for the end of a sentence, in bytes.
const LOOK_BACK: usize = 4_000;

/// How much of a document is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentCut {
    /// Maximum number of characters.
    pub chars: usize,
}

impl DocumentCut {
    /// Whether `text` is longer than the limit.
    pub fn cuts(self, text: &str) -> bool {
        self.end(text).is_some()
    }

    /// The byte offset of the limit, or `None` if the whole text fits.
    fn end(self, text: &str) -> Option<usize> {
        if text.len() <= self.chars {
            return None;
        }
        text.char_indices().nth(self.chars).map(|(at, _)| at)
    }

    /// The limit for each of `documents` shown in one message: in total as much as the two
    /// documents of a battle.
    #[must_use]
    pub fn shared(self, documents: usize) -> Self {
        Self {
            chars: (self.chars.saturating_mul(2) / documents.max(2)).max(1),
        }
    }

    /// The lower of this limit and another one, if there is another.
    #[must_use]
    pub fn at_most(self, other: Option<Self>) -> Self {
        other.map_or(self, |other| self.min(other))
    }

    /// The part of `text` to show if it is longer than the limit.
    pub fn head(self, text: &str) -> Option<&str> {
        let limit = self.end(text)?;
        Some(&text[..sentence_end(text, limit)])
    }

    /// The text to show: all of it, or its head.
    pub fn head_of(self, text: &Arc<str>) -> Arc<str> {
        self.head(text).map_or_else(|| Arc::clone(text), Arc::from)
    }
}

/// The end of the last whole sentence before `limit`, or of the last word, or `limit` itself.
fn sentence_end(full: &str, limit: usize) -> usize {
    let mut start = limit.saturating_sub(LOOK_BACK);
    while !full.is_char_boundary(start) {
        start += 1;
    }
    let tail = &full[start..limit];
    let sentences = text::sentences(tail);
    // The last sentence is probably truncated. The first one may start earlier, but its end is
    // valid.
    let whole = sentences
        .len()
        .checked_sub(2)
        .and_then(|at| sentences.get(at));
    let end = whole.map(|range| range.end).or_else(|| {
        let words = tail.trim_end_matches(|c: char| !c.is_whitespace());
        Some(words.trim_end().len()).filter(|end| *end > 0)
    });
    end.map_or(limit, |end| start + end)
}
