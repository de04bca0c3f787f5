//! One line of a dataset.

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::formats::json::{Members, ValueError, number, object, string};
use crate::formats::object::ObjectReader;
use crate::formats::problem::quoted;
use std::collections::hash_map::{Entry, HashMap};

/// The message for a query that also occurs on an earlier line.
pub(super) fn repeated_query(id: &str, first: u64) -> String {
    format!(
        "query.id: {} is already on line {first}; give each query its own id, with all its \
         documents on one line",
        quoted(id)
    )
}

pub(super) fn pool(line: ObjectReader<'_, '_>) -> Option<Pool> {
    read(line, false)
}

/// Parses a pool exported from a project, in which a document may be empty.
pub(in crate::formats) fn exported_pool(line: ObjectReader<'_, '_>) -> Option<Pool> {
    read(line, true)
}

fn read(mut line: ObjectReader<'_, '_>, may_be_empty: bool) -> Option<Pool> {
    let query = line.object("query").and_then(query);
    let documents = documents(&mut line, may_be_empty);
    Some(Pool {
        query: query?,
        documents: documents?,
        extra: line.rest(),
    })
}

fn query(mut query: ObjectReader<'_, '_>) -> Option<Query> {
    let (id, text) = (query.identifier("id"), query.text("query"));
    Some(Query {
        id: QueryId::new(id?),
        text: text?,
        extra: query.rest(),
    })
}

fn documents(line: &mut ObjectReader<'_, '_>, may_be_empty: bool) -> Option<Vec<Document>> {
    let values = line.array("documents")?;
    if values.is_empty() {
        line.note("documents", "is empty; a pool needs documents");
        return None;
    }
    let mut documents = Vec::with_capacity(values.len());
    let mut indexes = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let reader = line.enter(&format!("documents[{index}]"), value);
        if let Some(document) = reader.and_then(|reader| document(reader, may_be_empty)) {
            documents.push(document);
            indexes.push(index);
        }
    }
    check_ids(
        line,
        &documents,
        &indexes,
        |index| format!("documents[{index}]"),
        "id",
    );
    Some(documents)
}

/// Adds a problem for each document whose identifier occurs earlier; `places` are the indexes in
/// the input, and `named` gives their names.
pub(super) fn check_ids(
    line: &mut ObjectReader<'_, '_>,
    documents: &[Document],
    places: &[usize],
    named: impl Fn(usize) -> String,
    key: &str,
) {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(documents.len());
    for (document, place) in documents.iter().zip(places) {
        match first.entry(document.id.as_str()) {
            Entry::Vacant(entry) => {
                entry.insert(*place);
            }
            Entry::Occupied(entry) => {
                let (id, earlier) = (quoted(entry.key()), named(*entry.get()));
                let what = format!("{id} is already {earlier}; remove or rename one of them");
                line.note(&format!("{}.{key}", named(*place)), &what);
            }
        }
    }
}

fn document(mut document: ObjectReader<'_, '_>, may_be_empty: bool) -> Option<Document> {
    let id = document.identifier("id");
    let content = if may_be_empty {
        document.string("content")
    } else {
        document.text("content")
    };
    let metadata = document.optional("metadata", |value| {
        object(value).map_err(|error| ValueError::InOptional(Box::new(error)))
    });
    let input_score = document.nullable("score", number);
    let (metadata, extra) = (metadata.unwrap_or_default(), document.rest());
    Some(Document {
        id: DocId::new(id?),
        title: title(&extra).or_else(|| title(&metadata)),
        content: content?,
        metadata,
        extra,
        input_score,
    })
}

/// The object's `title`, if it is a nonempty string.
pub(super) fn title(object: &JsonObject) -> Option<String> {
    if !object.as_str().contains("title") {
        return None;
    }
    let members: Members<'_> = serde_json::from_str(object.as_str()).ok()?;
    let title = members.iter().find(|(name, _)| *name == "title")?.1;
    string(title).ok().filter(|title| !title.trim().is_empty())
}
