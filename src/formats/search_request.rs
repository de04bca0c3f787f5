//! Requests to search engines, and where their responses have the documents.
//!
//! A template is JSON. In its texts, `{{query}}` stands for the query's text, `{{query_id}}` for its
//! identifier and `{{depth}}` for the number of documents; a text that is only `{{depth}}` becomes a
//! number. Since texts are replaced after parsing, a query cannot change the JSON around it. The
//! engine may still read operators in the text itself: see [`RequestTemplate::refuse_vespa_yql`] and
//! [`RequestTemplate::refuse_solr_parameters`].

use super::problem::quoted;
use crate::domain::corpus::DocId;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// The body of a request, with placeholders.
#[derive(Clone, Debug)]
pub struct RequestTemplate(Value);

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("has no {{{{query}}}}, which stands for the text of a query")]
    NoQuery,
    #[error("{0} is not a placeholder; expected {{{{query}}}}, {{{{query_id}}}} or {{{{depth}}}}")]
    Unknown(String),
    #[error(
        "\"yql\" has the query, and a quotation mark in it would change the search; write \
         userInput(@q) there, and add \"q\":\"{{{{query}}}}\""
    )]
    Yql,
    #[error(
        "{0} begins with {{{{query}}}}, and Solr executes a query that begins with {{!; write \
         \"query\":\"{{!edismax v=$qq}}\" and \"params\":{{\"qq\":\"{{{{query}}}}\"}}, or set defType to a \
         parser other than lucene in \"params\""
    )]
    LocalParameters(String),
}

const QUERY: &str = "{{query}}";
const QUERY_ID: &str = "{{query_id}}";
const DEPTH: &str = "{{depth}}";

impl RequestTemplate {
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let body: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        let mut has_query = false;
        for_each_text(&body, &mut |text| {
            has_query |= text.contains(QUERY);
            let rest = [QUERY, QUERY_ID, DEPTH]
                .iter()
                .fold(text.to_owned(), |rest, known| rest.replace(known, ""));
            match rest.find("{{") {
                None => Ok(()),
                Some(at) => Err(TemplateError::Unknown(quoted(&rest[at..]))),
            }
        })?;
        if has_query {
            Ok(Self(body))
        } else {
            Err(TemplateError::NoQuery)
        }
    }

    /// Refuses a query's text or identifier within Vespa's query language.
    pub fn refuse_vespa_yql(&self) -> Result<(), TemplateError> {
        let yql = self.0.get("yql").and_then(Value::as_str);
        match yql.is_some_and(|yql| yql.contains(QUERY) || yql.contains(QUERY_ID)) {
            true => Err(TemplateError::Yql),
            false => Ok(()),
        }
    }

    /// Refuses a main query of Solr that begins with the query's text: local parameters such as
    /// `{!join …}` would be executed. Only the parser `lucene`, the default, reads them there.
    pub fn refuse_solr_parameters(&self) -> Result<(), TemplateError> {
        let text = |pointer: &str| self.0.pointer(pointer).and_then(Value::as_str);
        if text("/params/defType").is_some_and(|parser| parser != "lucene") {
            return Ok(());
        }
        let main = ["/query", "/params/q"].into_iter();
        let mut begun =
            main.filter(|&at| text(at).is_some_and(|query| query.trim_start().starts_with(QUERY)));
        match begun.next() {
            Some(at) => Err(TemplateError::LocalParameters(quoted(at))),
            None => Ok(()),
        }
    }

    /// The body of the request for a query.
    pub fn body(&self, query: &str, id: &str, depth: usize) -> Value {
        let mut body = self.0.clone();
        fill(&mut body, query, id, depth);
        body
    }
}

