//! Words looked for in the texts on screen, and the place that is shown.

use crate::tui::widgets::document_text::PreparedText;
use std::ops::Range;
use std::sync::Arc;

/// A search that is lit on screen. While there is one, the screen's own keys rest: what is typed moves among the places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSearch {
    pub words: String,
    /// Each place where the words stand: which text, and its bytes there.
    pub found: Vec<(usize, Range<usize>)>,
    /// The place that is shown, among those found.
    pub at: usize,
}

impl TextSearch {
    /// Looks for the words in these texts, those that are not loaded left out.
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

    /// Goes to the next place or the one before, from the last on to the first.
    pub fn step(&mut self, forward: bool) {
        let count = self.found.len().max(1);
        self.at = (self.at + if forward { 1 } else { count - 1 }) % count;
    }

    /// The places in one text.
    pub fn in_text(&self, side: usize) -> Vec<Range<usize>> {
        let here = self.found.iter().filter(|(place, _)| *place == side);
        here.map(|(_, range)| range.clone()).collect()
    }

    /// The place that is shown, where it is in this text.
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
