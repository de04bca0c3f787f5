//! The trait for services that score documents, and the parts of requests and responses that they
//! share.

use crate::judge::call::{CallError, Exchange, FailureCause, Usage};
use crate::judge::provider::address::join;
use crate::judge::provider::error_response;
use crate::judge::provider::json::{merge, text_at, whole};
use crate::judge::provider::rate_limits;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::service::Service;
use crate::judge::provider::settings::JudgeSettings;
use crate::judge::provider::token_counts;
use reqwest::Url;
use serde_json::{Map, Value, json};

/// Default limit of bytes per call, for services that do not document one.
const USUAL_BYTES: usize = 4_000_000;

/// The result of one call to a service.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServiceScores {
    /// One for each document, in the order in which they were sent.
    pub(crate) scores: Vec<f64>,
    /// Data of the call, without cost.
    pub(crate) exchange: Exchange,
    /// Tokens read, if the service counts them in a meaningful way.
    pub(crate) tokens: Option<u64>,
    /// Searches charged, if the service counts them.
    pub(crate) searches: Option<f64>,
}

/// A service that scores documents.
pub trait RerankProvider: Service {
    /// The URL of calls, given a base address that is not the full one.
    fn route(&self, base: &Url, model: &str) -> Url;

    /// Default number of documents per call.
    fn documents(&self) -> usize {
        100
    }

    /// Maximum number of bytes per call, as the service counts them.
    fn bytes(&self) -> usize {
        USUAL_BYTES
    }

    /// The number of these bytes that a document takes.
    fn bytes_of(&self, _query: &str, document: &str) -> usize {
        // In JSON, quotation marks and line breaks take two bytes, and other control characters
        // six.
        document.bytes().map(escaped).sum::<usize>() + 3
    }

    /// Whether calls name the model. Otherwise the server has only one.
    fn needs_model(&self) -> bool {
        true
    }

    /// Whether the user's server decides which model a name stands for.
    fn server_decides_model(&self) -> bool {
        false
    }

    /// Whether the scores of `model` depend on the other documents of the call, so that scores of
    /// different calls cannot be compared.
    fn is_listwise(&self, _model: &str) -> bool {
        false
    }

    /// The server for a key that is not one for the usual server.
    fn base_of_key(&self, _key: &str) -> Option<&'static str> {
        None
    }

    /// Whether a call may be charged as several searches, which the answer then counts.
    fn counts_searches(&self) -> bool {
        false
    }

    /// The expected number of searches charged for a call.
    fn expected_searches(&self, _documents: &[&str]) -> f64 {
        1.0
    }

    /// Maximum number of searches charged for a call.
    fn worst_searches(&self, _query: &str, _documents: &[&str]) -> f64 {
        1.0
    }

    /// The JSON of a call, without the user's parameters; as in Cohere's API unless a service has
    /// its own format.
    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        json!({"model": model, "query": query, "documents": documents, "top_n": documents.len()})
    }

    /// The failure for an error response, for services with their own codes.
    fn refusal(
        &self,
        _settings: &JudgeSettings,
        _received: &HttpResponse,
        error: CallError,
    ) -> CallError {
        error
    }
}

/// The URL of calls, given a base address or a full one, because users paste the address of a
/// manual call.
pub(crate) fn url(service: &dyn RerankProvider, base: &Url, model: &str) -> Url {
    let path = base.path().trim_end_matches('/');
    let is_full = ["/rerank", "/reranking", "/ranking"]
        .iter()
        .any(|route| path.ends_with(route));
    if is_full {
        join(base, "")
    } else {
        service.route(base, model)
    }
}

/// `base` with a route, below the first of `versions` unless the address ends in one of them.
pub(super) fn versioned(base: &Url, versions: &[&str], route: &str) -> Url {
    let path = base.path().trim_end_matches('/');
    let first = versions
        .first()
        .filter(|_| !versions.iter().any(|version| path.ends_with(version)));
    join(base, &format!("{}{route}", first.unwrap_or(&"")))
}

