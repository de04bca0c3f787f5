//! Writes choices between two documents.

use crate::domain::vote::Outcome;
use crate::formats::safe_json;
use serde_json::Value;
use std::io::{self, Write};

/// How choices are written in a format.
#[derive(Debug)]
pub struct WrittenPairs {
    /// The kind of file and its extension, as part of a sentence.
    pub file_words: &'static str,
    /// Extensions of files in this format.
    pub endings: &'static [&'static str],
    /// The items of a pair.
    pub(super) items: fn(&ExportedPair<'_>) -> Vec<Value>,
    /// Whether the file is an array of items; otherwise, it has an item per line.
    pub(super) is_array: bool,
    /// Whether an item has the note of a choice.
    pub(super) has_note: fn(&ExportedChoice<'_>) -> bool,
    /// Whether an item has the times of its choices.
    pub(super) has_times: bool,
}

/// Choices of people between two documents, with texts as people read them.
#[derive(Clone, Debug)]
pub struct ExportedPair<'a> {
    pub query: ExportedItem<'a>,
    pub a: ExportedItem<'a>,
    pub b: ExportedItem<'a>,
    pub choices: Vec<ExportedChoice<'a>>,
}

/// A query or a document.
#[derive(Clone, Copy, Debug)]
pub struct ExportedItem<'a> {
    pub id: &'a str,
    pub text: &'a str,
}

/// A person's choice.
#[derive(Clone, Copy, Debug)]
pub struct ExportedChoice<'a> {
    pub by: &'a str,
    pub choice: Outcome,
    pub note: Option<&'a str>,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// Numbers of details that a format has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostDetails {
    pub notes: usize,
    pub times: usize,
}

/// A file of choices in progress.
pub struct PairWriter<'a> {
    format: &'static WrittenPairs,
    out: &'a mut dyn Write,
    is_empty: bool,
    lost: LostDetails,
}

impl<'a> PairWriter<'a> {
    /// Begins a file. Use a buffered `out`.
    pub fn new(format: &'static WrittenPairs, out: &'a mut dyn Write) -> Self {
        Self {
            format,
            out,
            is_empty: true,
            lost: LostDetails::default(),
        }
    }

    pub fn add(&mut self, pair: &ExportedPair<'_>) -> io::Result<()> {
        for item in (self.format.items)(pair) {
            let before = match (self.format.is_array, self.is_empty) {
                (true, true) => "[\n",
                (true, false) => ",\n",
                (false, true) => "",
                (false, false) => "\n",
            };
            write!(self.out, "{before}{}", safe_json::compact(&item)?)?;
            self.is_empty = false;
        }
        for choice in &pair.choices {
            let lost = choice.note.is_some() && !(self.format.has_note)(choice);
            self.lost.notes += usize::from(lost);
            self.lost.times += usize::from(!self.format.has_times);
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<LostDetails> {
        let end = match (self.format.is_array, self.is_empty) {
            (true, true) => "[]\n",
            (true, false) => "\n]\n",
            (false, true) => "",
            (false, false) => "\n",
        };
        self.out.write_all(end.as_bytes())?;
        Ok(self.lost)
    }
}
