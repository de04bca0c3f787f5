//! Writes choices between two documents.

use crate::domain::vote::Outcome;
use crate::formats::listed::FormatNames;
use crate::formats::safe_json;
use serde_json::Value;
use std::io::{self, Write};

/// How choices are written in a format: as an array of items.
#[derive(Debug)]
pub struct WrittenPairs {
    /// The kind of file and its extension, as part of a sentence.
    pub(super) file_words: &'static str,
    /// Extensions of files in this format.
    pub(super) endings: &'static [&'static str],
    /// The items of a pair.
    pub(super) items: fn(&ExportedPair<'_>) -> Vec<Value>,
    /// Whether an item has the note of a choice.
    pub(super) has_note: fn(&ExportedChoice<'_>) -> bool,
    /// Whether an item has the time of a choice.
    pub(super) has_time: fn(&ExportedChoice<'_>) -> bool,
}

/// A format in which choices are written.
#[derive(Clone, Copy, Debug)]
pub struct PairForm {
    pub(super) names: &'static FormatNames,
    pub(super) written: &'static WrittenPairs,
}

/// Forms differ in their names.
impl PartialEq for PairForm {
    fn eq(&self, other: &Self) -> bool {
        self.names.name == other.names.name
    }
}

impl Eq for PairForm {}

impl PairForm {
    pub fn names(self) -> &'static FormatNames {
        self.names
    }

    /// The kind of file and its extension, as part of a sentence.
    pub fn file_words(self) -> &'static str {
        self.written.file_words
    }

    /// Extensions of files in this form.
    pub fn endings(self) -> &'static [&'static str] {
        self.written.endings
    }
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

/// A file of choices in progress, an array with an item per line.
pub struct PairWriter<'a> {
    format: &'static WrittenPairs,
    out: &'a mut dyn Write,
    is_empty: bool,
    lost: LostDetails,
}

impl<'a> PairWriter<'a> {
    /// Begins a file. Use a buffered `out`.
    pub fn new(form: PairForm, out: &'a mut dyn Write) -> Self {
        Self {
            format: form.written,
            out,
            is_empty: true,
            lost: LostDetails::default(),
        }
    }

    pub fn add(&mut self, pair: &ExportedPair<'_>) -> io::Result<()> {
        for item in (self.format.items)(pair) {
            let before = if self.is_empty { "[\n" } else { ",\n" };
            write!(self.out, "{before}{}", safe_json::compact(&item)?)?;
            self.is_empty = false;
        }
        for choice in &pair.choices {
            let lost = choice.note.is_some() && !(self.format.has_note)(choice);
            self.lost.notes += usize::from(lost);
            self.lost.times += usize::from(!(self.format.has_time)(choice));
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<LostDetails> {
        let end = if self.is_empty { "[]\n" } else { "\n]\n" };
        self.out.write_all(end.as_bytes())?;
        Ok(self.lost)
    }
}
