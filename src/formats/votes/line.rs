//! One line: either a vote, or everything that is wrong with it.

use super::{ExternalDocument, ExternalVote, VoterKind};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::vote::Margin;
use crate::formats::json::{Members, kind, number, reason, string};
use crate::formats::jsonl::{members, optional, required, text};
use crate::formats::lines::TextLine;
use crate::formats::problem::{LineProblems, quoted};
use serde_json::value::RawValue;

/// The last millisecond of the year 9999.
const LAST_MS: f64 = 253_402_300_799_999.0;

/// The vote on a line.
pub(super) fn parse(line: &TextLine<'_>) -> Result<ExternalVote, Vec<String>> {
    let members = members(line, "vote")?;
    let mut findings = LineProblems::default();
    match vote(members, &mut findings) {
        Some(vote) if findings.is_empty() => Ok(vote),
        _ => Err(findings.into_messages("line")),
    }
}

fn vote(mut line: Members<'_>, findings: &mut LineProblems) -> Option<ExternalVote> {
    let query = named(&mut line, "query", "query", findings);
    let a = named(&mut line, "a", "content", findings);
    let b = named(&mut line, "b", "content", findings);
    if let (Some((a, _)), Some((b, _))) = (&a, &b)
        && a == b
    {
        let what = format!("{} meets itself: a and b have the same id", quoted(a));
        findings.add(format_args!("b.id"), &what);
    }
    let by = text(&mut line, "by", format_args!("by"), findings);
    let kind = word(&mut line, "kind", findings, |word| match word {
        "llm" => Some(VoterKind::Llm),
        "human" => Some(VoterKind::Human),
        _ => None,
    });
    let score = required(&mut line, "score", format_args!("score"), findings);
    let score = score.and_then(|value| findings.check(format_args!("score"), margin(value)));
    let swapped = optional(
        &mut line,
        "shown",
        format_args!("shown"),
        findings,
        |value| match present(value).map(string).transpose()?.as_deref() {
            None | Some("ab") => Ok(false),
            Some("ba") => Ok(true),
            Some(other) => Err(format!(
                "expected \"ab\" or \"ba\", found {}; say which document was shown first",
                quoted(other)
            )),
        },
    );
    let reasoning = optional(
        &mut line,
        "reasoning",
        format_args!("reasoning"),
        findings,
        thoughts,
    );
    let created_ms = optional(
        &mut line,
        "created_ms",
        format_args!("created_ms"),
        findings,
        moment,
    );
    let ((query, query_text), (a, a_text), (b, b_text)) = (query?, a?, b?);
    Some(ExternalVote {
        query: QueryId::new(query),
        query_text,
        a: ExternalDocument {
            id: DocId::new(a),
            content: a_text,
        },
        b: ExternalDocument {
            id: DocId::new(b),
            content: b_text,
        },
        by: by?,
        kind: kind?,
        score: score?,
        swapped: swapped.unwrap_or(false),
        reasoning: reasoning.unwrap_or_default(),
        created_ms: created_ms.flatten(),
    })
}

/// The object called `key`: its id, and its text where it has one.
fn named(
    line: &mut Members<'_>,
    key: &str,
    text_key: &str,
    findings: &mut LineProblems,
) -> Option<(String, Option<String>)> {
    let value = required(line, key, format_args!("{key}"), findings)?;
    let mut members = findings.check(format_args!("{key}"), Members::of(value))?;
    let id = text(&mut members, "id", format_args!("{key}.id"), findings);
    let content = optional(
        &mut members,
        text_key,
        format_args!("{key}.{text_key}"),
        findings,
        |value| match present(value).map(string).transpose()? {
            // An answer that came out empty is still an answer that was judged; a query without words is none.
            Some(text) if text.trim().is_empty() && key == "query" => Err("is empty".to_owned()),
            text => Ok(text),
        },
    );
    Some((id?, content.flatten()))
}

fn word<T>(
    line: &mut Members<'_>,
    key: &str,
    findings: &mut LineProblems,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let value = required(line, key, format_args!("{key}"), findings)?;
    let word = findings.check(format_args!("{key}"), string(value))?;
    let known = read(&word)
        .ok_or_else(|| format!("expected \"llm\" or \"human\", found {}", quoted(&word)));
    findings.check(format_args!("{key}"), known)
}

fn margin(value: &RawValue) -> Result<Margin, String> {
    Margin::new(number(value)?).ok_or_else(|| {
        format!(
            "{} is outside -1..1 (negative: a is better)",
            quoted(value.get())
        )
    })
}

/// A text, or a list of texts, one a line.
fn thoughts(value: &RawValue) -> Result<String, String> {
    match kind(value) {
        "null" => Ok(String::new()),
        "an array" => {
            let lines: Vec<&RawValue> =
                serde_json::from_str(value.get()).map_err(|error| reason(&error))?;
            let lines: Vec<String> = lines
                .into_iter()
                .map(string)
                .collect::<Result<_, String>>()?;
            Ok(lines.join("\n"))
        }
        "a string" => string(value),
        other => Err(format!(
            "expected a string or an array of strings, found {other}"
        )),
    }
}

fn moment(value: &RawValue) -> Result<Option<i64>, String> {
    let Some(value) = present(value) else {
        return Ok(None);
    };
    match number(value)? {
        ms if ms.fract() == 0.0 && (0.0..=LAST_MS).contains(&ms) => Ok(Some(ms as i64)),
        _ => Err(format!(
            "expected whole milliseconds since 1970, found {}",
            quoted(value.get())
        )),
    }
}

/// The value, unless it is null, which is as good as no member.
fn present(value: &RawValue) -> Option<&RawValue> {
    (kind(value) != "null").then_some(value)
}
