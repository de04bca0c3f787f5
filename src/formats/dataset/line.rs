//! One line of a dataset: either a pool, or everything that is wrong with it.

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::formats::json::{Members, kind, number, object, reason, string};
use crate::formats::jsonl::{members, optional, required, text};
use crate::formats::lines::TextLine;
use crate::formats::problem::{LineProblems, quoted};
use serde_json::value::RawValue;
use std::collections::hash_map::{Entry, HashMap};

/// The pool on a line.
pub(super) fn parse(line: &TextLine<'_>) -> Result<Pool, Vec<String>> {
    let members = members(line, "pool")?;
    let mut findings = LineProblems::default();
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

fn pool(mut line: Members<'_>, findings: &mut LineProblems) -> Option<Pool> {
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

fn query(mut members: Members<'_>, findings: &mut LineProblems) -> Option<Query> {
    let id = text(&mut members, "id", format_args!("query.id"), findings);
    let text = text(&mut members, "query", format_args!("query.query"), findings);
    Some(Query {
        id: QueryId::new(id?),
        text: text?,
        extra: members.rest(),
    })
}

fn documents(value: &RawValue, findings: &mut LineProblems) -> Option<Vec<Document>> {
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

fn document(
    mut members: Members<'_>,
    index: usize,
    findings: &mut LineProblems,
) -> Option<Document> {
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
