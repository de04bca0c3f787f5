//! Prepares a document for a prompt: truncated, without control characters and without imitations
//! of our marker lines.

use crate::domain::text;
use std::borrow::Cow;

/// How far before the limit to look for the end of a sentence, in bytes.
const LOOK_BACK: usize = 4_000;

/// Minimum number of characters shown of each of several candidates, unless the limit is lower:
/// about the 300 words to which Sun et al. (2023, RankGPT) truncate passages.
const LISTED: usize = 2_000;

/// Our marker lines start with this; it is broken up in documents.
const OPENING: &str = "[[";

/// How much of a document is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn shared(self, documents: usize) -> Self {
        Self {
            chars: (self.chars.saturating_mul(2) / documents.max(2)).max(1),
        }
    }

    /// The limit for each of this many candidates shown in one message: as
    /// [`shared`](Self::shared), but at least the length of a passage.
    pub fn listed(self, documents: usize) -> Self {
        Self {
            chars: self.shared(documents).chars.max(LISTED).min(self.chars),
        }
    }

    /// The part of `text` to show, and a remark if it is truncated.
    pub(super) fn apply(self, text: &str) -> (&str, String) {
        let Some(limit) = self.end(text) else {
            return (text, String::new());
        };
        let shown = &text[..sentence_end(text, limit)];
        let remark = format!(
            " (cut: the first {} of {} characters are shown; judge what is shown)",
            shown.chars().count(),
            text.chars().count()
        );
        (shown, remark)
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

/// `text` with control characters replaced by spaces, and with every `[[` that could start one of
/// our marker lines broken up.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(odd) && !text.contains(OPENING) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c == '[' && cleaned.ends_with('[') {
            cleaned.push(' ');
        }
        cleaned.push(if odd(c) { ' ' } else { c });
    }
    Cow::Owned(cleaned)
}
