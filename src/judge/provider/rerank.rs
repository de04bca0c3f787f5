//! Services that score documents for a query: their addresses, requests, responses and limits.
//! Scores of different services are not comparable.

#[cfg(test)]
mod tests;

use super::address::join;
use super::error_body::ErrorBody;
use super::error_response;
use super::json::{merge, text_at, whole};
use super::rate_limits;
use super::response::HttpResponse;
use super::settings::JudgeSettings;
use super::token_counts;
use crate::domain::named::named;
use crate::judge::call::{CallError, Exchange, FailureCause, Retry, Usage};
use reqwest::Url;
use serde_json::{Map, Value, json};
use strum::{IntoStaticStr, VariantArray};

/// Bytes that ZeroEntropy counts per document in addition to its text and the query's.
const DOCUMENT_OVERHEAD: usize = 150;
/// Default limit of bytes per call, for services that do not document one.
const USUAL_BYTES: usize = 4_000_000;
/// Number of tokens, including the query, of a part that Cohere counts as a separate document, and
/// number of parts per search.
const COHERE_PART: usize = 500;
const COHERE_PARTS: usize = 100;

/// llama.cpp's message for a query and a document that exceed its batch of tokens.
const LLAMA_TOO_LARGE: &str = "too large to process";

/// The providers of rerankers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum RerankService {
    ZeroEntropy,
    Cohere,
    Voyage,
    Jina,
    /// Hugging Face's Text Embeddings Inference.
    Tei,
    /// A server with Cohere's API: vLLM, LiteLLM, llama.cpp.
    Compatible,
}

named!(RerankService, "a rerank service");

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

impl RerankService {
    /// The URL of calls, given a base address or a full one, because users paste the address of a
    /// manual call.
    pub(crate) fn url(self, base: &Url) -> Url {
        let path = base.path().trim_end_matches('/');
        let route = |versions: &[&str], short: &str, long: &str| {
            let versioned = versions.iter().any(|version| path.ends_with(version));
            join(base, if versioned { short } else { long })
        };
        if path.ends_with("/rerank") || path.ends_with("/reranking") {
            return join(base, "");
        }
        match self {
            Self::ZeroEntropy => route(&["/v1"], "/models/rerank", "/v1/models/rerank"),
            Self::Cohere => route(&["/v1", "/v2"], "/rerank", "/v2/rerank"),
            Self::Voyage | Self::Jina => route(&["/v1"], "/rerank", "/v1/rerank"),
            Self::Tei | Self::Compatible => join(base, "/rerank"),
        }
    }

    /// Default number of documents per call.
    pub(crate) fn documents(self) -> usize {
        match self {
            Self::ZeroEntropy | Self::Cohere | Self::Voyage | Self::Jina => 1_000,
            // The default of `--max-client-batch-size`.
            Self::Tei => 32,
            Self::Compatible => 100,
        }
    }

