//! A search in the texts on screen, and the current match.

use crate::tui::widgets::document_text::PreparedText;
use std::ops::Range;
use std::sync::Arc;

/// An active search. While it is active, the screen's own keys are disabled, and typed keys move
/// between the matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSearch {
    pub words: String,
    /// The matches: the index of the text, and the byte range in it.
    pub found: Vec<(usize, Range<usize>)>,
    /// Index of the current match.
    pub at: usize,
}

impl TextSearch {
    /// Searches these texts for the words, skipping texts that are not loaded.
    pub fn new(words: &str, texts: &[Option<Arc<PreparedText>>]) -> Self {
        let mut found = Vec::new();
        for (side, text) in texts.iter().enumerate() {
            let places = text.iter().flat_map(|text| text.folded.occurrences(words));
            found.extend(places.map(|range| (side, range)));
        }
        Self {
            words: words.to_owned(),
            found,
            at: 0,
        }
    }

    pub fn current(&self) -> Option<&(usize, Range<usize>)> {
        self.found.get(self.at)
    }

    /// Goes to the next or the previous match, wrapping around.
    pub fn step(&mut self, forward: bool) {
        let count = self.found.len().max(1);
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
    }

    /// The matches in one text.
    pub fn in_text(&self, side: usize) -> Vec<Range<usize>> {
        self.found
            .iter()
            .filter(|(place, _)| *place == side)
            .map(|(_, range)| range.clone())
            .collect()
    }

    /// The current match, if it is in this text.
    pub fn current_in(&self, side: usize) -> Option<Range<usize>> {
        let (place, range) = self.current()?;
        (*place == side).then(|| range.clone())
    }

    /// `3 of 7`, or that there is none.
    pub fn count(&self) -> String {
        match self.found.len() {
            0 => "no match".to_owned(),
            count => format!("{} of {count}", self.at + 1),
        }
    }
}
