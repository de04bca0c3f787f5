//! What a format of choices between two documents is.

use super::exported_pairs::WrittenPairs;
use crate::domain::vote::Outcome;
use crate::formats::answers::{AnswerOptions, ItemName};
use crate::formats::listed::FormatNames;
use crate::formats::problem::Problem;
use std::io::BufRead;

/// Choices between two documents of one tool: how they look, and how they are read and written.
pub trait PairTool: Sync {
    fn info(&self) -> &PairInfo;

    /// Whether a file that begins with `start`, without leading whitespace, is in this format.
    /// `start` may end anywhere.
    fn recognizes(&self, start: &str) -> bool;

    /// Reads a whole file, including all of its problems. `file` is the file's name in problems.
    /// Returns the number of answers that say nothing.
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(Result<PairAnswer, Problem>),
    ) -> usize;
}

/// The description of a format.
#[derive(Debug)]
pub struct PairInfo {
    pub names: FormatNames,
    /// How choices are written; `None` if the tool reads no files of choices.
    pub written: Option<WrittenPairs>,
}

/// A choice between two documents.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAnswer {
    /// From 1.
    pub line: u64,
    pub query: ItemName,
    pub a: ItemName,
    pub b: ItemName,
    /// The person.
    pub by: String,
    pub choice: Outcome,
    /// What else was said; empty if nothing was.
    pub note: String,
    /// In milliseconds since the Unix epoch.
    pub created_ms: Option<i64>,
}
