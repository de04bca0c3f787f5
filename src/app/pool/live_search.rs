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
use crate::domain::number_words::count;
use crate::domain::retrieval::{JudgingPool, build_pool};
use crate::domain::sanitize;
use crate::formats::beir::{self, BeirDocument, BeirQuery};
use crate::formats::file::read_to_string;
use crate::formats::problem::quoted;
use crate::formats::search_request::{
    DocumentPointers, FoundDocument, FoundDocuments, RequestTemplate,
};
use crate::judge::provider::address::{InvalidBaseUrl, check_address, place};
use crate::judge::provider::http::{Http, REDIRECT_REMEDY, Timeouts};
use crate::judge::provider::{ApiConnection, ConnectionKey};
use crate::judge::{CallError, Retry};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::ValueEnum;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::SecretString;
use serde_json::json;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Attempts at a search that fails for a reason that may pass.
const ATTEMPTS: u32 = 4;
/// Maximum number of bytes of a response: a thousand long documents.
const RESPONSE_BYTES: usize = 64 << 20;
/// Maximum number of bytes of all texts that are held until the last search is done.
const TEXT_BYTES: usize = 2 << 30;
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
    /// Maximum number of bytes of all texts.
    text_bytes: usize,
}

/// The texts that are held until the last search is done. The same text of the same document, found
/// for several queries, is held once.
struct HeldTexts {
    held: HashMap<DocId, Arc<str>>,
    bytes: usize,
    most: usize,
}

