//! Judges behind HTTP. A [`Wire`] knows one provider's format and is pure; [`Network`] adds the settings, the
//! connection and what was learnt about the server, and is the [`Judge`].

pub(crate) mod address;
pub mod anthropic;
pub mod azure;
pub mod batch;
pub mod chat;
pub mod compatible;
pub mod decisions;
pub mod failure;
pub mod gemini;
pub mod http;
pub mod limits;
pub mod ollama;
pub mod openai;
mod settings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use settings::{ESTIMATE, Settings};

use super::parse::{self, ParseError};
use super::prompt::Answer;
use super::{
    CallError, Case, Cause, Judge, JudgeLimits, JudgeSpec, Lineup, Opinion, Prompt, Reply, Usage,
};
use batch::{Batch, BatchApi};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Http, Received};
use jiff::Timestamp;
use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// How often a call adapts to what a server does not know before it gives up.
const ADAPTIONS: usize = 6;

/// One provider's format. `state` is what was learnt about the server, 0 at first; it means something to the wire only.
pub trait Wire: Send + Sync + fmt::Debug {
    /// The JSON that is sent.
    fn build_request(&self, settings: &Settings, prompt: &Prompt, state: u8) -> Value;

    /// The reply in an answer of any status, or why there is none. Looks at the stop reason before the text.
    fn parse_response(
        &self,
        settings: &Settings,
        received: &Received,
        now: Timestamp,
    ) -> Result<Reply, CallError>;

    /// What to know from now on, where the server refused something that it can do without.
    fn adapt(&self, _settings: &Settings, _state: u8, _error: &CallError) -> Option<u8> {
        None
    }

    /// The opinion in a reply.
    fn opinion(&self, settings: &Settings, reply: &Reply) -> Result<Opinion, ParseError> {
        match settings.template.answer {
            Answer::Score => parse::parse(&reply.text),
            Answer::Choice => parse::choice(&reply.text),
            Answer::Letter => parse::letter(&reply.text, reply.odds),
            // Picks are no opinion on two documents.
            Answer::Slots | Answer::Verdicts => Err(ParseError::Missing("score")),
        }
    }
}

/// Where calls go, with the key in the headers.
#[derive(Clone)]
pub struct Connection {
    /// The client, shared by all judges.
    pub http: Http,
    /// Where a single call goes.
    pub url: Url,
    /// The server's root, for batches.
    pub base: Url,
    /// Sent with every call.
    pub headers: HeaderMap,
    /// To take it out of what servers say.
    pub key: Option<SecretString>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// `text` without the key.
    pub(crate) fn redact(&self, text: &mut String) {
        let Some(key) = self.key.as_ref().map(ExposeSecret::expose_secret) else {
            return;
        };
        if !key.is_empty() && text.contains(key) {
            *text = text.replace(key, "[key]");
        }
    }

    pub(crate) fn redact_error(&self, mut error: CallError) -> CallError {
        self.redact(&mut error.message);
        if let Some(raw) = &mut error.raw {
            self.redact(raw);
        }
        error
    }
}

/// A judge behind HTTP.
#[derive(Debug)]
pub struct Network {
    pub(crate) settings: Settings,
    pub(crate) wire: Box<dyn Wire>,
    pub(crate) connection: Connection,
    /// The batch endpoint, with the settings at a batch's prices.
    pub(crate) batch: Option<(Batch, Settings)>,
    state: AtomicU8,
}

impl Network {
    /// A judge with these settings, this format and this connection.
    pub fn new(
        settings: Settings,
        wire: Box<dyn Wire>,
        connection: Connection,
        batch: Option<Batch>,
    ) -> Self {
        let batch = batch.map(|batch| {
            let price = settings.price.and_then(|price| price.batched());
            (
                batch,
                Settings {
                    price,
                    ..settings.clone()
                },
            )
        });
        Self {
            settings,
            wire,
            connection,
            batch,
            state: AtomicU8::new(0),
        }
    }

    /// The JSON that a call on `prompt` sends.
    pub fn request(&self, prompt: &Prompt) -> Value {
        self.wire
            .build_request(&self.settings, prompt, self.state.load(Ordering::Relaxed))
    }