    /// Maximum number of bytes per call, as the service counts them.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::ZeroEntropy => 5_000_000,
            // It limits the body to 2 MB.
            Self::Tei => 1_800_000,
            _ => USUAL_BYTES,
        }
    }

    /// The number of these bytes that a document takes.
    pub(crate) fn bytes_of(self, query: &str, document: &str) -> usize {
        match self {
            Self::ZeroEntropy => DOCUMENT_OVERHEAD + query.len() + document.len(),
            // In JSON, quotation marks and line breaks take two bytes, and other control characters
            // six.
            _ => document.bytes().map(escaped).sum::<usize>() + 3,
        }
    }

    /// Whether the scores of `model` depend on the other documents of the call, so that scores of
    /// different calls cannot be compared.
    pub(crate) fn is_listwise(self, model: &str) -> bool {
        self == Self::Jina && model.starts_with("jina-reranker-v3")
    }

    /// Maximum number of searches that Cohere may charge: no tokenizer produces more than one token
    /// per byte.
    pub(crate) fn worst_searches(self, query: &str, documents: &[&str]) -> f64 {
        if self != Self::Cohere {
            return 1.0;
        }
        let room = COHERE_PART.saturating_sub(query.len()).max(COHERE_PART / 2);
        let parts = documents
            .iter()
            .map(|text| text.len().div_ceil(room).max(1));
        parts.sum::<usize>().div_ceil(COHERE_PARTS).max(1) as f64
    }

    pub(crate) fn request(
        self,
        model: &str,
        query: &str,
        documents: &[&str],
        params: &Map<String, Value>,
    ) -> Value {
        let count = documents.len();
        let mut body = match self {
            Self::ZeroEntropy | Self::Cohere | Self::Compatible => {
                json!({"model": model, "query": query, "documents": documents, "top_n": count})
            }
            Self::Jina => json!({
                "model": model, "query": query, "documents": documents, "top_n": count, "return_documents": false,
            }),
            Self::Voyage => json!({
                "model": model, "query": query, "documents": documents, "top_k": count, "truncation": true,
                "return_documents": false,
            }),
            Self::Tei => json!({
                "query": query, "texts": documents, "raw_scores": false, "return_text": false, "truncate": true,
                "truncation_direction": "Right",
            }),
        };
        merge(&mut body, params);
        body
    }

    /// The scores in a response of any status to a call about `count` documents, or the failure.
    pub(crate) fn read(
        self,
        settings: &JudgeSettings,
        received: &HttpResponse,
        count: usize,
    ) -> Result<ServiceScores, CallError> {
        if !received.is_ok() {
            return Err(self.refusal(settings, received));
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
        let scores = scores(results, count).map_err(|message| {
            let mut error = CallError::new(FailureCause::Malformed, message);
            *error.exchange = exchange.clone();
            error
        })?;
        Ok(ServiceScores {
            scores,
            exchange,
            tokens,
            searches: value
                .pointer("/meta/billed_units/search_units")
                .and_then(Value::as_f64)
                .filter(|units| (0.0..=1e6).contains(units)),
        })
    }

    /// The failure for an error response, for services with their own codes.
    fn refusal(self, settings: &JudgeSettings, received: &HttpResponse) -> CallError {
        let mut error = error_response::from_response(settings, received);
        let wait = error.exchange.limits.retry_after;
        let said = || ErrorBody::read(&received.body).shown();
        match (self, received.status) {
            (Self::Cohere, 498) => {
                error.cause = FailureCause::Unauthorised;
                error.message = format!("{}; check {}", error.message, settings.key_env);
                error.stopping()
            }
            // The connection was closed by the server; the model behind it failed.
            (Self::Cohere, 499) | (Self::Tei, 424) => {
                error.cause = FailureCause::Server;
                error.retry = Retry::After(wait);
                error
            }
            (Self::Tei, 413) => {
                error.message = format!(
                    "{}; send fewer or shorter documents in one call: lower batch or \
                     max_document_chars (the server tells its \
                     max_client_batch_size at /info)",
                    said()
                );
                error
            }
            (Self::Compatible, _) if error.message.contains(LLAMA_TOO_LARGE) => {
                error.message = format!(
                    "{}; lower max_document_chars, or start the server with larger --batch-size \
                     and --ubatch-size",
                    said()
                );
                error
            }
            _ => error,
        }
    }
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
    let found = ["results", "data"]
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

/// One score for each of `count` documents, by the index in each result.
fn scores(results: &[Value], count: usize) -> Result<Vec<f64>, String> {
    let mut scores = vec![None; count];
    for result in results {
        let index = result.get("index").and_then(whole);
        let index = index.ok_or("a result has no index")?;
        let place = usize::try_from(index)
            .ok()
            .and_then(|at| scores.get_mut(at));
        let place = place.ok_or_else(|| {
            format!("a result has the index {index}, but only {count} documents were sent")
        })?;
        let score = ["relevance_score", "score"]
            .iter()
            .find_map(|name| result.get(*name)?.as_f64())
            .filter(|score| score.is_finite());
        let score = score.ok_or_else(|| format!("the result of document {index} has no score"))?;
        if place.replace(score).is_some() {
            return Err(format!("document {index} was scored twice"));
        }
    }
    let missing = scores.iter().position(Option::is_none);
    let all: Option<Vec<f64>> = scores.into_iter().collect();
    all.ok_or_else(|| {
        let missing = missing.unwrap_or(0);
        format!(
            "document {missing} has no score: {} results came for {count} documents",
            results.len()
        )
    })
}
