//! Candidates from a running search engine: one request per query, whose response has the documents
//! with their texts. Only search endpoints are called, so nothing in the engine changes.

use super::documents::document;
use super::summary::PoolSummary;
use super::{BuiltPools, PoolOptions};
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{display_name, open};
use crate::app::text_format::{counted, first_names};
use crate::domain::corpus::{DocId, JsonObject, Pool, Query};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::retrieval::{JudgingPool, build_pool};
use crate::domain::sanitize;
use crate::formats::beir::{self, BeirDocument, BeirQuery};
use crate::formats::file::read_to_string;
use crate::formats::search_request::{DocumentPointers, FoundDocument, RequestTemplate};
use crate::judge::provider::address::{InvalidBaseUrl, check_address, place};
use crate::judge::provider::http::{Http, REDIRECT_REMEDY, Timeouts};
use crate::judge::provider::{ApiConnection, ConnectionKey};
use crate::judge::{CallError, Retry};
use clap::ValueEnum;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::SecretString;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Attempts at a search that fails for a reason that may pass.
const ATTEMPTS: u32 = 4;
/// Maximum number of bytes of a response: a thousand long documents.
const RESPONSE_BYTES: usize = 64 << 20;
/// Number of characters of a refusal that are shown.
const REFUSAL_CHARACTERS: usize = 300;

/// A kind of search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchEngine {
    Opensearch,
    Elasticsearch,
    Solr,
    Vespa,
}

impl SearchEngine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Opensearch => "opensearch",
            Self::Elasticsearch => "elasticsearch",
            Self::Solr => "solr",
            Self::Vespa => "vespa",
        }
    }

    /// Whether requests are about a named index or collection.
    pub fn needs_index(self) -> bool {
        self != Self::Vespa
    }

    /// The word before the key in the header `Authorization`.
    fn key_scheme(self) -> &'static str {
        match self {
            Self::Elasticsearch => "ApiKey",
            Self::Opensearch | Self::Solr => "Basic",
            Self::Vespa => "Bearer",
        }
    }

    /// Where its responses have the documents; their texts have no usual place.
    pub fn pointers(self, texts: Vec<String>) -> DocumentPointers {
        let (documents, id, score) = match self {
            Self::Opensearch | Self::Elasticsearch => ("/hits/hits", "/_id", "/_score"),
            Self::Solr => ("/response/docs", "/id", "/score"),
            Self::Vespa => ("/root/children", "/id", "/relevance"),
        };
        DocumentPointers {
            documents: documents.to_owned(),
            id: id.to_owned(),
            texts,
            title: None,
            score: score.to_owned(),
        }
    }

    /// The search endpoint of an index of the server at `base`.
    fn url(self, base: &Url, index: Option<&str>) -> Result<Url, AppError> {
        let mut url = base.clone();
        {
            let mut path = url
                .path_segments_mut()
                .map_err(|()| invalid!("{}: is not the address of a server", place(base)))?;
            path.pop_if_empty();
            match self {
                Self::Opensearch | Self::Elasticsearch => {
                    path.extend(index).push("_search");
                }
                Self::Solr => {
                    path.extend(index).push("query");
                }
                Self::Vespa => {
                    path.push("search").push("");
                }
            }
        }
        Ok(url)
    }
}

/// The server of a search engine, and how it is asked.
pub struct LiveSearch {
    connection: ApiConnection,
    template: RequestTemplate,
    pointers: DocumentPointers,
    /// How long to wait before a search is repeated, times the number of attempts.
    wait: Duration,
}

/// The queries to search for.
pub struct LiveQueries(Vec<BeirQuery>);

/// How far the searches are.
#[derive(Clone, Copy, Debug)]
pub struct SearchProgress {
    pub done: usize,
    pub all: usize,
}

