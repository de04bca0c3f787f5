//! What a file of labels or rankings is, told by its first line.

use super::lines::TextLines;
use super::problem::{Problem, quoted};
use super::ranx;
use super::trec::{LONGEST, candidate_cells, is_heading};
use std::io::BufRead;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Labels in TREC's four columns.
    Qrels,
    /// Labels in BEIR's three columns, with a header.
    BeirQrels,
    /// Rankings in TREC's six columns.
    Run,
    /// Lists of candidates: query and document, perhaps with rank and score, between tabs, commas or white space.
    Candidates,
    /// JSON lines: pools of documents with scores or grades.
    Dataset,
    /// ranx's JSON: queries with documents and their grades.
    RanxQrels,
    /// ranx's JSON: queries with documents and their scores.
    RanxRun,
}

impl FileKind {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Qrels | Self::BeirQrels => "labels (qrels)",
            Self::Run => "a run",
            Self::Candidates => "a list of candidates",
            Self::Dataset => "a dataset",
            Self::RanxQrels => "labels (ranx's JSON)",
            Self::RanxRun => "a run (ranx's JSON)",
        }
    }
}

/// The kind of a file by its first line that is not blank; `file` is what the problem calls it.
pub fn recognise(mut reader: impl BufRead, file: &str) -> Result<FileKind, Problem> {
    let start = reader
        .fill_buf()
        .map_err(|error| Problem::new(file, None, &format!("cannot be read: {error}")))?;
    // A pool may be longer than any line of columns.
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if start.trim_ascii_start().starts_with(b"{") {
        return Ok(match ranx::holds_scores(&String::from_utf8_lossy(start)) {
            Some(true) => FileKind::RanxRun,
            Some(false) => FileKind::RanxQrels,
            None => FileKind::Dataset,
        });
    }
    let mut lines = TextLines::new(reader, file).at_most(LONGEST);
    let (kind, number) = match lines.next() {
        None => return Err(Problem::new(file, None, "is empty")),
        Some(Err(problem)) => return Err(problem),
        Some(Ok(line)) => (line.text().and_then(kind), line.number),
    };
    kind.map_err(|what| Problem::new(file, Some(number), &what))
}

fn kind(line: &str) -> Result<FileKind, String> {
    let cells = candidate_cells(line)?;
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    match cells[..] {
        ["query-id", "corpus-id", "score"] => Ok(FileKind::BeirQrels),
        [_, _] => Ok(FileKind::Candidates),
        [_, _, _, _] | [_, _, _] if is_heading(&cells) => Ok(FileKind::Candidates),
        // Neither qrels nor runs have commas between their columns.
        [_, _, _, _] | [_, _, _] if !line.trim().contains([' ', '\t']) => Ok(FileKind::Candidates),
        // A rank and a score, which has a fraction, where qrels have a document and a grade.
        [_, _, rank, score] if rank.parse::<i64>().is_ok() && score.contains('.') => {
            Ok(FileKind::Candidates)
        }
        [_, _, _, _] => Ok(FileKind::Qrels),
        [_, _, _, _, _, _] => Ok(FileKind::Run),
        [_, _, _] => Err(
            "has 3 columns and no header; BEIR's qrels begin with query-id, corpus-id, score, candidates with query_id, corpus_id, rank"
                .to_owned(),
        ),
        _ => Err(format!(
            "begins with {}, which is neither qrels (4 columns, or BEIR's 3 with a header), a run (6 columns), candidates (2, or 4 with a score) nor JSON lines",
            quoted(line.trim())
        )),
    }
}