/// The JSON of a call.
pub(crate) fn request(
    service: &dyn RerankProvider,
    model: &str,
    query: &str,
    documents: &[&str],
    params: &Map<String, Value>,
) -> Value {
    let mut body = service.request(model, query, documents);
    merge(&mut body, params);
    body
}

/// The scores in a response of any status to a call about `count` documents, or the failure.
pub(crate) fn read(
    service: &dyn RerankProvider,
    settings: &JudgeSettings,
    received: &HttpResponse,
    count: usize,
) -> Result<ServiceScores, CallError> {
    if !received.is_ok() {
        let error = error_response::from_response(settings, received);
        return Err(service.refusal(settings, received, error));
    }
    let value = error_response::json(settings, received)?;
    let tokens = tokens(&value);
    let exchange = Exchange {
        sent: true,
        status: Some(received.status),
        request_id: received.request_id().or_else(|| text_at(&value, "/id")),
        model: text_at(&value, "/model"),
        usage: Usage {
            input: tokens.unwrap_or(0),
            ..Usage::default()
        },
        latency: received.latency,
        limits: rate_limits::read(received),
        ..Exchange::default()
    };
    let Some(results) = results(&value) else {
        return Err(error_response::not_json(received));
    };
    let scores = scores(results, count).map_err(|why| {
        let mut error = CallError::new(FailureCause::Malformed, why.to_string());
        *error.exchange = exchange.clone();
        error
    })?;
    Ok(ServiceScores {
        scores,
        exchange,
        tokens,
        searches: ["/meta/billed_units/search_units", "/usage/rerank_units"]
            .iter()
            .find_map(|place| value.pointer(place)?.as_f64())
            .filter(|units| (0.0..=1e6).contains(units)),
    })
}

/// Number of bytes that one byte of text takes in JSON.
fn escaped(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// The results in a response, under any of their possible names.
fn results(value: &Value) -> Option<&Vec<Value>> {
    let found = ["results", "data", "rankings"]
        .into_iter()
        .filter_map(|name| value.get(name)?.as_array())
        .next();
    found.or_else(|| value.as_array())
}

/// The number of tokens read, according to the response.
fn tokens(value: &Value) -> Option<u64> {
    const PLACES: [&str; 5] = [
        "/meta/billed_units/input_tokens",
        "/usage/total_tokens",
        "/usage/prompt_tokens",
        "/total_tokens",
        "/meta/tokens/input_tokens",
    ];
    let mut counts = PLACES
        .iter()
        .filter_map(|place| whole(value.pointer(place)?));
    counts.find(|count| (1..=token_counts::MOST).contains(count))
}

/// Why a response does not contain one score for each document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum InvalidScores {
    #[error("a result has no index")]
    NoIndex,
    #[error("a result has the index {index}, but only {sent} documents were sent")]
    UnknownIndex { index: u64, sent: usize },
    #[error("the result of document {0} has no score")]
    NoScore(u64),
    #[error("document {0} was scored twice")]
    Twice(u64),
    #[error("document {missing} has no score: {results} results came for {sent} documents")]
    Missing {
        missing: usize,
        results: usize,
        sent: usize,
    },
}

/// One score for each of the `sent` documents, by the index in each result.
fn scores(results: &[Value], sent: usize) -> Result<Vec<f64>, InvalidScores> {
    let mut scores = vec![None; sent];
    for result in results {
        let index = result
            .get("index")
            .and_then(whole)
            .ok_or(InvalidScores::NoIndex)?;
        let place = usize::try_from(index)
            .ok()
            .and_then(|at| scores.get_mut(at))
            .ok_or(InvalidScores::UnknownIndex { index, sent })?;
        let score = ["relevance_score", "score", "logit"]
            .iter()
            .find_map(|name| result.get(*name)?.as_f64())
            .filter(|score| score.is_finite())
            .ok_or(InvalidScores::NoScore(index))?;
        if place.replace(score).is_some() {
            return Err(InvalidScores::Twice(index));
        }
    }
    let score = |(missing, score): (usize, Option<f64>)| {
        score.ok_or(InvalidScores::Missing {
            missing,
            results: results.len(),
            sent,
        })
    };
    scores.into_iter().enumerate().map(score).collect()
}
