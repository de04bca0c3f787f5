//! Parses reranking sets of MTEB: `{"query":"…","positive":["…"],"negative":["…"]}`. Queries and
//! documents get the identifiers that MTEB gives them.

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::retrieval::SlotSource;
use crate::formats::json::{ValueError, string};
use crate::formats::object::ObjectReader;
use serde_json::json;
use std::path::Path;

/// Whether an object is an example of such a set.
pub(super) fn is_example(object: &ObjectReader<'_, '_>) -> bool {
    let has = |name| object.has(name);
    has("positive") && has("negative") && !has("documents") && !has("candidates")
}

/// The pool of an example with this index in its split: the positive documents, then the negative
/// ones.
pub(super) fn pool(mut line: ObjectReader<'_, '_>, split: &str, index: usize) -> Option<Pool> {
    let text = line.text("query");
    let positive = texts(&mut line, "positive");
    let negative = texts(&mut line, "negative");
    let (text, positive, negative) = (text?, positive?, negative?);
    if positive.is_empty() && negative.is_empty() {
        line.note("positive", "and negative are empty; a pool needs documents");
        return None;
    }
    let query = format!("{split}_query{index}");
    let document =
        |kind: &str, metadata: serde_json::Value, (at, content): (usize, String)| Document {
            id: DocId::new(format!("{kind}_{query}_{at:05}")),
            title: None,
            content,
            metadata: JsonObject::from_compact(metadata.to_string()),
            extra: JsonObject::default(),
            input_score: None,
        };
    // Nothing but its label says where a positive document stands in a first stage.
    let relevant = json!({"grade": 1, "source": SlotSource::LabelMissed.name()});
    let positive = positive.into_iter().enumerate();
    let negative = negative.into_iter().enumerate();
    let documents = positive
        .map(|one| document("apositive", relevant.clone(), one))
        .chain(negative.map(|one| document("negative", json!({"grade": 0}), one)));
    Some(Pool {
        documents: documents.collect(),
        query: Query {
            id: QueryId::new(query.clone()),
            text,
            extra: JsonObject::default(),
        },
        extra: line.rest(),
    })
}

fn texts(line: &mut ObjectReader<'_, '_>, name: &str) -> Option<Vec<String>> {
    let values = line.array(name)?;
    let texts = values.into_iter().enumerate().map(|(at, value)| {
        line.read(&format!("{name}[{at}]"), value, |value| {
            match string(value)? {
                text if text.trim().is_empty() => Err(ValueError::Empty),
                text => Ok(text),
            }
        })
    });
    texts.collect()
}

/// The split that a file is named after: `test` for `test.jsonl.gz` and for
/// `test-00000-of-00001.parquet`.
pub(super) fn split_of(file: &str) -> &str {
    let name = Path::new(file).file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or(file).split('.').next().unwrap_or_default();
    let Some((split, of)) = name.rsplit_once("-of-") else {
        return name;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match split.rsplit_once('-') {
        Some((split, shard)) if is_number(shard) && is_number(of) => split,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::dataset::read_pools;

    const SET: &str = r#"{"query": "how to boot", "positive": ["boot order"], "negative": ["fonts", "sound"]}

{"query": "second", "positive": [], "negative": ["one"], "id": 7}
"#;

    #[test]
    fn examples_get_the_identifiers_of_mteb_and_grades() {
        let pools: Vec<_> = read_pools(SET.as_bytes(), "data/dev-00000-of-00001.parquet")
            .map(Result::unwrap)
            .collect();
        let ids = |at: usize| -> Vec<String> {
            let documents = pools[at].documents.iter();
            documents
                .map(|one| format!("{} {}", one.id.as_str(), one.metadata.as_str()))
                .collect()
        };
        assert_eq!(pools[0].query.id.as_str(), "dev_query0");
        assert_eq!(
            ids(0),
            [
                r#"apositive_dev_query0_00000 {"grade":1,"source":"label-missed"}"#,
                r#"negative_dev_query0_00000 {"grade":0}"#,
                r#"negative_dev_query0_00001 {"grade":0}"#,
            ]
        );
        assert_eq!(ids(1), [r#"negative_dev_query1_00000 {"grade":0}"#]);
        assert_eq!(pools[1].extra.as_str(), r#"{"id":7}"#);
    }

    #[test]
    fn bad_examples_are_refused_with_their_member() {
        for (line, why) in [
            (
                r#"{"query": "q", "positive": "p", "negative": []}"#,
                "positive",
            ),
            (
                r#"{"query": "q", "positive": [1], "negative": []}"#,
                "positive[0]",
            ),
            (
                r#"{"query": "q", "positive": [], "negative": [" "]}"#,
                "negative[0]",
            ),
            (
                r#"{"query": "q", "positive": [], "negative": []}"#,
                "needs documents",
            ),
            (
                r#"{"query": ["q"], "positive": ["p"], "negative": []}"#,
                "query",
            ),
        ] {
            let problem = read_pools(line.as_bytes(), "test.jsonl").next().unwrap();
            let problem = problem.unwrap_err().to_string();
            assert!(problem.contains(why), "{line}: {problem}");
        }
    }
}