impl LiveQueries {
    /// The queries of a file in BEIR's format: `{"_id":"q1","text":"red shoes"}` per line.
    pub fn read(path: &Path) -> Result<Self, AppError> {
        let mut problems = FileProblems::of(path);
        let queries = beir::read_queries(open(path)?, &display_name(path));
        let queries: Vec<BeirQuery> = queries.filter_map(|query| problems.keep(query)).collect();
        problems.refuse_any()?;
        if queries.is_empty() {
            return Err(AppError::file(
                path,
                "contains no query; expected a line such as {\"_id\":\"q1\",\"text\":\"red shoes\"}",
            ));
        }
        Ok(Self(queries))
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl LiveSearch {
    /// `key` is sent to this server only, in the header `Authorization`.
    ///
    /// # Errors
    /// The address or the template cannot be used, or the key has characters that no header can
    /// hold. The message repeats only the host and the port of the address: the rest may be secret.
    pub fn new(
        engine: SearchEngine,
        (address, index): (&str, Option<&str>),
        template: &Path,
        pointers: DocumentPointers,
        key: Option<SecretString>,
    ) -> Result<Self, AppError> {
        let option = engine.name();
        let base: Url = address
            .parse()
            .map_err(|error| invalid!("--{option} is not an address: {error}"))?;
        check_address(&base, key.is_some(), false).map_err(|error| match error {
            InvalidBaseUrl::HoldsPassword => invalid!(
                "--{option} holds a user name or a password; name a variable that holds \
                 USER:PASSWORD with --api-key-env"
            ),
            InvalidBaseUrl::HoldsQuery => invalid!(
                "--{option} ends in a query or a fragment; name a variable that holds the key with \
                 --api-key-env"
            ),
            InvalidBaseUrl::Unencrypted(place) => {
                invalid!("http://{place} would send the key unencrypted; use https")
            }
            InvalidBaseUrl::Scheme(_) => invalid!(
                "--{option} is not an address with http or https, such as http://localhost:9200"
            ),
        })?;
        let text = read_to_string(template)
            .map_err(|error| invalid!("{}: cannot be read: {error}", display_name(template)))?;
        let parsed = RequestTemplate::parse(&text).and_then(|parsed| {
            match engine {
                SearchEngine::Vespa => parsed.refuse_vespa_yql()?,
                SearchEngine::Solr => parsed.refuse_solr_parameters()?,
                SearchEngine::Opensearch | SearchEngine::Elasticsearch => {}
            }
            Ok(parsed)
        });
        let template = parsed.map_err(|error| AppError::file(template, error))?;
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            headers.insert(AUTHORIZATION, authorization(engine, key)?);
        }
        let timeouts = Timeouts {
            first_byte: Duration::from_secs(60),
            whole: Duration::from_secs(120),
            reply_bytes: RESPONSE_BYTES,
            ..Timeouts::default()
        };
        Ok(Self {
            connection: ApiConnection {
                http: Http::new(timeouts),
                url: engine.url(&base, index)?,
                base,
                headers,
                key: key.map(connection_key),
            },
            template,
            pointers,
            wait: Duration::from_secs(1),
        })
    }

    /// Searches for each query, one after the other, and builds the pools. `show` is called after
    /// each query.
    ///
    /// # Errors
    /// A search fails, or its response has no documents where they are expected: then there are no
    /// pools.
    pub async fn build(
        &self,
        queries: LiveQueries,
        options: &PoolOptions,
        show: &mut dyn FnMut(SearchProgress),
    ) -> Result<BuiltPools, AppError> {
        let depth = options.run_depth.max(options.depth);
        let (mut run, mut pools, mut judging) = (RankedRun::new(), Vec::new(), Vec::new());
        let mut candidates = HashMap::new();
        let mut documents: HashSet<DocId> = HashSet::new();
        let (mut without_text, mut by_place, mut empty) = (0, 0, Vec::new());
        for (done, query) in queries.0.iter().enumerate() {
            let found = self.documents(query, depth).await?;
            without_text += found.without_text;
            let found = found.documents;
            documents.extend(found.iter().map(|document| document.id.clone()));
            let (ranking, is_by_place) = ranking(&found);
            by_place += usize::from(is_by_place);
            let ids: Vec<DocId> = found.iter().map(|document| document.id.clone()).collect();
            let slots = build_pool(&query.id, &[], &ids, options.depth, options.layout);
            if found.is_empty() {
                empty.push(query.id.as_str());
            } else {
                pools.push(pool(query, &slots, &found, options.stage_name));
            }
            candidates.insert(query.id.clone(), beyond(&slots, &found, options.run_depth));
            let kept = ranking.into_iter().take(options.run_depth);
            run.insert(query.id.clone(), kept.collect());
            judging.push(slots);
            show(SearchProgress {
                done: done + 1,
                all: queries.0.len(),
            });
        }
        let mut notes = Vec::new();
        if without_text > 0 {
            let words = counted(without_text, "document");
            notes.push(format!(
                "skipped {words} without a text at the named places"
            ));
        }
        if by_place > 0 {
            let words = counted(by_place, "query");
            notes.push(format!(
                "the scores of {words} do not give the order of the response: positions counted \
                 from the end are stored instead"
            ));
        }
        if !empty.is_empty() {
            notes.push(format!(
                "{} for which nothing was found: no pool ({})",
                counted(empty.len(), "query"),
                first_names(&empty)
            ));
        }
        let layout = (options.depth, options.layout);
        Ok(BuiltPools {
            summary: PoolSummary::of_search(&judging, documents.len(), layout, notes),
            stage_name: options.stage_name,
            run,
            stage_runs: Vec::new(),
            pools,
            candidates,
            qrels: Qrels::new(),
            queries: queries.0,
        })
    }

    async fn documents(
        &self,
        query: &BeirQuery,
        depth: usize,
    ) -> Result<crate::formats::search_request::FoundDocuments, AppError> {
        let body = self.template.body(&query.text, query.id.as_str(), depth);
        let failed = |what: &str| {
            AppError::Failed(format!(
                "{}: query {:?}: {}; no pools were built",
                sanitize::line(&place(&self.connection.url)),
                sanitize::line(query.id.as_str()),
                sanitize::line(what)
            ))
        };
        let response = self.ask(body.to_string().into_bytes()).await;
        let response = response.map_err(|error| failed(&error.message))?;
        self.pointers
            .read(&response, depth)
            .map_err(|what| failed(&what))
    }

    /// The body of a successful response. Failures that may pass are repeated.
    async fn ask(&self, body: Vec<u8>) -> Result<Vec<u8>, CallError> {
        let connection = &self.connection;
        let mut attempt = 1;
        loop {
            let answer = connection.post(&connection.url, body.clone()).await;
            let answer = answer.and_then(|received| match received.is_ok() {
                true => Ok(received.body),
                false => {
                    let said = String::from_utf8_lossy(&received.body).into_owned();
                    // Cut only afterwards: the beginning of a key would not be recognized.
                    Err(refusal(received.status, &connection.redact_text(said)))
                }
            });
            let error = match answer {
                Ok(body) => return Ok(body),
                Err(error) => connection.redact_error(without_base_url(error)),
            };
            let Retry::After(wait) = error.retry else {
                return Err(error);
            };
            if attempt == ATTEMPTS {
                return Err(error);
            }
            let longest = Duration::from_secs(60);
            tokio::time::sleep(wait.unwrap_or(self.wait * attempt).min(longest)).await;
            attempt += 1;
        }
    }
}

/// The header with the key. A key that is `user:password` is encoded as HTTP's basic authentication
/// needs it.
fn authorization(engine: SearchEngine, key: &SecretString) -> Result<HeaderValue, AppError> {
    use secrecy::ExposeSecret as _;
    let key = key.expose_secret();
    let value = match key.split_once(':') {
        Some(_) => format!("Basic {}", base64(key.as_bytes())),
        None => format!("{} {key}", engine.key_scheme()),
    };
    let mut value = HeaderValue::from_str(&value)
        .map_err(|_| invalid!("--api-key-env: the key has characters that no header can hold"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// What is removed from messages: the key, and for basic authentication also what is sent, without
/// its padding, and the password alone.
fn connection_key(key: SecretString) -> ConnectionKey {
    use secrecy::ExposeSecret as _;
    let text = key.expose_secret();
    let Some((_, password)) = text.split_once(':') else {
        return ConnectionKey::Fixed(key);
    };
    let sent = base64(text.as_bytes());
    let texts = [text, sent.trim_end_matches('='), password];
    ConnectionKey::Basic(texts.map(SecretString::from).into())
}

/// A failure without the advice to change `base_url`, which only judges have.
fn without_base_url(mut error: CallError) -> CallError {
    if let Some(what) = error.message.strip_suffix(REDIRECT_REMEDY) {
        error.message =
            format!("{what}, and redirects are not followed; give the address meant instead");
    }
    error
}

/// Base64 with padding (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = (group >> (18 - 6 * at)) & 63;
            let is_padding = at > chunk.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(DIGITS[digit as usize])
            });
        }
    }
    text
}

