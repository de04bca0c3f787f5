//! One line of a dataset: either a pool, or everything that is wrong with it.

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::formats::json::{Members, kind, number, object, reason, string};
use crate::formats::problem::{Findings, quoted};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::collections::hash_map::{Entry, HashMap};

/// The pool on a line; `last` tells that the file ends with it, without a line break.
pub(super) fn parse(bytes: &[u8], last: bool) -> Result<Pool, Vec<String>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        vec![if last && error.error_len().is_none() {
            format!(
                "the file is cut off in the middle of a character (byte {}); write it again",
                at + 1
            )
        } else {
            format!(
                "invalid UTF-8 at byte {} of the line (0x{:02x}); save the file as UTF-8",
                at + 1,
                bytes.get(at).copied().unwrap_or_default()
            )
        }]
    })?;
    // The usual line is an object: its members are found at once, without a pass over the text as a whole before.
    let members = if text.trim_ascii_start().starts_with('{') {
        serde_json::from_str::<Members<'_>>(text)
            .map_err(|error| vec![broken(text, &error, last)])?
    } else {
        let line: &RawValue =
            serde_json::from_str(text).map_err(|error| vec![broken(text, &error, last)])?;
        if kind(line) == "an array" {
            let what =
                "expected an object, found an array; write one pool a line, without the brackets";
            return Err(vec![what.to_owned()]);
        }
        Members::of(line).map_err(|what| vec![what])?
    };
    let mut findings = Findings::default();
    match pool(members, &mut findings) {
        Some(pool) if findings.is_empty() => Ok(pool),
        _ => Err(findings.into_messages("line")),
    }
}

/// What to say of a query that an earlier line has.
pub(super) fn repeated_query(id: &str, first: u64) -> String {
    format!(
        "query.id: {} is already on line {first}; give each query its own id, with all its documents on one line",
        quoted(id)
    )
}

fn broken(text: &str, error: &serde_json::Error, last: bool) -> String {
    if error.classify() == Category::Eof {
        return if last {
            "the file is cut off: its last line ends inside the JSON; write or download it again"
                .to_owned()
        } else {
            "the line ends inside the JSON; write each pool on one line, without indentation"
                .to_owned()
        };
    }
    let at = error.column();
    if let Some(what) = not_a_number(text, at.saturating_sub(1)) {
        return what;
    }
    let column = text.get(..at).map_or(at, |before| before.chars().count());
    let remedy = match reason(error) {
        what if what == "trailing characters" => {
            return format!(
                "more follows after the object at column {column}; write each pool on a line of its own"
            );
        }
        what => what,
    };
    format!("broken JSON at column {column}: {remedy}")
}

/// Python's spelling of a number that JSON does not have, around byte `at`.
fn not_a_number(text: &str, at: usize) -> Option<String> {
    let part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    let bytes = text.as_bytes();
    let start = at
        - bytes
            .get(..at)?
            .iter()
            .rev()
            .take_while(|byte| part(byte))
            .count();
    let length = bytes
        .get(start..)?
        .iter()
        .take_while(|byte| part(byte))
        .count();
    let word = text.get(start..start + length)?;
    if !matches!(
        word.trim_start_matches('-'),
        "NaN" | "nan" | "Infinity" | "inf" | "Inf"
    ) {
        return None;
    }
    let member = text
        .get(..start)?
        .trim_end()
        .strip_suffix(':')
        .and_then(|before| before.trim_end().strip_suffix('"'))
        .and_then(|before| before.rsplit('"').next())
        .map_or_else(String::new, |name| format!("{} is ", quoted(name)));
    let column = text.get(..=start)?.chars().count();
    Some(format!(
        "{member}{word} at column {column}, which JSON does not have; write null or leave the member out"
    ))
}

fn pool(mut line: Members<'_>, findings: &mut Findings) -> Option<Pool> {
    let query = required(&mut line, "query", format_args!("query"), findings).and_then(|value| {
        let members = findings.check(format_args!("query"), Members::of(value))?;
        query(members, findings)
    });
    let documents = required(&mut line, "documents", format_args!("documents"), findings)
        .and_then(|value| documents(value, findings));
    Some(Pool {
        query: query?,
        documents: documents?,
        extra: line.rest(),
    })
}

