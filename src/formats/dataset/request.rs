//! Parses reranking requests in the format of RankLLM and Umbrela:
//! `{"query":{"text","qid"},"candidates":[{"doc","docid","score"}]}`.

use super::line::{check_ids, title};
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::formats::json::{kind, number, string};
use crate::formats::object::ObjectReader;

/// Possible names of a document's text; the first that exists is used.
const TEXTS: [&str; 7] = [
    "text", "segment", "contents", "content", "body", "passage", "abstract",
];

/// The pool of a request, with its candidates in their order.
pub(super) fn pool(mut line: ObjectReader<'_, '_>) -> Option<Pool> {
    let query = line.object("query").and_then(query);
    let candidates = candidates(&mut line);
    Some(Pool {
        query: query?,
        documents: candidates?,
        extra: line.rest(),
    })
}

fn query(mut query: ObjectReader<'_, '_>) -> Option<Query> {
    let id = query.identifier("qid");
    let text = query.text("text");
    refuse_names(&mut query, &["id", "query"]);
    Some(Query {
        id: QueryId::new(id?),
        text: text?,
        extra: query.rest(),
    })
}

/// Rejects members with the names of members that an exported dataset adds.
fn refuse_names(object: &mut ObjectReader<'_, '_>, names: &[&str]) {
    for name in names {
        if object.has(name) {
            object.note(
                name,
                "is a member of datasets and not of requests; rename or remove it",
            );
        }
    }
}

fn candidates(line: &mut ObjectReader<'_, '_>) -> Option<Vec<Document>> {
    let values = line.array("candidates")?;
    if values.is_empty() {
        line.note("candidates", "is empty; a pool needs documents");
        return None;
    }
    let mut documents = Vec::with_capacity(values.len());
    let mut places = Vec::with_capacity(values.len());
    for (place, value) in values.into_iter().enumerate() {
        let reader = line.enter(&format!("candidates[{place}]"), value);
        if let Some(document) = reader.and_then(candidate) {
            documents.push(document);
            places.push(place);
        }
    }
    check_ids(
        line,
        &documents,
        &places,
        |place| format!("candidates[{place}]"),
        "docid",
    );
    Some(documents)
}

fn candidate(mut candidate: ObjectReader<'_, '_>) -> Option<Document> {
    let id = candidate.identifier("docid");
    let input_score = candidate.nullable("score", number);
    refuse_names(&mut candidate, &["id", "content", "metadata"]);
    let body = candidate.required("doc")?;
    let (content, metadata) = match kind(body) {
        "a string" => (candidate.read("doc", body, string), JsonObject::default()),
        _ => {
            let mut body = candidate.enter("doc", body)?;
            let name = TEXTS.iter().find(|name| body.has(name)).copied();
            let content = body.text(name.unwrap_or("text"));
            (content, body.rest())
        }
    };
    if content
        .as_deref()
        .is_some_and(|text| text.trim().is_empty())
    {
        candidate.note("doc", "is empty");
        return None;
    }
    let extra = candidate.rest();
    Some(Document {
        id: DocId::new(id?),
        title: title(&extra).or_else(|| title(&metadata)),
        content: content?,
        metadata,
        extra,
        input_score,
    })
}
