//! Rerankers behind HTTP.

use super::scores::RerankScores;
use crate::judge::call::{CallError, Exchange, Usage};
use crate::judge::ensemble::RerankerConnection;
use crate::judge::identity::identity_of;
use crate::judge::price::RerankPrice;
use crate::judge::provider::error_response;
use crate::judge::provider::rerank::{self, ServiceScores};
use crate::judge::spec::JudgeLimits;
use reqwest::Url;
use serde_json::Value;
use std::ops::Range;

/// Approximate number of bytes per token of English text.
const BYTES_PER_TOKEN: usize = 4;
/// Maximum number of tokens that a service adds to a query and a document.
const ENVELOPE: usize = 150;

/// A service with its settings.
#[derive(Debug)]
pub(super) struct RemoteReranker {
    reached: RerankerConnection,
    url: Url,
    /// Maximum number of documents per call.
    batch: usize,
}

/// More candidates than fit in one call of a model whose scores of different calls cannot be
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{model} scores documents against each other, so that all {candidates} candidates must go in \
     one call, and only {fits} fit: rerank fewer, raise batch, or lower max_document_chars"
)]
pub struct TooManyCandidates {
    pub model: String,
    pub candidates: usize,
    pub fits: usize,
}

impl RemoteReranker {
    pub(super) fn new(reached: RerankerConnection, batch: Option<usize>) -> Self {
        Self {
            url: rerank::url(
                reached.service,
                &reached.connection.base,
                &reached.settings.spec.model,
            ),
            batch: batch.unwrap_or(reached.service.documents()),
            reached,
        }
    }

    /// Whether a key is sent, so that calls are charged.
    pub(super) fn is_paid(&self) -> bool {
        self.reached.connection.has_key()
    }

    pub(super) fn limits(&self) -> JudgeLimits {
        self.reached.settings.limits
    }

    pub(super) fn price(&self) -> Option<RerankPrice> {
        self.reached.price
    }

    pub(super) fn chars(&self) -> usize {
        self.reached.settings.cut.chars
    }

    /// Service, model, and the parameters that change the meaning of scores. If a local server
    /// decides which model answers, its address as well.
    pub(super) fn identity(&self) -> String {
        let settings = &self.reached.settings;
        let service = self.reached.service;
        let place = if service.server_decides_model() {
            self.url.as_str()
        } else {
            ""
        };
        let params = identity_of(&Value::Object(settings.params.clone()).to_string());
        let (model, chars) = (&settings.spec.model, settings.cut.chars);
        format!("{} {model} {params} {chars} {place}", service.name())
    }

    /// The batches in which documents are sent, each within the limits of the service.
    pub(super) fn batches(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<Vec<Range<usize>>, TooManyCandidates> {
        let service = self.reached.service;
        let mut batches: Vec<Range<usize>> = Vec::new();
        let mut bytes = 0;
        for (at, text) in texts.iter().enumerate() {
            let more = service.bytes_of(query, text);
            match batches.last_mut() {
                Some(last) if last.len() < self.batch && bytes + more <= service.bytes() => {
                    last.end = at + 1;
                    bytes += more;
                }
                _ => {
                    batches.push(at..at + 1);
                    bytes = more;
                }
            }
        }
        let model = &self.reached.settings.spec.model;
        if batches.len() > 1 && service.is_listwise(model) {
            return Err(TooManyCandidates {
                model: model.clone(),
                candidates: texts.len(),
                fits: batches.first().map_or(0, Range::len),
            });
        }
        Ok(batches)
    }

    /// The expected usage of a call with `ratio` times as many tokens as estimated, and its cost if
    /// the price is known.
    pub(super) fn expect(&self, query: &str, texts: &[&str], ratio: f64) -> (Usage, Option<f64>) {
        let bytes: usize = texts.iter().map(|text| text.len() + query.len()).sum();
        let tokens = bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        let searches = self.reached.service.expected_searches(texts);
        self.priced((tokens as f64 * ratio).round() as u64, searches)
    }

    /// The maximum usage: no tokenizer produces more than one token per byte.
    pub(super) fn worst(&self, query: &str, texts: &[&str]) -> (Usage, Option<f64>) {
        let bytes = texts.iter().map(|text| text.len() + query.len() + ENVELOPE);
        let searches = self.reached.service.worst_searches(query, texts);
        self.priced(bytes.sum::<usize>() as u64, searches)
    }

    fn priced(&self, tokens: u64, searches: f64) -> (Usage, Option<f64>) {
        let usage = Usage {
            input: tokens,
            ..Usage::default()
        };
        let price = self.reached.price;
        let usd = price.and_then(|price| price.cost(Some(tokens), Some(searches)));
        (usage, usd)
    }

    pub(super) async fn score(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<RerankScores, CallError> {
        let RerankerConnection {
            service,
            settings,
            connection,
            ..
        } = &self.reached;
        let model = &settings.spec.model;
        let body = rerank::request(*service, model, query, texts, &settings.params);
        let body = body.to_string().into_bytes();
        let read = connection.post(&self.url, body).await.and_then(|received| {
            error_response::guarded(&received, || {
                rerank::read(*service, settings, &received, texts.len())
            })
        });
        match read {
            Ok(answer) => Ok(RerankScores {
                exchange: connection.redact_exchange(Exchange {
                    cost_usd: self.cost(&answer),
                    ..answer.exchange
                }),
                scores: answer.scores,
                places_only: false,
            }),
            Err(mut error) => {
                // Often the address is wrong, and the user only wrote its beginning.
                if error.no_answer || matches!(error.exchange.status, Some(404 | 405)) {
                    let message = &error.message;
                    error.message = format!("{message} (the address tried is {})", self.url);
                }
                Err(connection.redact_error(error))
            }
        }
    }

    fn cost(&self, answer: &ServiceScores) -> Option<f64> {
        // A call is one search unless the service counts them.
        let one = (!self.reached.service.counts_searches()).then_some(1.0);
        let searches = answer.searches.or(one);
        self.reached.price?.cost(answer.tokens, searches)
    }
}