/// What the notes are about, over all queries.
#[derive(Default)]
struct Found {
    documents: HashSet<DocId>,
    without_text: HashSet<DocId>,
    only_title: HashSet<DocId>,
    /// The positions of the `--text` pointers that led to a text.
    matched: BTreeSet<usize>,
    /// Number of queries whose scores do not give the order.
    by_place: usize,
    /// Queries without documents.
    empty: Vec<String>,
    /// Queries whose documents have no text.
    unread: Vec<String>,
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
            text_bytes: TEXT_BYTES,
        })
    }

    /// Searches for each query, one after the other, and builds the pools. `show` is called after
    /// each query.
    ///
    /// # Errors
    /// A search fails, its response has no documents where they are expected, a `--text` pointer
    /// leads to no text of any document, or there is too much text: then there are no pools.
    pub async fn build(
        &self,
        queries: LiveQueries,
        options: &PoolOptions,
        show: &mut dyn FnMut(SearchProgress),
    ) -> Result<BuiltPools, AppError> {
        let depth = options.run_depth.max(options.depth);
        let (mut run, mut pools, mut judging) = (RankedRun::new(), Vec::new(), Vec::new());
        let mut candidates = HashMap::new();
        let mut texts = HeldTexts::new(self.text_bytes);
        let mut all = Found::default();
        for (done, query) in queries.0.iter().enumerate() {
            let found = self.documents(query, depth).await?;
            all.matched.extend(&found.matched);
            let found = found.documents;
            let (ranking, is_by_place) = ranking(&found);
            let slots = slots(query, &found, options);
            all.add(query, &found, is_by_place);
            if !slots.slots.is_empty() {
                let pool = pool(query, &slots, &found, options.stage_name);
                // A pool owns its texts.
                texts.count(pool.documents.iter().map(|of| of.content.len()).sum())?;
                pools.push(pool);
            }
            let beyond = beyond(&slots, &found, options.run_depth, &mut texts)?;
            candidates.insert(query.id.clone(), beyond);
            let kept = ranking.into_iter().take(options.run_depth);
            run.insert(query.id.clone(), kept.collect());
            judging.push(slots);
            show(SearchProgress {
                done: done + 1,
                all: queries.0.len(),
            });
        }
        all.refuse_unmatched(&self.pointers)?;
        let notes = all.notes(&self.pointers);
        let layout = (options.depth, options.layout);
        Ok(BuiltPools {
            summary: PoolSummary::of_search(&judging, all.documents.len(), layout, notes),
            stage_name: options.stage_name,
            run,
            stage_runs: Vec::new(),
            pools,
            candidates,
            qrels: Qrels::new(),
            queries: queries.0,
        })
    }

    async fn documents(&self, query: &BeirQuery, depth: usize) -> Result<FoundDocuments, AppError> {
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
        Some(_) => format!("Basic {}", BASE64_STANDARD.encode(key)),
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
    let sent = BASE64_STANDARD.encode(text);
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

impl HeldTexts {
    fn new(most: usize) -> Self {
        Self {
            held: HashMap::new(),
            bytes: 0,
            most,
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), AppError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= self.most {
            return Ok(());
        }
        let most = count(self.most);
        Err(AppError::Failed(format!(
            "the texts of the documents exceed {most} bytes; no pools were built; lower --depth and \
             --run-depth, or split the queries into several files"
        )))
    }

    fn share(&mut self, document: &DocId, text: &str) -> Result<Arc<str>, AppError> {
        if let Some(held) = self.held.get(document).filter(|held| ***held == *text) {
            return Ok(held.clone());
        }
        self.count(text.len())?;
        let shared: Arc<str> = Arc::from(text);
        self.held.insert(document.clone(), shared.clone());
        Ok(shared)
    }
}

impl Found {
    fn add(&mut self, query: &BeirQuery, found: &[FoundDocument], is_by_place: bool) {
        self.by_place += usize::from(is_by_place);
        if found.is_empty() {
            self.empty.push(query.id.as_str().to_owned());
        } else if !found.iter().any(FoundDocument::has_text) {
            self.unread.push(query.id.as_str().to_owned());
        }
        for document in found {
            let id = document.id.clone();
            self.documents.insert(id.clone());
            if !document.has_text() {
                self.without_text.insert(id);
            } else if document.text.is_empty() {
                self.only_title.insert(id);
            }
        }
    }

    /// Refuses a `--text` pointer that led to no text: it is probably mistyped, and judges would see
    /// titles only.
    fn refuse_unmatched(&self, pointers: &DocumentPointers) -> Result<(), AppError> {
        if self.documents.is_empty() {
            return Ok(());
        }
        let mut texts = pointers.texts.iter().enumerate();
        match texts.find(|(number, _)| !self.matched.contains(number)) {
            None => Ok(()),
            Some((_, pointer)) => Err(AppError::Failed(format!(
                "--text {}: no text there in any document found ({}); no pools were built",
                quoted(pointer),
                counted(self.documents.len(), "document")
            ))),
        }
    }

    fn notes(&self, pointers: &DocumentPointers) -> Vec<String> {
        let places: Vec<String> = pointers.texts.iter().map(|of| quoted(of)).collect();
        let places = places.join(" or ");
        let mut notes = Vec::new();
        if !self.only_title.is_empty() {
            let words = counted(self.only_title.len(), "document");
            notes.push(format!("{words} with only a title: no text at {places}"));
        }
        if !self.without_text.is_empty() {
            let words = counted(self.without_text.len(), "document");
            notes.push(format!(
                "{words} without a title and without text at {places}: ranked, but in no pool"
            ));
        }
        if self.by_place > 0 {
            let words = counted(self.by_place, "query");
            notes.push(format!(
                "the scores of {words} do not give the order of the response: positions counted \
                 from the end are stored instead"
            ));
        }
        let queries = |of: &[String], why: &str| {
            let names: Vec<&str> = of.iter().map(String::as_str).collect();
            let words = counted(of.len(), "query");
            format!("{words} {why}: no pool ({})", first_names(&names))
        };
        if !self.empty.is_empty() {
            notes.push(queries(&self.empty, "for which nothing was found"));
        }
        if !self.unread.is_empty() {
            let why = format!("whose documents have no text at {places}");
            notes.push(queries(&self.unread, &why));
        }
        notes
    }
}

/// The pool of a query: the best documents that have a text, with their ranks among all that were
/// found.
fn slots(query: &BeirQuery, found: &[FoundDocument], options: &PoolOptions) -> JudgingPool {
    let shown = found.iter().filter(|document| document.has_text());
    let shown: Vec<DocId> = shown.map(|document| document.id.clone()).collect();
    let mut pool = build_pool(&query.id, &[], &shown, options.depth, options.layout);
    let places = found.iter().enumerate();
    let ranks: HashMap<&DocId, usize> = places.map(|(at, of)| (&of.id, at + 1)).collect();
    for slot in &mut pool.slots {
        slot.rank = ranks.get(&slot.document).copied();
    }
    pool
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

/// The documents of the run that the pool does not hold and that have a text.
fn beyond(
    slots: &JudgingPool,
    found: &[FoundDocument],
    run_depth: usize,
    texts: &mut HeldTexts,
) -> Result<Vec<(DocId, Arc<str>)>, AppError> {
    let held: HashSet<&DocId> = slots.slots.iter().map(|slot| &slot.document).collect();
    let ranked = found.iter().take(run_depth);
    let missing = ranked.filter(|document| document.has_text() && !held.contains(&document.id));
    missing
        .map(|document| {
            let text = texts.share(&document.id, &passage(document).content())?;
            Ok((document.id.clone(), text))
        })
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
        let sent = BASE64_STANDARD.encode(&login);
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

    /// A response with these sources of the documents `d1`, `d2` and so on.
    fn sources(sources: &[Value]) -> (u16, String) {
        let hits = sources.iter().enumerate().map(
            |(at, source)| json!({"_id": format!("d{}", at + 1), "_score": 9 - at, "_source": source}),
        );
        let hits: Vec<Value> = hits.collect();
        (200, json!({"hits": {"hits": hits}}).to_string())
    }

    #[test]
    fn documents_without_a_text_keep_their_ranks_and_are_in_no_pool() {
        let folder = tempfile::tempdir().unwrap();
        let queries = files(&folder, &[("q1", "hats"), ("q2", "shoes"), ("q3", "coats")]);
        let (address, served) = serve(vec![
            sources(&[json!({}), json!({"title": "T"}), json!({"body": "text"})]),
            sources(&[json!({})]),
            sources(&[]),
        ]);
        let mut search = search(&folder, &address, None);
        search.pointers.title = Some("/_source/title".to_owned());
        let built = built(&search, queries).unwrap();
        served.join().unwrap();
        let ranked = built.run[&QueryId::new("q1")].iter();
        let ranked: Vec<&str> = ranked.map(|(document, _)| document.as_str()).collect();
        assert_eq!(ranked, ["d1", "d2", "d3"]);
        let [pool] = &built.pools[..] else {
            panic!("{:?}", built.pools);
        };
        let pooled: Vec<(&str, Value)> = pool
            .documents
            .iter()
            .map(|document| {
                let metadata: Value = serde_json::from_str(document.metadata.as_str()).unwrap();
                (document.id.as_str(), metadata["first_stage_rank"].clone())
            })
            .collect();
        assert_eq!(pooled, [("d2", json!(2)), ("d3", json!(3))]);
        assert_eq!(
            built.summary.warnings,
            [
                "1 document with only a title: no text at \"/_source/body\"",
                "1 document without a title and without text at \"/_source/body\": ranked, but in \
                 no pool",
                "1 query for which nothing was found: no pool (q3)",
                "1 query whose documents have no text at \"/_source/body\": no pool (q2)",
            ]
        );
    }

    #[test]
    fn a_pointer_without_any_text_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let queries = files(&folder, &[("q1", "hats")]);
        let (address, served) = serve(vec![sources(&[json!({"title": "T", "text": "text"})])]);
        let mut search = search(&folder, &address, None);
        search.pointers.title = Some("/_source/title".to_owned());
        search.pointers.texts = vec!["/_source/text".to_owned(), "/_source/bdy".to_owned()];
        let error = built(&search, queries).unwrap_err().to_string();
        served.join().unwrap();
        assert_eq!(
            error,
            "--text \"/_source/bdy\": no text there in any document found (1 document); no pools were \
             built"
        );
    }

    #[test]
    fn texts_are_shared_and_their_total_is_limited() {
        let mut texts = HeldTexts::new(10);
        let document = DocId::new("a");
        let first = texts.share(&document, "12345").unwrap();
        let second = texts.share(&document, "12345").unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(&*texts.share(&document, "1234").unwrap(), "1234");
        assert_eq!(texts.bytes, 9);
        let error = texts.share(&DocId::new("b"), "12").unwrap_err().to_string();
        assert!(error.contains("exceed 10 bytes;"), "{error}");
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
