//! A document on its way into a prompt: cut to size, without control characters, without look-alikes of our lines.

use crate::domain::text;
use std::borrow::Cow;

/// How far back from the limit a sentence's end is looked for, in bytes.
const LOOK_BACK: usize = 4_000;

/// Characters of each of several candidates that are shown at least, where the limit is not lower: about the 300 words to
/// which Sun et al. (2023, RankGPT) cut passages.
const LISTED: usize = 2_000;

/// Our lines begin with this; in a document it is taken apart.
const OPENING: &str = "[[";

/// How much of a document is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentCut {
    /// Characters at most.
    pub chars: usize,
}

impl DocumentCut {
    /// Whether `text` is longer than that.
    pub fn cuts(self, text: &str) -> bool {
        self.end(text).is_some()
    }

    /// Where the limit lies, or `None` where all of the text fits.
    fn end(self, text: &str) -> Option<usize> {
        if text.len() <= self.chars {
            return None;
        }
        text.char_indices().nth(self.chars).map(|(at, _)| at)
    }

    /// How much of each of `documents` is shown in one message: together as much as of the two of a battle.
    pub fn shared(self, documents: usize) -> Self {
        Self {
            chars: (self.chars.saturating_mul(2) / documents.max(2)).max(1),
        }
    }

    /// How much of each of so many candidates is shown in one message: as [`shared`](Self::shared), but not less than makes
    /// a passage.
    pub fn listed(self, documents: usize) -> Self {
        Self {
            chars: self.shared(documents).chars.max(LISTED).min(self.chars),
        }
    }

    /// What is shown of `text`, and a remark where that is not all of it.
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

/// The end of the last whole sentence before `limit`, else of the last word, else `limit` itself.
fn sentence_end(full: &str, limit: usize) -> usize {
    let mut start = limit.saturating_sub(LOOK_BACK);
    while !full.is_char_boundary(start) {
        start += 1;
    }
    let tail = &full[start..limit];
    let sentences = text::sentences(tail);
    // The last one is whole only by luck; the first one may have begun earlier, its end is good all the same.
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

/// `text` with control characters as spaces and with every `[[` that could begin one of our lines taken apart.
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