    fn send<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Reply, CallError>> {
        async move {
            self.exchange(prompt)
                .await
                .map_err(|error| self.connection.redact_error(error))
        }
        .boxed()
    }

    async fn exchange(&self, prompt: &Prompt) -> Result<Reply, CallError> {
        let mut left = ADAPTIONS;
        loop {
            let state = self.state.load(Ordering::Relaxed);
            let body = self.wire.build_request(&self.settings, prompt, state);
            let connection = &self.connection;
            let headers = connection.headers.clone();
            let received = connection
                .http
                .post(&connection.url, headers, body.to_string().into_bytes())
                .await?;
            match self
                .wire
                .parse_response(&self.settings, &received, Timestamp::now())
            {
                Ok(mut reply) => {
                    connection.redact(&mut reply.text);
                    return Ok(reply);
                }
                Err(error) => {
                    let learnt = self.wire.adapt(&self.settings, state, &error);
                    let (Some(learnt), Some(fewer)) = (learnt, left.checked_sub(1)) else {
                        return Err(error);
                    };
                    left = fewer;
                    // Where another call learnt something meanwhile, this one goes on from there.
                    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
                    let _ = self.state.compare_exchange(state, learnt, set, fetch);
                }
            }
        }
    }
}

impl Judge for Network {
    fn spec(&self) -> &JudgeSpec {
        &self.settings.spec
    }

    fn prompt(&self, case: &Case) -> Prompt {
        self.settings.template.fill(case, self.settings.cut)
    }

    fn call<'a>(
        &'a self,
        _: &'a Case,
        prompt: &'a Prompt,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        self.send(prompt)
    }

    fn lineup(&self, lineup: &Lineup) -> Option<Prompt> {
        let template = &self.settings.template;
        let asks = template.answer == Answer::of(lineup.ask.way());
        asks.then(|| template.fill_lineup(lineup, self.settings.cut))
    }

    fn pick<'a>(
        &'a self,
        _: &'a Lineup,
        prompt: &'a Prompt,
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        self.send(prompt)
    }

    fn estimate(&self, prompt: &Prompt) -> (Usage, Option<f64>) {
        self.settings.estimate(prompt)
    }

    fn worst(&self, prompt: &Prompt) -> (Usage, Option<f64>) {
        self.settings.worst(prompt)
    }

    fn parse(&self, reply: &Reply) -> Result<Opinion, ParseError> {
        self.wire.opinion(&self.settings, reply)
    }

    fn reask(&self, prompt: &Prompt, cause: Cause) -> Option<Prompt> {
        match cause {
            Cause::Malformed => Some(self.settings.template.remind(prompt)),
            // A cut answer is never fed back: the same message again, with room for twice as much.
            Cause::Truncated if !prompt.longer => Some(Prompt {
                longer: true,
                ..prompt.clone()
            }),
            _ => None,
        }
    }

    fn truncated(&self, case: &Case) -> bool {
        let cut = self.settings.cut;
        cut.cuts(case.first_text()) || cut.cuts(case.second_text())
    }

    fn cuts(&self, lineup: &Lineup) -> bool {
        let documents = &lineup.pool.documents;
        let cut = self.settings.cut.shared(documents.len());
        documents.iter().any(|text| cut.cuts(text))
    }

    fn limits(&self) -> JudgeLimits {
        self.settings.limits
    }

    fn server(&self) -> Option<&str> {
        // Scheme, host and port: the address as far as its path.
        let url = self.connection.url.as_str();
        Some(url.strip_suffix(self.connection.url.path()).unwrap_or(url))
    }

    fn batch(&self) -> Option<&dyn BatchApi> {
        self.batch.is_some().then_some(self as &dyn BatchApi)
    }
}

/// Puts the user's parameters into a request: objects are merged, an empty string takes a field out.
pub(crate) fn merge(body: &mut Value, params: &Map<String, Value>) {
    let Value::Object(body) = body else {
        return;
    };
    for (name, value) in params {
        match (body.get_mut(name), value) {
            (_, Value::String(text)) if text.is_empty() => {
                body.shift_remove(name);
            }
            (Some(inner @ Value::Object(_)), Value::Object(more)) => merge(inner, more),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A text at a JSON pointer.
pub(crate) fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// A count at a JSON pointer, 0 where there is none.
pub(crate) fn count_at(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
