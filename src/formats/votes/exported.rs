//! A line of `overrule export votes --format jsonl`, including its location in a project.

use super::vote::{
    ExportedPlace, ExternalAnswer, ExternalDocument, ExternalVote, RecordedFailure, margin,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::dataset;
use crate::formats::json::{ValueError, boolean, number, string};
use crate::formats::object::ObjectReader;
use crate::formats::problem::quoted;
use serde_json::value::RawValue;

pub(super) fn exported(mut line: ObjectReader<'_, '_>) -> Option<ExternalVote> {
    let (query, a, b) = (
        line.identifier("query"),
        line.identifier("a"),
        line.identifier("b"),
    );
    if a.is_some() && a == b {
        line.note("b", "is the same document as a");
    }
    let by = line.text("judge");
    let (provider, model) = (line.text("provider"), line.text("model"));
    let game = line.required("game");
    let game = game.and_then(|value| line.read("game", value, whole));
    let counts = line.nullable("counts", boolean);
    let swapped = line.required("swapped");
    let swapped = swapped.and_then(|value| line.read("swapped", value, boolean));
    let score = line.nullable("margin", margin);
    let cause = line.nullable("failure", string);
    let message = line.nullable("message", string).unwrap_or_default();
    let answer = match (score, cause) {
        (Some(score), None) => Some(ExternalAnswer::Vote(score)),
        (None, Some(cause)) => Some(ExternalAnswer::Failure(RecordedFailure { cause, message })),
        _ => {
            line.note("margin", "expected either a margin or a failure");
            None
        }
    };
    let reasoning = line.nullable("reasoning", string);
    let asked = line.nullable("asked", names);
    let pool = match line.optional("pool", Ok) {
        Some(value) => Some(Box::new(
            line.enter("pool", value).and_then(dataset::exported_pool)?,
        )),
        None => None,
    };
    let (query, a, b) = (query?, a?, b?);
    if let Some(pool) = &pool
        && pool.query.id.as_str() != query
    {
        let what = format!("is of query {}", quoted(pool.query.id.as_str()));
        line.note("pool", &what);
    }
    let document = |id: String| {
        let known = pool
            .iter()
            .flat_map(|pool| &pool.documents)
            .find(|document| document.id.as_str() == id);
        ExternalDocument {
            content: known.map(|document| document.content.clone()),
            id: DocId::new(id),
        }
    };
    Some(ExternalVote {
        query: QueryId::new(query),
        query_text: pool.as_ref().map(|pool| pool.query.text.clone()),
        a: document(a),
        b: document(b),
        by: by?,
        answer: answer?,
        swapped: swapped?,
        reasoning: reasoning.unwrap_or_default(),
        created_ms: None,
        inclusion: None,
        blind: true,
        exported: Some(ExportedPlace {
            game: game?,
            provider: provider?,
            model: model?,
            counts: counts.unwrap_or(true),
            asked,
            pool,
        }),
    })
}

fn whole(value: &RawValue) -> Result<u32, ValueError> {
    match number(value)? {
        found if found.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&found) => {
            Ok(found as u32)
        }
        _ => Err(ValueError::expected("a whole number", quoted(value.get()))),
    }
}

fn names(value: &RawValue) -> Result<Vec<String>, ValueError> {
    serde_json::from_str(value.get()).map_err(|_| ValueError::NotNames)
}
