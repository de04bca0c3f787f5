//! Writes pools as JSON Lines, byte for byte as zBench does for the members it knows.

use super::line::title;
use crate::domain::corpus::{Document, JsonObject, Pool};
use crate::formats::json::{write_number, write_string};
use std::io::{self, Write};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unscored {
    /// Skip the document, because zBench rejects files with missing scores.
    #[default]
    LeaveOut,
    /// Write `"score":null`.
    Null,
}

impl Unscored {
    /// `Null` if documents without a score are kept.
    pub fn keep(keep: bool) -> Self {
        if keep { Self::Null } else { Self::LeaveOut }
    }
}

/// Writes a pool as one line of zBench's annotated format, and returns the number of documents
/// without a score.
///
/// `scores` is by pool index; a missing or non-finite value means no score. Writes no line if no
/// documents remain. Use a buffered `out`.
pub fn write_annotated(
    out: &mut impl Write,
    pool: &Pool,
    scores: &[Option<f64>],
    unscored: Unscored,
) -> io::Result<usize> {
    let score = |index: usize| {
        scores
            .get(index)
            .copied()
            .flatten()
            .filter(|score| score.is_finite())
    };
    let missing = (0..pool.documents.len())
        .filter(|index| score(*index).is_none())
        .count();
    if unscored == Unscored::LeaveOut && missing == pool.documents.len() {
        return Ok(missing);
    }
    let rows = pool
        .documents
        .iter()
        .enumerate()
        .filter_map(|(index, document)| match (score(index), unscored) {
            (Some(score), _) => Some((document, WrittenScore::Number(score))),
            (None, Unscored::Null) => Some((document, WrittenScore::Null)),
            (None, Unscored::LeaveOut) => None,
        });
    write_line(out, pool, rows)?;
    Ok(missing)
}

/// Writes a pool as one line of the input format, with the scores of the input. Use a buffered
/// `out`.
///
/// A title that is in neither `extra` nor `metadata` is written as the document's `title`.
pub fn write_pool(out: &mut impl Write, pool: &Pool) -> io::Result<()> {
    let rows = pool.documents.iter().map(|document| {
        let score = document.input_score.filter(|score| score.is_finite());
        (
            document,
            score.map_or(WrittenScore::Absent, WrittenScore::Number),
        )
    });
    write_line(out, pool, rows)
}

#[derive(Clone, Copy)]
enum WrittenScore {
    Absent,
    Null,
    Number(f64),
}

fn write_line<'a>(
    out: &mut impl Write,
    pool: &Pool,
    rows: impl Iterator<Item = (&'a Document, WrittenScore)>,
) -> io::Result<()> {
    out.write_all(b"{\"query\":{\"id\":")?;
    write_string(out, pool.query.id.as_str())?;
    out.write_all(b",\"query\":")?;
    write_string(out, &pool.query.text)?;
    write_extra(out, &pool.query.extra)?;
    out.write_all(b"},\"documents\":[")?;
    for (position, (document, score)) in rows.enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        write_document(out, document, score)?;
    }
    out.write_all(b"]")?;
    write_extra(out, &pool.extra)?;
    out.write_all(b"}\n")
}

fn write_document(
    out: &mut impl Write,
    document: &Document,
    score: WrittenScore,
) -> io::Result<()> {
    out.write_all(b"{\"id\":")?;
    write_string(out, document.id.as_str())?;
    out.write_all(b",\"content\":")?;
    write_string(out, &document.content)?;
    out.write_all(b",\"metadata\":")?;
    out.write_all(document.metadata.as_str().as_bytes())?;
    match score {
        WrittenScore::Absent => {}
        WrittenScore::Null => out.write_all(b",\"score\":null")?,
        WrittenScore::Number(score) => {
            out.write_all(b",\"score\":")?;
            write_number(out, score)?;
        }
    }
    if let Some(text) = &document.title
        && title(&document.extra)
            .or_else(|| title(&document.metadata))
            .is_none()
    {
        out.write_all(b",\"title\":")?;
        write_string(out, text)?;
    }
    write_extra(out, &document.extra)?;
    out.write_all(b"}")
}

/// Writes the members of `extra` after others.
fn write_extra(out: &mut impl Write, extra: &JsonObject) -> io::Result<()> {
    let members = extra
        .as_str()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    match members {
        None | Some("") => Ok(()),
        Some(members) => {
            out.write_all(b",")?;
            out.write_all(members.as_bytes())
        }
    }
}