/// A response without success, with the beginning of what the server says.
fn refusal(status: u16, body: &str) -> CallError {
    use crate::judge::FailureCause;
    let cause = match status {
        429 => FailureCause::RateLimited,
        500.. => FailureCause::Server,
        401 | 403 => FailureCause::Unauthorized,
        _ => FailureCause::BadRequest,
    };
    let said: String = body.chars().take(REFUSAL_CHARACTERS).collect();
    CallError::new(cause, format!("HTTP {status}: {}", said.trim()))
}

/// The ranking with the scores of the response, or with positions counted from the end if the scores
/// do not give its order. The flag says which.
fn ranking(found: &[FoundDocument]) -> (Vec<(DocId, f64)>, bool) {
    let scores: Option<Vec<f64>> = found.iter().map(|document| document.score).collect();
    let scores = scores.filter(|scores| {
        scores.windows(2).all(|pair| pair[0] > pair[1]) && scores.iter().all(|of| of.is_finite())
    });
    let is_by_place = scores.is_none();
    let scores = scores.unwrap_or_else(|| {
        let count = found.len();
        (0..count).map(|above| (count - above) as f64).collect()
    });
    let ids = found.iter().map(|document| document.id.clone());
    (ids.zip(scores).collect(), is_by_place)
}

fn passage(found: &FoundDocument) -> BeirDocument {
    BeirDocument {
        id: found.id.clone(),
        title: found.title.clone(),
        text: found.text.clone(),
        metadata: JsonObject::default(),
    }
}

