//! Embedders behind HTTP: `/embeddings` of OpenAI and compatible servers, and Ollama's
//! `/api/embed`.

use super::embedded_texts::EmbeddedTexts;
use crate::judge::price::{CacheWrites, Price};
use crate::judge::provider::error_response::ErrorBody;
use crate::judge::provider::json::{self, merge};
use crate::judge::provider::rate_limits;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::{ApiConnection, EmbeddingFormat, JudgeSettings};
use crate::judge::provider::{error_response, token_counts};
use crate::judge::{CallError, Exchange, FailureCause, JudgeLimits, Retry, Usage};
use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// llama.cpp's message for a text that is longer than its batch.
const LLAMA_TOO_LARGE: &str = "too large to process";
/// Ollama's message, as an internal error, if the model computes NaN for a text.
const OLLAMA_NO_NUMBER: &str = "unsupported value";

/// A server with its settings.
#[derive(Debug)]
pub(super) struct RemoteEmbedder {
    settings: JudgeSettings,
    connection: ApiConnection,
    url: Url,
    format: EmbeddingFormat,
    params: Map<String, Value>,
}

impl RemoteEmbedder {
    pub(super) fn new(
        settings: JudgeSettings,
        connection: ApiConnection,
        format: EmbeddingFormat,
        params: Map<String, Value>,
    ) -> Self {
        Self {
            url: format.url(&connection.base),
            settings,
            connection,
            format,
            params,
        }
    }

    /// Whether a key is sent, so that calls are charged.
    pub(super) fn is_paid(&self) -> bool {
        self.connection.has_key()
    }

    pub(super) fn limits(&self) -> JudgeLimits {
        self.settings.limits
    }

    /// Maximum cost in dollars: no tokenizer produces more than one token per byte.
    pub(super) fn worst_usd(&self, texts: &[String]) -> Option<f64> {
        let usage = Usage {
            input: texts.iter().map(|text| text.len() as u64 + 1).sum(),
            ..Usage::default()
        };
        self.settings
            .price
            .map(|price| price.worst(&usage, &self.settings.terms))
    }

    /// The cost of this many tokens in dollars.
    pub(super) fn usd(&self, tokens: u64) -> Option<f64> {
        let usage = Usage {
            input: tokens,
            ..Usage::default()
        };
        self.settings
            .price
            .map(|price| price.cost(&usage, CacheWrites::default()))
    }

    /// The exchange of a call that read `tokens` and that `model` answered.
    fn exchange(
        &self,
        received: &HttpResponse,
        tokens: Option<u64>,
        model: Option<String>,
    ) -> Exchange {
        let usage = Usage {
            input: tokens.unwrap_or(0),
            ..Usage::default()
        };
        // Without a token count, the price cannot be applied, unless it is 0.
        let price = self.settings.price;
        let price = price.filter(|price| tokens.is_some() || *price == Price::FREE);
        Exchange {
            usage,
            model: model.filter(|model| !model.trim().is_empty()),
            cost_usd: price.map(|price| price.cost(&usage, CacheWrites::default())),
            latency: received.latency,
            limits: rate_limits::read(received),
            sent: true,
            ..Exchange::default()
        }
    }

    /// Address, model and parameters.
    pub(super) fn identity(&self) -> String {
        format!("{} {}", self.url, self.body(&[]))
    }

