//! Parses one vote from its line.

use crate::domain::annotator_name::annotator_name;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::vote::Margin;
use crate::formats::json::{ValueError, boolean, kind, number, reason, string};
use crate::formats::object::ObjectReader;
use crate::formats::problem::quoted;
use serde_json::value::RawValue;

/// The answer of a line about a pair. Margins are negative if `a` is better.
#[derive(Clone, Debug, PartialEq)]
pub enum ExternalAnswer {
    /// A model's vote.
    Vote(Margin),
    /// A person's verdict.
    Verdict(Margin),
    /// A failed call of a model, which only exports contain and which is not a vote.
    Failure(RecordedFailure),
}

#[derive(Clone, Copy, PartialEq)]
enum VoterKind {
    Llm,
    Human,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExternalDocument {
    /// Unique in its pool.
    pub id: DocId,
    /// Its text, if this line contains it.
    pub content: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExternalVote {
    pub query: QueryId,
    /// Its text, if this line contains it.
    pub query_text: Option<String>,
    pub a: ExternalDocument,
    pub b: ExternalDocument,
    /// The model's or the person's name.
    pub by: String,
    pub answer: ExternalAnswer,
    /// Whether `b` was shown first.
    pub swapped: bool,
    /// The reasoning, one thought per line; empty if there is none.
    pub reasoning: String,
    /// Time of the vote, in milliseconds since the Unix epoch, if given.
    pub created_ms: Option<i64>,
    /// The probability with which the pair was drawn for the person to judge, in (0, 1], if a
    /// person's line gives it.
    pub inclusion: Option<f64>,
    /// Whether a person gave the verdict without seeing judges' votes: unless the line denies it.
    pub blind: bool,
    /// Its location, on a line exported from a project.
    pub exported: Option<ExportedPlace>,
}

/// The location of a vote in the project that it was exported from.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedPlace {
    /// Number of earlier battles of the pair.
    pub game: u32,
    /// The judge's provider.
    pub provider: String,
    /// The judge's model.
    pub model: String,
    /// Whether the judge counted for the query.
    pub counts: bool,
    /// The judges chosen for the battle, unless all were.
    pub asked: Option<Vec<String>>,
    /// The query's pool; only on the first line of each query.
    pub pool: Option<Box<Pool>>,
}

/// Why a call ended without a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFailure {
    /// The cause, as exports name it.
    pub cause: String,
    /// What went wrong.
    pub message: String,
}

/// A person's verdict must be later than this time, in 1973; seconds since 1970 are smaller
/// numbers.
const FIRST_MS: i64 = 100_000_000_000;
/// The last millisecond of the year 9999.
const LAST_MS: f64 = 253_402_300_799_999.0;

pub(super) fn vote(mut line: ObjectReader<'_, '_>) -> Option<ExternalVote> {
    let query = named(&mut line, "query", "query");
    let a = named(&mut line, "a", "content");
    let b = named(&mut line, "b", "content");
    if let (Some((a, _)), Some((b, _))) = (&a, &b)
        && a == b
    {
        let what = format!("{} meets itself: a and b have the same id", quoted(a));
        line.note("b.id", &what);
    }
    let by = line.text("by");
    let kind = line.required("kind");
    let kind = kind.and_then(|value| line.read("kind", value, voter_kind));
    let score = line.required("score");
    let score = score.and_then(|value| line.read("score", value, margin));
    let swapped = line.nullable("shown", |value| match string(value)?.as_str() {
        "ab" => Ok(false),
        "ba" => Ok(true),
        other => Err(ValueError::ShownOrder(other.to_owned())),
    });
    let reasoning = line.nullable("reasoning", thoughts);
    // The judge defines its own name; a person's name is normalized.
    let person = kind == Some(VoterKind::Human);
    let by = match (by, person) {
        (Some(name), true) => {
            let spelled = annotator_name(&name);
            if spelled.is_none() {
                line.note("by", "the name is blank");
            }
            spelled
        }
        (by, _) => by,
    };
    let created_ms = line.nullable("created_ms", moment);
    if let Some(ms) = created_ms.filter(|ms| person && *ms < FIRST_MS) {
        line.note(
            "created_ms",
            format!("{ms} milliseconds since 1970 is before 1973; is it in seconds?"),
        );
    }
    // On a model's line, it is an unknown member.
    let inclusion = match kind {
        Some(VoterKind::Human) => line.nullable("inclusion", probability),
        _ => None,
    };
    let blind = match kind {
        Some(VoterKind::Human) => line.nullable("blind", boolean),
        _ => None,
    };
    let ((query, query_text), (a, a_text), (b, b_text)) = (query?, a?, b?);
    let document = |id: String, content| ExternalDocument {
        id: DocId::new(id),
        content,
    };
    Some(ExternalVote {
        query: QueryId::new(query),
        query_text,
        a: document(a, a_text),
        b: document(b, b_text),
        by: by?,
        answer: match kind? {
            VoterKind::Llm => ExternalAnswer::Vote(score?),
            VoterKind::Human => ExternalAnswer::Verdict(score?),
        },
        swapped: swapped.unwrap_or(false),
        reasoning: reasoning.unwrap_or_default(),
        created_ms,
        inclusion,
        blind: blind.unwrap_or(true),
        exported: None,
    })
}

fn named(
    line: &mut ObjectReader<'_, '_>,
    key: &str,
    text_key: &str,
) -> Option<(String, Option<String>)> {
    let mut object = line.object(key)?;
    let id = object.identifier("id");
    let content = object.nullable(text_key, |value| match string(value)? {
        // An answer that came out empty is still an answer that was judged, but a query without
        // words is not a query.
        text if text.trim().is_empty() && key == "query" => Err(ValueError::Empty),
        text => Ok(text),
    });
    Some((id?, content))
}

fn voter_kind(value: &RawValue) -> Result<VoterKind, ValueError> {
    match string(value)?.as_str() {
        "llm" => Ok(VoterKind::Llm),
        "human" => Ok(VoterKind::Human),
        other => Err(ValueError::expected("\"llm\" or \"human\"", quoted(other))),
    }
}

pub(super) fn margin(value: &RawValue) -> Result<Margin, ValueError> {
    Margin::new(number(value)?).ok_or_else(|| ValueError::OutOfRange {
        found: quoted(value.get()),
        range: "outside -1..1 (negative: a is better)",
    })
}

fn probability(value: &RawValue) -> Result<f64, ValueError> {
    match number(value)? {
        chance if chance > 0.0 && chance <= 1.0 => Ok(chance),
        _ => Err(ValueError::OutOfRange {
            found: quoted(value.get()),
            range: "not a probability above 0 and up to 1",
        }),
    }
}

fn thoughts(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "an array" => {
            let lines: Vec<&RawValue> = serde_json::from_str(value.get())
                .map_err(|error| ValueError::Json(reason(&error)))?;
            let lines: Vec<String> = lines
                .into_iter()
                .map(string)
                .collect::<Result<_, ValueError>>()?;
            Ok(lines.join("\n"))
        }
        "a string" => string(value),
        other => Err(ValueError::expected(
            "a string or an array of strings",
            other,
        )),
    }
}

fn moment(value: &RawValue) -> Result<i64, ValueError> {
    match number(value)? {
        ms if ms.fract() == 0.0 && (0.0..=LAST_MS).contains(&ms) => Ok(ms as i64),
        _ => Err(ValueError::expected(
            "whole milliseconds since 1970",
            quoted(value.get()),
        )),
    }
}