fn pool(query: &BeirQuery, slots: &JudgingPool, found: &[FoundDocument], stage: &str) -> Pool {
    let by_id: HashMap<&DocId, &FoundDocument> = found
        .iter()
        .map(|document| (&document.id, document))
        .collect();
    let slotted = slots.slots.iter().enumerate();
    let documents = slotted.filter_map(|(at, slot)| {
        let passage = passage(by_id.get(&slot.document)?);
        Some(document(&passage, slot, at + 1, None, None, None))
    });
    let about = json!({"pool": {"layout": slots.layout, "positives": 0, "first_stage": stage}});
    Pool {
        query: Query {
            id: query.id.clone(),
            text: query.text.clone(),
            extra: JsonObject::default(),
        },
        documents: documents.collect(),
        extra: JsonObject::from_compact(about.to_string()),
    }
}

/// The documents of the run that the pool does not hold, with their texts.
fn beyond(
    slots: &JudgingPool,
    found: &[FoundDocument],
    run_depth: usize,
) -> Vec<(DocId, Arc<str>)> {
    let held: HashSet<&DocId> = slots.slots.iter().map(|slot| &slot.document).collect();
    let ranked = found.iter().take(run_depth);
    let missing = ranked.filter(|document| !held.contains(&document.id));
    missing
        .map(|document| (document.id.clone(), Arc::from(passage(document).content())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::QueryId;
    use crate::domain::retrieval::PoolLayout;
    use serde_json::Value;
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};
    use tempfile::TempDir;

    /// Serves these responses, one per connection, and returns the requests: their heads and bodies.
    fn serve(responses: Vec<(u16, String)>) -> (String, JoinHandle<Vec<(String, Value)>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            let mut requests = Vec::new();
            for (status, body) in responses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if line.trim().is_empty() {
                        break;
                    }
                    let line = line.to_lowercase();
                    if let Some(bytes) = line.strip_prefix("content-length:") {
                        length = bytes.trim().parse().unwrap();
                    }
                    head.push_str(&line);
                }
                let mut sent = vec![0; length];
                reader.read_exact(&mut sent).unwrap();
                requests.push((head, serde_json::from_slice(&sent).unwrap()));
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).unwrap();
            }
            requests
        });
        (address, served)
    }

    const TEMPLATE: &str = r#"{"size":"{{depth}}","query":{"match":{"body":"{{query}}"}}}"#;

    fn files(folder: &TempDir, queries: &[(&str, &str)]) -> LiveQueries {
        std::fs::write(folder.path().join("template.json"), TEMPLATE).unwrap();
        let lines = queries
            .iter()
            .map(|(id, text)| json!({"_id": id, "text": text}).to_string());
        let path = folder.path().join("queries.jsonl");
        std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
        LiveQueries::read(&path).unwrap()
    }

    fn search(folder: &TempDir, address: &str, key: Option<&str>) -> LiveSearch {
        let engine = SearchEngine::Opensearch;
        let mut search = LiveSearch::new(
            engine,
            (address, Some("shop items")),
            &folder.path().join("template.json"),
            engine.pointers(vec!["/_source/body".to_owned()]),
            key.map(SecretString::from),
        )
        .unwrap();
        search.wait = Duration::ZERO;
        search
    }

    fn options() -> PoolOptions {
        PoolOptions {
            depth: 2,
            run_depth: 3,
            relevant_from: 1,
            layout: PoolLayout::Original,
            stage_name: "opensearch",
        }
    }

    fn hits(hits: &[(&str, f64)]) -> (u16, String) {
        let hits = hits.iter().map(|(id, score)| {
            json!({"_id": id, "_score": score, "_source": {"body": format!("text of {id}")}})
        });
        (
            200,
            json!({"hits": {"hits": hits.collect::<Vec<_>>()}}).to_string(),
        )
    }

    fn built(search: &LiveSearch, queries: LiveQueries) -> Result<BuiltPools, AppError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .unwrap()
            .block_on(search.build(queries, &options(), &mut |_| {}))
    }

    #[test]
    fn each_query_is_searched_once_and_its_documents_become_a_pool() {
        let folder = tempfile::tempdir().unwrap();
        let queries = files(&folder, &[("q1", "red \"shoes\""), ("q2", "hats")]);
        let (address, served) = serve(vec![
            (503, "busy".to_owned()),
            hits(&[("a", 3.0), ("b", 2.0), ("c", 1.0)]),
            hits(&[("c", 1.0), ("a", 1.0)]),
        ]);
        let search = search(&folder, &address, Some("ann:secret-password"));
        let built = built(&search, queries).unwrap();
        let requests = served.join().unwrap();
        assert_eq!(requests.len(), 3);
        let (head, body) = &requests[1];
        assert!(
            head.starts_with("post /shop%20items/_search http/1.1"),
            "{head}"
        );
        assert!(
            head.contains("authorization: basic yw5uonnly3jldc1wyxnzd29yza=="),
            "{head}"
        );
        let expected = json!({"size": 3, "query": {"match": {"body": "red \"shoes\""}}});
        assert_eq!(*body, expected);
        let pools: Vec<Vec<&str>> = built
            .pools
            .iter()
            .map(|pool| {
                pool.documents
                    .iter()
                    .map(|document| document.id.as_str())
                    .collect()
            })
            .collect();
        assert_eq!(pools, [["a", "b"], ["c", "a"]]);
        assert_eq!(built.pools[0].documents[1].content, "text of b");
        let scores = |query: &str| built.run[&QueryId::new(query)].clone();
        let scored = |of: &[(&str, f64)]| -> Vec<(DocId, f64)> {
            of.iter()
                .map(|(id, score)| (DocId::new(*id), *score))
                .collect()
        };
        assert_eq!(scores("q1"), scored(&[("a", 3.0), ("b", 2.0), ("c", 1.0)]));
        // Equal scores do not give the order.
        assert_eq!(scores("q2"), scored(&[("c", 2.0), ("a", 1.0)]));
        let candidates = &built.candidates[&QueryId::new("q1")];
        assert_eq!(candidates[..], [(DocId::new("c"), Arc::from("text of c"))]);
        assert_eq!((built.summary.documents, built.summary.pools.slots), (3, 4));
    }

    #[test]
    fn a_failed_search_is_an_error_that_shows_neither_key_nor_escapes() {
        let folder = tempfile::tempdir().unwrap();
        let cases = [
            (
                401,
                "bad key very-secret-key \u{1b}[2J".to_owned(),
                "HTTP 401: bad key [key] ␛[2J",
            ),
            (200, "<html>".to_owned(), "the response is not JSON"),
            (
                200,
                "{\"took\":1}".to_owned(),
                "the response has nothing at \"/hits/hits\"",
            ),
        ];
        for (status, body, expected) in cases {
            let queries = files(&folder, &[("q1", "hats")]);
            let (address, served) = serve(vec![(status, body)]);
            let search = search(&folder, &address, Some("very-secret-key"));
            let error = built(&search, queries).unwrap_err().to_string();
            served.join().unwrap();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains("query \"q1\""), "{error}");
        }
    }

    #[test]
    fn a_refusal_shows_no_password_in_any_form() {
        let (user, password) = ("ann", "hunter2 is secret");
        let login = format!("{user}:{password}");
        let sent = base64(login.as_bytes());
        let (long, cut) = ("x".repeat(280), REFUSAL_CHARACTERS);
        for body in [
            format!("header Basic {sent} is wrong"),
            format!("password {password} is wrong"),
            // A cut before the removal would leave the beginning.
            format!("{long} {login} is wrong"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let queries = files(&folder, &[("q1", "hats")]);
            let (address, served) = serve(vec![(401, body)]);
            let search = search(&folder, &address, Some(&login));
            let error = built(&search, queries).unwrap_err().to_string();
            served.join().unwrap();
            assert!(error.contains("[key]"), "{error}");
            assert!(
                !error.contains("hunter2") && !error.contains(&sent[..8]),
                "{error}"
            );
            assert!(error.chars().count() < cut + 100, "{error}");
        }
    }

    #[test]
    fn a_redirect_is_not_explained_with_the_configuration_of_judges() {
        let message = format!("a redirects to b{REDIRECT_REMEDY}");
        let error = CallError::new(crate::judge::FailureCause::BadRequest, message);
        assert_eq!(
            without_base_url(error).message,
            "a redirects to b, and redirects are not followed; give the address meant instead"
        );
    }

    #[test]
    fn an_address_with_a_password_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        files(&folder, &[("q1", "hats")]);
        let engine = SearchEngine::Vespa;
        let new = |address: &str| {
            let template = folder.path().join("template.json");
            LiveSearch::new(
                engine,
                (address, None),
                &template,
                engine.pointers(Vec::new()),
                None,
            )
        };
        for address in [
            "http://ann:secret@localhost",
            "htps://ann:secret@localhost",
            "ann:secret@localhost",
            "secret:ann@localhost",
            "http://ann:secret@localhost:99999",
            "http://ann:secret@[::1",
            "http://localhost?api_key=secret",
            "http://localhost/#secret",
            "secret@localhost",
            "ftp://localhost",
            "localhost:8080",
        ] {
            let error = new(address).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        let template = folder.path().join("template.json");
        let key = Some(SecretString::from("very-secret-key"));
        let error = LiveSearch::new(
            engine,
            ("http://search.example.org", None),
            &template,
            engine.pointers(Vec::new()),
            key,
        );
        let error = error.err().unwrap().to_string();
        assert!(
            error.contains("would send the key unencrypted; use https"),
            "{error}"
        );
        let search = new("http://localhost:8080/app").unwrap();
        assert_eq!(
            search.connection.url.as_str(),
            "http://localhost:8080/app/search/"
        );
    }
}