    fn body(&self, texts: &[String]) -> Value {
        let model = &self.settings.spec.model;
        let mut body = match self.format {
            EmbeddingFormat::Ollama => {
                json!({"model": model, "input": texts, "truncate": true, "keep_alive": "30m"})
            }
            EmbeddingFormat::OpenAi => {
                json!({"model": model, "input": texts, "encoding_format": "float"})
            }
        };
        merge(&mut body, &self.params);
        body
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<EmbeddedTexts, CallError> {
        let connection = &self.connection;
        let body = self.body(texts).to_string().into_bytes();
        connection
            .post(&self.url, body)
            .await
            .and_then(|received| error_response::guarded(&received, || self.read(&received)))
            .map_err(|error| connection.redact_error(error))
    }

    fn read(&self, received: &HttpResponse) -> Result<EmbeddedTexts, CallError> {
        if self.format == EmbeddingFormat::Ollama {
            let reply: OllamaReply = self
                .parse(received)
                .map_err(|error| error_response::with_pull(&self.settings, error))?;
            return Ok(EmbeddedTexts {
                vectors: reply.embeddings.into_iter().map(numbers).collect(),
                exchange: self.exchange(received, count(&reply.prompt_eval_count), reply.model),
            });
        }
        let mut reply: OpenAiReply = self.parse(received)?;
        // Some servers answer in order, without indexes.
        if reply.data.iter().any(|datum| datum.index.is_some()) {
            reply.data.sort_by_key(|datum| datum.index);
            if (0..)
                .zip(&reply.data)
                .any(|(at, datum)| datum.index != Some(at))
            {
                let message = "the vectors in the answer are not numbered from 0";
                return Err(CallError::new(FailureCause::Malformed, message));
            }
        }
        let tokens = reply.usage.get("prompt_tokens").and_then(count);
        Ok(EmbeddedTexts {
            vectors: reply
                .data
                .into_iter()
                .map(|datum| numbers(datum.embedding))
                .collect(),
            exchange: self.exchange(received, tokens, reply.model),
        })
    }

    fn parse<T: DeserializeOwned>(&self, received: &HttpResponse) -> Result<T, CallError> {
        if !received.is_ok() {
            return Err(self.refusal(received));
        }
        serde_json::from_slice(&received.body)
            .or_else(|_| serde_json::from_str(&with_nulls(&received.body)))
            .map_err(|_| error_response::no_reply(&self.settings, received))
    }

    /// The error for an unsuccessful answer. Texts that are too long, or for which the model
    /// computes no vector, are not retried.
    fn refusal(&self, received: &HttpResponse) -> CallError {
        let mut error = error_response::from_response(&self.settings, received);
        let body = ErrorBody::read(&received.body);
        let is_internal = received.status == 500 && body.says(&[LLAMA_TOO_LARGE, OLLAMA_NO_NUMBER]);
        // Embedders generate no text, so a complaint about the output limit is about the texts.
        if is_internal || error.message.contains("max_output_tokens") {
            error.cause = FailureCause::TooLong;
            error.retry = Retry::Never;
            error.stops_judge = false;
        }
        if error.cause == FailureCause::TooLong {
            let advice = if body.says(&[LLAMA_TOO_LARGE]) {
                ", or start the server with larger --batch-size and --ubatch-size"
            } else {
                ""
            };
            error.message = format!("{}; lower max_document_chars{advice}", body.shown());
        }
        error
    }
}

/// The numbers of a vector, with NaN for null.
fn numbers(vector: Option<Vec<Option<f32>>>) -> Vec<f32> {
    vector
        .into_iter()
        .flatten()
        .map(|number| number.unwrap_or(f32::NAN))
        .collect()
}

/// Replaces the non-finite numbers that Python writes, which are not valid JSON, with null.
fn with_nulls(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut cleaned = String::with_capacity(text.len());
    let mut in_string = false;
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            cleaned.push('"');
        }
        if in_string {
            cleaned.push_str(part);
            let escapes = part.bytes().rev().take_while(|byte| *byte == b'\\').count();
            in_string = escapes % 2 == 1;
        } else {
            let words = ["-Infinity", "Infinity", "NaN"];
            cleaned += &words
                .iter()
                .fold(part.to_owned(), |part, word| part.replace(word, "null"));
            in_string = true;
        }
    }
    cleaned
}

#[derive(Deserialize)]
struct OpenAiReply {
    data: Vec<Datum>,
    model: Option<String>,
    /// Untyped, so that an invalid count does not invalidate the vectors.
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Datum {
    index: Option<usize>,
    embedding: Option<Vec<Option<f32>>>,
}

#[derive(Deserialize)]
struct OllamaReply {
    embeddings: Vec<Option<Vec<Option<f32>>>>,
    model: Option<String>,
    #[serde(default)]
    prompt_eval_count: Value,
}

/// The number of tokens of some texts, if valid.
fn count(value: &Value) -> Option<u64> {
    json::whole(value).filter(|count| (1..=token_counts::MOST).contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_does_not_have_become_null_outside_of_strings() {
        let body = br#"{"model": "NaN \"Infinity\" \\", "x": [NaN, -Infinity, 1]}"#;
        let expected = r#"{"model": "NaN \"Infinity\" \\", "x": [null, null, 1]}"#;
        assert_eq!(with_nulls(body), expected);
    }
}
