//! Counts lines of a batch's results that are not used, and keeps the first of each kind.

use crate::app::text_format::counted;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Maximum number of characters shown of a line.
const SHOWN: usize = 120;

/// Lines that match no call of the batch or cannot be read. A line that arrives again after an
/// interrupted download counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Lines that match no call of the batch.
    pub strangers: usize,
    /// Lines that cannot be read.
    pub unreadable: usize,
    first_stranger: Option<String>,
    first_unreadable: Option<String>,
    seen: HashSet<u64>,
}

impl LeftOut {
    pub(super) fn add_stranger(&mut self, id: &str) {
        if self.is_new(id) {
            self.strangers += 1;
            self.first_stranger.get_or_insert_with(|| beginning(id));
        }
    }

    pub(super) fn add_unreadable(&mut self, line: &str) {
        if self.is_new(line) {
            self.unreadable += 1;
            self.first_unreadable.get_or_insert_with(|| beginning(line));
        }
    }

    fn is_new(&mut self, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// How many there are, with the first of each kind; `None` without any.
    pub fn words(&self) -> Option<String> {
        let part = |count: usize, what: &str, first: &Option<String>| {
            let first = first.as_ref().filter(|_| count > 0)?;
            let which = if count == 1 {
                ""
            } else {
                ", the first of them"
            };
            Some(format!(
                "{} of the results {what}{which}: {first:?}",
                counted(count, "line")
            ))
        };
        let matches = if self.strangers == 1 {
            "matches"
        } else {
            "match"
        };
        let strangers = part(
            self.strangers,
            &format!("{matches} no call of this batch"),
            &self.first_stranger,
        );
        let unreadable = part(self.unreadable, "cannot be read", &self.first_unreadable);
        let parts: Vec<String> = strangers.into_iter().chain(unreadable).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