fn query(mut members: Members<'_>, findings: &mut Findings) -> Option<Query> {
    let id = text(&mut members, "id", format_args!("query.id"), findings);
    let text = text(&mut members, "query", format_args!("query.query"), findings);
    Some(Query {
        id: QueryId::new(id?),
        text: text?,
        extra: members.rest(),
    })
}

fn documents(value: &RawValue, findings: &mut Findings) -> Option<Vec<Document>> {
    if kind(value) != "an array" {
        findings.add(
            format_args!("documents"),
            &format!("expected an array, found {}", kind(value)),
        );
        return None;
    }
    let values: Vec<&RawValue> = findings.check(
        format_args!("documents"),
        serde_json::from_str(value.get()).map_err(|error| reason(&error)),
    )?;
    if values.is_empty() {
        findings.add(
            format_args!("documents"),
            "is empty; a pool needs documents",
        );
        return None;
    }
    let mut documents = Vec::with_capacity(values.len());
    let mut indexes = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let members = findings.check(format_args!("documents[{index}]"), Members::of(value));
        if let Some(document) = members.and_then(|members| document(members, index, findings)) {
            documents.push(document);
            indexes.push(index);
        }
    }
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(documents.len());
    for (document, index) in documents.iter().zip(indexes) {
        match first.entry(document.id.as_str()) {
            Entry::Vacant(entry) => {
                entry.insert(index);
            }
            Entry::Occupied(entry) => {
                let (id, earlier) = (quoted(entry.key()), entry.get());
                let what =
                    format!("{id} is already documents[{earlier}]; leave one out or rename it");
                findings.add(format_args!("documents[{index}].id"), &what);
            }
        }
    }
    Some(documents)
}

fn document(mut members: Members<'_>, index: usize, findings: &mut Findings) -> Option<Document> {
    let id = text(
        &mut members,
        "id",
        format_args!("documents[{index}].id"),
        findings,
    );
    let content = text(
        &mut members,
        "content",
        format_args!("documents[{index}].content"),
        findings,
    );
    let metadata = optional(
        &mut members,
        "metadata",
        format_args!("documents[{index}].metadata"),
        findings,
        |value| object(value).map_err(|what| format!("{what}; leave it out where there is none")),
    );
    let input_score = optional(
        &mut members,
        "score",
        format_args!("documents[{index}].score"),
        findings,
        |value| match kind(value) {
            "null" => Ok(None),
            _ => number(value).map(Some),
        },
    );
    let (metadata, extra) = (metadata.unwrap_or_default(), members.rest());
    Some(Document {
        id: DocId::new(id?),
        title: title(&extra).or_else(|| title(&metadata)),
        content: content?,
        metadata,
        extra,
        input_score: input_score.flatten(),
    })
}

/// The object's `title`, where it is a string with something in it.
pub(super) fn title(object: &JsonObject) -> Option<String> {
    if !object.as_str().contains("title") {
        return None;
    }
    let members: Members<'_> = serde_json::from_str(object.as_str()).ok()?;
    let title = members.iter().find(|(name, _)| *name == "title")?.1;
    string(title).ok().filter(|title| !title.trim().is_empty())
}

fn required<'a>(
    members: &mut Members<'a>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
) -> Option<&'a RawValue> {
    let value = findings.check(path, members.take(key))?;
    if value.is_none() {
        findings.add(path, "is missing");
    }
    value
}

fn text(
    members: &mut Members<'_>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
) -> Option<String> {
    let value = required(members, key, path, findings)?;
    let text = findings.check(path, string(value))?;
    if text.trim().is_empty() {
        findings.add(path, "is empty");
        return None;
    }
    Some(text)
}

fn optional<T>(
    members: &mut Members<'_>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
    read: impl Fn(&RawValue) -> Result<T, String>,
) -> Option<T> {
    let value = findings.check(path, members.take(key))??;
    findings.check(path, read(value))
}