fn for_each_text<E>(value: &Value, visit: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values
            .iter()
            .try_for_each(|value| for_each_text(value, visit)),
        Value::Object(members) => members
            .values()
            .try_for_each(|value| for_each_text(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn fill(value: &mut Value, query: &str, id: &str, depth: usize) {
    match value {
        Value::String(text) if text == DEPTH => *value = Value::from(depth),
        Value::String(text) => *text = filled(text, query, id, depth),
        Value::Array(values) => values.iter_mut().for_each(|of| fill(of, query, id, depth)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|of| fill(of, query, id, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text with its placeholders replaced, each only once: a query may contain them too.
fn filled(text: &str, query: &str, id: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let depth = depth.to_string();
        let known = [(QUERY, query), (QUERY_ID, id), (DEPTH, &depth)];
        let found = known.iter().find(|(name, _)| from.starts_with(name));
        let (name, value) = found.copied().unwrap_or(("{{", "{{"));
        out.push_str(value);
        rest = from.strip_prefix(name).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Where a response has the documents: JSON pointers (RFC 6901). Those of a document start at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentPointers {
    /// The list of documents.
    pub documents: String,
    pub id: String,
    /// The texts, which are joined by line breaks.
    pub texts: Vec<String>,
    pub title: Option<String>,
    pub score: String,
}

/// A document of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundDocument {
    pub id: DocId,
    /// Empty if it has none.
    pub title: String,
    /// Empty if it has none.
    pub text: String,
    pub score: Option<f64>,
}

impl FoundDocument {
    /// Whether it has something to read, be it a title only.
    pub fn has_text(&self) -> bool {
        !self.text.is_empty() || !self.title.is_empty()
    }
}

/// The documents of a response.
#[derive(Debug, Default, PartialEq)]
pub struct FoundDocuments {
    /// In the order of the response, also those without a text: they have a rank.
    pub documents: Vec<FoundDocument>,
    /// The positions in `texts` of the pointers at which any of the documents has a text.
    pub matched: BTreeSet<usize>,
}

impl DocumentPointers {
    /// The first `depth` documents of a response.
    ///
    /// # Errors
    /// The response is not JSON, has no list of documents, or a document has no identifier. The
    /// message is a phrase without the name of the server.
    pub fn read(&self, response: &[u8], depth: usize) -> Result<FoundDocuments, String> {
        let response: Value = serde_json::from_slice(response)
            .map_err(|error| format!("the response is not JSON: {error}"))?;
        if let Some(why) = partial(&response) {
            return Err(format!("the response is not complete: {why}"));
        }
        // Vespa leaves an empty list out.
        let list = match response.pointer(&self.documents) {
            None if is_empty_vespa(&response) => return Ok(FoundDocuments::default()),
            None => {
                return Err(format!(
                    "the response has nothing at {}; name the list of documents with --documents",
                    quoted(&self.documents)
                ));
            }
            Some(Value::Array(list)) => list,
            Some(_) => {
                return Err(format!(
                    "{} is not a list of documents",
                    quoted(&self.documents)
                ));
            }
        };
        let mut found = FoundDocuments::default();
        let mut seen = HashSet::new();
        for (at, hit) in list.iter().take(depth).enumerate() {
            let id = match hit.pointer(&self.id) {
                Some(Value::String(id)) if !id.trim().is_empty() => id.clone(),
                Some(Value::Number(id)) if !id.is_f64() => id.to_string(),
                _ => {
                    return Err(format!(
                        "document {} of the response has no identifier at {}; name it with --id",
                        at + 1,
                        quoted(&self.id)
                    ));
                }
            };
            if !seen.insert(id.clone()) {
                continue;
            }
            let mut texts = Vec::new();
            for (number, pointer) in self.texts.iter().enumerate() {
                if let Some(text) = text_at(hit, pointer) {
                    found.matched.insert(number);
                    texts.push(text);
                }
            }
            let title = self
                .title
                .as_ref()
                .and_then(|pointer| text_at(hit, pointer));
            found.documents.push(FoundDocument {
                id: DocId::new(id),
                title: title.unwrap_or_default(),
                text: texts.join("\n"),
                score: hit.pointer(&self.score).and_then(Value::as_f64),
            });
        }
        Ok(found)
    }
}

/// Why the engine says that it has not searched everything.
fn partial(response: &Value) -> Option<&'static str> {
    let is_true = |pointer: &str| response.pointer(pointer).and_then(Value::as_bool) == Some(true);
    let failed = response.pointer("/_shards/failed").and_then(Value::as_u64);
    // Solr also writes "omitted".
    let is_partial = |found: &Value| *found != Value::Bool(false);
    let partial = response.pointer("/responseHeader/partialResults");
    if is_true("/timed_out") {
        Some("the search timed out")
    } else if failed.is_some_and(|failed| failed > 0) {
        Some("shards failed")
    } else if partial.is_some_and(is_partial) {
        Some("the results are partial")
    } else if response.pointer("/root/errors").is_some() {
        Some("the search reported errors")
    } else if response.pointer("/root/coverage/full") == Some(&Value::Bool(false)) {
        Some("the search did not cover all documents")
    } else {
        None
    }
}

fn is_empty_vespa(response: &Value) -> bool {
    let count = response.pointer("/root/fields/totalCount");
    count.and_then(Value::as_u64) == Some(0)
}

/// The text at a pointer: a text, a number, or a list of texts.
fn text_at(hit: &Value, pointer: &str) -> Option<String> {
    let text = match hit.pointer(pointer)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(parts) => {
            let parts = parts.iter().filter_map(Value::as_str);
            parts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    const TEMPLATE: &str = r#"{"size":"{{depth}}","query":{"match":{"body":"{{query}}"}},"tag":"q-{{query_id}}-{{depth}}"}"#;

    #[test]
    fn placeholders_are_replaced_in_texts_only() {
        let template = RequestTemplate::parse(TEMPLATE).unwrap();
        assert_eq!(
            template.body("red \"shoes\" {{depth}}", "7", 20),
            json!({
                "size": 20,
                "query": {"match": {"body": "red \"shoes\" {{depth}}"}},
                "tag": "q-7-20",
            })
        );
    }

    #[rstest]
    #[case::no_json("{\"query\":", "is not JSON")]
    #[case::no_query(r#"{"q":"x"}"#, "has no {{query}}")]
    #[case::unknown(r#"{"q":"{{query}} {{user}}"}"#, "\"{{user}}\" is not a placeholder")]
    fn a_template_that_cannot_work_is_refused(#[case] text: &str, #[case] expected: &str) {
        let error = RequestTemplate::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    proptest! {
        /// No query changes the structure of a request.
        #[test]
        fn a_query_is_only_a_text(query in "\\PC{0,40}|[\"\\\\{}:,a-z]{0,20}") {
            let template = RequestTemplate::parse(TEMPLATE).unwrap();
            let text = template.body(&query, "1", 5).to_string();
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back["query"]["match"]["body"], &json!(query));
            prop_assert_eq!(back.as_object().unwrap().len(), 3);
        }
    }

    #[rstest]
    #[case::in_yql(r#"{"yql":"select * from s where body contains \"{{query}}\""}"#, true)]
    #[case::parameter(
        r#"{"yql":"select * from s where userInput(@q) limit {{depth}}","q":"{{query}}"}"#,
        false
    )]
    fn a_query_does_not_become_yql(#[case] text: &str, #[case] is_refused: bool) {
        let template = RequestTemplate::parse(text).unwrap();
        assert_eq!(template.refuse_vespa_yql().is_err(), is_refused);
    }

    #[rstest]
    #[case::query(r#"{"query":" {{query}}"}"#, true)]
    #[case::parameter(r#"{"params":{"q":"{{query}}","defType":"lucene"}}"#, true)]
    #[case::edismax(r#"{"query":"{{query}}","params":{"defType":"edismax"}}"#, false)]
    #[case::indirect(r#"{"query":"{!edismax v=$qq}","params":{"qq":"{{query}}"}}"#, false)]
    #[case::nested(r#"{"query":{"edismax":{"query":"{{query}}"}}}"#, false)]
    fn a_query_does_not_become_local_parameters(#[case] text: &str, #[case] is_refused: bool) {
        let template = RequestTemplate::parse(text).unwrap();
        assert_eq!(template.refuse_solr_parameters().is_err(), is_refused);
    }

    #[test]
    fn a_refused_template_comes_with_one_that_works() {
        let template = RequestTemplate::parse(r#"{"query":"{{query}}"}"#).unwrap();
        let error = template.refuse_solr_parameters().unwrap_err().to_string();
        assert!(
            error.contains(r#""query":"{!edismax v=$qq}" and "params":{"qq":"{{query}}"}"#),
            "{error}"
        );
    }

    fn pointers() -> DocumentPointers {
        DocumentPointers {
            documents: "/hits/hits".to_owned(),
            id: "/_id".to_owned(),
            texts: vec!["/_source/body".to_owned(), "/_source/tags".to_owned()],
            title: Some("/_source/title".to_owned()),
            score: "/_score".to_owned(),
        }
    }

    fn read(response: &Value) -> Result<FoundDocuments, String> {
        pointers().read(response.to_string().as_bytes(), 3)
    }

    #[test]
    fn documents_are_located_by_pointers() {
        let hit = |id: Value, source: Value| json!({"_id": id, "_score": 1.5, "_source": source});
        let found = read(
            &json!({"timed_out": false, "_shards": {"failed": 0}, "hits": {"hits": [
                hit(json!("a"), json!({"title": "A", "body": "text a", "tags": ["x", "y"]})),
                hit(json!(7), json!({})),
                hit(json!("a"), json!({"body": "again"})),
                hit(json!("b"), json!({"body": "beyond the depth"})),
            ]}}),
        );
        let document = FoundDocument {
            id: DocId::new("a"),
            title: "A".to_owned(),
            text: "text a\nx\ny".to_owned(),
            score: Some(1.5),
        };
        assert!(document.has_text());
        let without = FoundDocument {
            id: DocId::new("7"),
            title: String::new(),
            text: String::new(),
            score: Some(1.5),
        };
        assert!(!without.has_text());
        let expected = FoundDocuments {
            documents: vec![document, without],
            matched: BTreeSet::from([0, 1]),
        };
        assert_eq!(found, Ok(expected));
    }

    #[rstest]
    #[case::timed_out(json!({"timed_out": true, "hits": {"hits": []}}), "the response is not complete: the search timed out")]
    #[case::shards(json!({"_shards": {"failed": 2}, "hits": {"hits": []}}), "the response is not complete: shards failed")]
    #[case::solr(json!({"responseHeader": {"partialResults": true}}), "the response is not complete: the results are partial")]
    #[case::solr_omitted(json!({"responseHeader": {"partialResults": "omitted"}}), "the response is not complete: the results are partial")]
    #[case::vespa_time_out(json!({"root": {"coverage": {"full": false}, "children": []}}), "the response is not complete: the search did not cover")]
    #[case::solr_complete(json!({"responseHeader": {"partialResults": false}}), "the response has nothing at")]
    #[case::vespa_complete(json!({"root": {"coverage": {"full": true}}}), "the response has nothing at")]
    #[case::other_place(json!({"response": {"docs": []}}), "the response has nothing at \"/hits/hits\"")]
    #[case::no_list(json!({"hits": {"hits": 3}}), "\"/hits/hits\" is not a list")]
    #[case::no_id(json!({"hits": {"hits": [{"id": "a"}]}}), "document 1 of the response has no identifier at \"/_id\"")]
    fn a_response_that_does_not_fit_is_refused(#[case] response: Value, #[case] expected: &str) {
        let error = read(&response).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
