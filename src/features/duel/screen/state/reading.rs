//! The open text and the passage being marked: by sentence, then word by word at either end.

use super::Card;
use crate::domain::corpus::DocId;
use crate::domain::{sanitize, text};
use crate::features::duel::domain::Passage;
use crate::tui::widgets::document_text::SHOWN_BYTES;
use std::ops::Range;
use std::sync::Arc;

/// Number of sentences per page.
const PAGE: usize = 8;

#[derive(Clone, Debug)]
pub struct Reading {
    pub document: Option<DocId>,
    /// Byte ranges in the displayed text.
    sentences: Vec<Range<usize>>,
    words: Vec<Range<usize>>,
    /// Index of the sentence under the cursor.
    cursor: usize,
    /// The marked passage as a byte range in the displayed text.
    pub mark: Range<usize>,
    /// Whether the cursor has moved since the text was opened.
    pub moved: bool,
    source: Arc<str>,
}

/// Converts a stored passage, in characters, to a byte range in the displayed text.
pub fn shown_passage(source: &str, passage: Passage) -> Range<usize> {
    let at = |characters: usize| {
        let byte = source.char_indices().nth(characters);
        let byte = byte.map_or(source.len(), |(byte, _)| byte);
        shown_at(source, byte)
    };
    at(passage.start)..at(passage.end)
}

/// Maps a byte position in the source to the displayed text. Sanitizing works from left to right,
/// so the sanitized prefix is a prefix of the sanitized text.
fn shown_at(source: &str, byte: usize) -> usize {
    sanitize::block(source.get(..byte).unwrap_or(source)).len()
}

/// Converts a passage of the displayed text to characters of the source.
fn source_passage(source: &str, shown: &Range<usize>) -> Passage {
    let mut bytes: Vec<usize> = source.char_indices().map(|(byte, _)| byte).collect();
    bytes.push(source.len());
    // The last character that begins at or before the start, and the first one that ends at or
    // after the end.
    let start = bytes.partition_point(|byte| shown_at(source, *byte) <= shown.start);
    let end = bytes.partition_point(|byte| shown_at(source, *byte) < shown.end);
    Passage {
        start: start.saturating_sub(1),
        end: end.min(bytes.len() - 1),
    }
}

impl Reading {
    /// A text with its best sentence marked, or with the chosen passage.
    pub fn new(card: &Card, chosen: Option<Passage>) -> Self {
        let shown = &card.shown.text;
        let sentences = text::sentences(shown);
        let words = text::words(shown).map(|(at, word)| at..at + word.len());
        let mut reading = Self {
            document: card.document.clone(),
            words: words.collect(),
            cursor: 0,
            mark: 0..0,
            moved: false,
            sentences,
            source: card.source.clone(),
        };
        let best = card.shown.passage.start.max(card.body);
        let marked = chosen.map(|passage| shown_passage(&card.source, passage));
        let from = marked.as_ref().map_or(best, |marked| marked.start);
        reading.put(
            reading
                .sentences
                .partition_point(|sentence| sentence.end <= from),
        );
        if let Some(marked) =
            marked.filter(|marked| !marked.is_empty() && marked.end <= shown.len())
        {
            reading.mark = marked;
        }
        reading
    }

    /// Whether there is nothing to mark.
    pub fn is_empty(&self) -> bool {
        self.mark.is_empty()
    }

    /// The marked passage in characters of the document's text; `None` if there is no text.
    pub fn passage(&self) -> Option<Passage> {
        if self.is_empty() {
            return None;
        }
        // Only the beginning of a long text is shown.
        let mut end = self.source.len().min(SHOWN_BYTES);
        while !self.source.is_char_boundary(end) {
            end -= 1;
        }
        let source = self.source.get(..end)?;
        Some(source_passage(source, &self.mark))
    }

    /// Number of words in the marked passage.
    pub fn marked_words(&self) -> usize {
        let inside =
            |word: &&Range<usize>| word.start >= self.mark.start && word.end <= self.mark.end;
        self.words.iter().filter(inside).count()
    }

    fn put(&mut self, sentence: usize) {
        self.cursor = sentence.min(self.sentences.len().saturating_sub(1));
        self.mark = self.sentences.get(self.cursor).cloned().unwrap_or(0..0);
    }

    /// Marks the sentence that contains a byte of the text, or the next one.
    pub fn point(&mut self, byte: usize) {
        self.moved = true;
        self.put(
            self.sentences
                .partition_point(|sentence| sentence.end <= byte),
        );
    }

    /// Extends the mark to the sentence that contains a byte.
    pub fn stretch(&mut self, byte: usize) {
        self.moved = true;
        let to = self
            .sentences
            .partition_point(|sentence| sentence.end <= byte);
        let here = self.sentences.get(self.cursor).cloned();
        let there = self
            .sentences
            .get(to.min(self.sentences.len().saturating_sub(1)));
        if let (Some(here), Some(there)) = (here, there) {
            self.mark = here.start.min(there.start)..here.end.max(there.end);
        }
    }

    /// Marks the next or the previous sentence.
    pub fn step(&mut self, forward: bool) {
        self.moved = true;
        let to = if forward {
            self.cursor + 1
        } else {
            self.cursor.saturating_sub(1)
        };
        self.put(to);
    }

    pub fn page(&mut self, forward: bool) {
        self.moved = true;
        let to = if forward {
            self.cursor + PAGE
        } else {
            self.cursor.saturating_sub(PAGE)
        };
        self.put(to);
    }

    pub fn edge(&mut self, last: bool) {
        self.moved = true;
        self.put(if last { usize::MAX } else { 0 });
    }

    /// Moves the end of the mark by one sentence.
    pub fn sentence(&mut self, more: bool) {
        self.moved = true;
        let ends = self.sentences.iter().map(|sentence| sentence.end);
        let end = if more {
            ends.into_iter().find(|end| *end > self.mark.end)
        } else {
            ends.rev()
                .find(|end| *end < self.mark.end && *end > self.mark.start)
        };
        self.mark.end = end.unwrap_or(self.mark.end);
    }

    /// Moves the end of the mark by one word.
    pub fn word(&mut self, more: bool) {
        self.moved = true;
        let end = if more {
            self.words.iter().find(|word| word.start >= self.mark.end)
        } else {
            // Drop its last word, but keep the first one.

            let inside = |word: &&Range<usize>| word.start < self.mark.end;
            let mut before = self.words.iter().rev().filter(inside).skip(1);
            before.next().filter(|word| word.start >= self.mark.start)
        };
        self.mark.end = end.map_or(self.mark.end, |word| word.end);
    }

    /// Moves the start of the mark by one word.
    pub fn start(&mut self, earlier: bool) {
        self.moved = true;
        let start = if earlier {
            self.words
                .iter()
                .rev()
                .find(|word| word.end <= self.mark.start)
        } else {
            self.words
                .iter()
                .find(|word| word.start > self.mark.start)
                .filter(|word| word.end <= self.mark.end)
        };
        self.mark.start = start.map_or(self.mark.start, |word| word.start);
    }
}

#[cfg(test)]
mod tests;
