//! Pools back to JSON Lines: for the members zBench knows, byte for byte what zBench writes.

use super::line::title;
use crate::domain::corpus::{Document, JsonObject, Pool};
use crate::formats::json::{write_number, write_string};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unscored {
    /// It is left out, for zBench refuses a file with a missing score.
    #[default]
    LeaveOut,
    /// It is written with `"score":null`.
    Null,
}

/// A document's score on one scale over queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedScore {
    pub score: f64,
    /// Its standard error, where there is one.
    pub se: Option<f64>,
}

/// The members that say it.
const LINKED: &str = "zelo_linked";
const LINKED_SE: &str = "zelo_linked_se";

/// Writes a pool as one line of zBench's annotated form, and gives the number of documents without a score.
///
/// `scores` and `linked` go by pool index; a score that is missing or not finite is no score. A pool of which nothing is left
/// writes no line. Buffer `out`.
pub fn write_annotated(
    out: &mut impl Write,
    pool: &Pool,
    scores: &[Option<f64>],
    linked: &[Option<LinkedScore>],
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
            (Some(score), _) => {
                let linked = linked.get(index).copied().flatten();
                Some((document, WrittenScore::Number(score), linked))
            }
            (None, Unscored::Null) => Some((document, WrittenScore::Null, None)),
            (None, Unscored::LeaveOut) => None,
        });
    write_line(out, pool, rows)?;
    Ok(missing)
}

/// Writes a pool as one line of the input form, with the scores the input had. Buffer `out`.
///
/// A title that neither `extra` nor `metadata` says is written as the document's `title`.
pub fn write_pool(out: &mut impl Write, pool: &Pool) -> io::Result<()> {
    let rows = pool.documents.iter().map(|document| {
        let score = document.input_score.filter(|score| score.is_finite());
        (
            document,
            score.map_or(WrittenScore::Absent, WrittenScore::Number),
            None,
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
    rows: impl Iterator<Item = (&'a Document, WrittenScore, Option<LinkedScore>)>,
) -> io::Result<()> {
    out.write_all(b"{\"query\":{\"id\":")?;
    write_string(out, pool.query.id.as_str())?;
    out.write_all(b",\"query\":")?;
    write_string(out, &pool.query.text)?;
    write_extra(out, &pool.query.extra)?;
    out.write_all(b"},\"documents\":[")?;
    for (position, (document, score, linked)) in rows.enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        write_document(out, document, score, linked)?;
    }
    out.write_all(b"]")?;
    write_extra(out, &pool.extra)?;
    out.write_all(b"}\n")
}

fn write_document(
    out: &mut impl Write,
    document: &Document,
    score: WrittenScore,
    linked: Option<LinkedScore>,
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
    if let Some(linked) = linked {
        let members = [(LINKED, Some(linked.score)), (LINKED_SE, linked.se)];
        for (name, value) in members {
            if let Some(value) = value {
                write!(out, ",\"{name}\":")?;
                write_number(out, value)?;
            }
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
    match linked {
        // What an earlier export said is not said again.
        Some(_) => write_extra(out, &without_linked(&document.extra))?,
        None => write_extra(out, &document.extra)?,
    }
    out.write_all(b"}")
}

/// The members that are not written from the project's own scale.
fn without_linked(extra: &JsonObject) -> JsonObject {
    if !extra.as_str().contains(LINKED) {
        return extra.clone();
    }
    let members: Result<BTreeMap<String, Box<RawValue>>, _> = serde_json::from_str(extra.as_str());
    let Ok(mut members) = members else {
        return extra.clone();
    };
    members.retain(|name, _| name != LINKED && name != LINKED_SE);
    let text = serde_json::to_string(&members).unwrap_or_else(|_| "{}".to_owned());
    JsonObject::from_compact(text)
}

/// The members of `extra`, to follow others.
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
