//! Recognizes files of labels, rankings and pools by their first bytes.

use super::columns::{ColumnError, LONGEST, Layout, TableContent};
use super::judgments::JudgmentFormat;
use super::lines::TextLines;
use super::problem::Problem;
use super::ranx;
use std::io::BufRead;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Labels or rankings in columns.
    Table(Layout),
    /// Labels in the format of another tool.
    Judgments(JudgmentFormat),
    /// JSON lines, or an array: pools of documents with scores or grades.
    Dataset,
    /// ranx's JSON: queries with documents and their grades.
    RanxQrels,
    /// ranx's JSON: queries with documents and their scores.
    RanxRun,
}

impl FileKind {
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Table(layout) => layout.describe(),
            Self::Judgments(format) => format.names().describe,
            Self::Dataset => "a dataset",
            Self::RanxQrels => "labels (ranx's JSON)",
            Self::RanxRun => "a run (ranx's JSON)",
        }
    }

    /// The content of the file; `None` for documents with texts.
    pub fn content(&self) -> Option<TableContent> {
        match self {
            Self::Table(layout) => Some(layout.content),
            Self::Judgments(_) | Self::RanxQrels => Some(TableContent::Labels),
            Self::RanxRun => Some(TableContent::Rankings),
            Self::Dataset => None,
        }
    }
}

/// The kind of a file according to its first nonblank line. `wanted` is the content specified by
/// the user, and `file` is the file's name in the problem.
pub fn recognize(
    mut reader: impl BufRead,
    file: &str,
    wanted: Option<TableContent>,
) -> Result<FileKind, Problem> {
    let start = reader
        .fill_buf()
        .map_err(|error| Problem::new(file, None, format!("cannot be read: {error}")))?;
    // A pool may be longer than any line of columns.
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = start.trim_ascii_start();
    if wanted != Some(TableContent::Rankings) {
        let format = JudgmentFormat::recognize(&String::from_utf8_lossy(start))
            .map_err(|what| Problem::new(file, None, what))?;
        if let Some(format) = format {
            return Ok(FileKind::Judgments(format));
        }
    }
    // An identifier may also start with a bracket.
    let inside = start.get(1..).unwrap_or_default().trim_ascii_start();
    let is = |bracket: u8, next: &[u8]| {
        start.first() == Some(&bracket) && inside.first().is_none_or(|byte| next.contains(byte))
    };
    if is(b'{', b"\"}") {
        let is_run = ranx::holds_scores(&String::from_utf8_lossy(start));
        return Ok(match (is_run, wanted) {
            (None, _) => FileKind::Dataset,
            (Some(true), None) | (Some(_), Some(TableContent::Rankings)) => FileKind::RanxRun,
            (Some(false), None) | (Some(_), Some(TableContent::Labels)) => FileKind::RanxQrels,
        });
    }
    if is(b'[', b"{[]") {
        return Ok(FileKind::Dataset);
    }
    let mut lines = TextLines::new(reader, file).at_most(LONGEST);
    let layout = match lines.next() {
        None => return Err(Problem::new(file, None, "is empty")),
        Some(Err(problem)) => return Err(problem),
        Some(Ok(line)) => line
            .text()
            .map_err(ColumnError::from)
            .and_then(|text| Layout::of(text, wanted)),
    };
    layout
        .map(FileKind::Table)
        .map_err(|error| lines.problem(error))
}
