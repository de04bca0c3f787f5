//! Judges behind HTTP. A [`WireFormat`] knows one provider's format and is pure; [`RemoteJudge`] adds the settings, the
//! connection and what was learnt about the server, and is the [`Judge`].

pub(crate) mod address;
pub mod anthropic;
pub mod azure;
pub mod batch;
pub mod chat;
pub mod compatible;
pub mod decisions;
pub mod error_response;
pub mod gemini;
pub mod http;
pub mod ollama;
pub mod openai;
mod output_cap;
pub mod rate_limits;
mod redact;
mod settings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod token_counts;

pub use settings::{ESTIMATE, JudgeSettings};

use super::parse::{self, ParseError};
use super::prompt::AnswerForm;
use super::{
    CallError, FailureCause, Judge, JudgeLimits, JudgePrompt, JudgeReply, JudgeSpec, Opinion,
    PresentedPair, PresentedPool, Retry, Usage, catch_panic,
};
use batch::{BatchApi, BatchProvider};
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Http, HttpResponse};
use jiff::Timestamp;
use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Requests of this process that have no answer yet. The process ends as a whole, so this is counted as a whole.
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);

/// How many calls of judges behind HTTP are in flight in this process.
pub fn calls_in_flight() -> usize {
    IN_FLIGHT.load(Ordering::Relaxed)
}

/// One call in flight, until it is dropped: a call that is cut short is over too.
struct CallInFlight;

impl CallInFlight {
    fn begin() -> Self {
        IN_FLIGHT.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One provider's format. `state` is what was learnt about the server, 0 at first; it means something to the wire only.
pub trait WireFormat: Send + Sync + fmt::Debug {
    /// The JSON that is sent.
    fn build_request(&self, settings: &JudgeSettings, prompt: &JudgePrompt, state: u8) -> Value;

    /// Where a request limits the answer, as JSON pointers, one of which must be there; none where nothing is written.
    fn caps(&self) -> &'static [&'static str];

    /// The reply in an answer of any status, or why there is none. Looks at the stop reason before the text.
    fn parse_response(
        &self,
        settings: &JudgeSettings,
        received: &HttpResponse,
        now: Timestamp,
    ) -> Result<JudgeReply, CallError>;

    /// What to know from now on, where the server refused something that it can do without.
    fn adapt(&self, _settings: &JudgeSettings, _state: u8, _error: &CallError) -> Option<u8> {
        None
    }

    /// The opinion in a reply.
    fn opinion(&self, settings: &JudgeSettings, reply: &JudgeReply) -> Result<Opinion, ParseError> {
        match settings.template.answer {
            AnswerForm::Score => parse::parse(&reply.text),
            AnswerForm::Choice => parse::choice(&reply.text),
            AnswerForm::Letter => parse::letter(&reply.text, reply.odds),
            // Picks are no opinion on two documents.
            AnswerForm::Slots | AnswerForm::Verdicts => Err(ParseError::Missing("score")),
        }
    }
}

/// Where calls go, with the key in the headers.
#[derive(Clone)]
pub struct ApiConnection {
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

impl fmt::Debug for ApiConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiConnection")
            .field("url", &self.url.as_str())
            .field("timeouts", &self.http.timeouts())
            .finish_non_exhaustive()
    }
}

/// A judge behind HTTP.
#[derive(Debug)]
pub struct RemoteJudge {
    pub(crate) settings: JudgeSettings,
    pub(crate) wire: Box<dyn WireFormat>,
    pub(crate) connection: ApiConnection,
    /// The batch endpoint, with the settings at a batch's prices.
    pub(crate) batch: Option<(BatchProvider, JudgeSettings)>,
    state: AtomicU8,
}

impl RemoteJudge {
    /// A judge with these settings, this format and this connection.
    pub fn new(
        settings: JudgeSettings,
        wire: Box<dyn WireFormat>,
        connection: ApiConnection,
        batch: Option<BatchProvider>,
    ) -> Self {
        let batch = batch.map(|batch| {
            let price = settings.price.and_then(|price| price.batched());
            (
                batch,
                JudgeSettings {
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
    pub fn request(&self, prompt: &JudgePrompt) -> Value {
        self.wire
            .build_request(&self.settings, prompt, self.state.load(Ordering::Relaxed))
    }

    fn send<'a>(&'a self, prompt: &'a JudgePrompt) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        async move {
            let _in_flight = CallInFlight::begin();
            self.connection.redact_result(self.exchange(prompt).await)
        }
        .boxed()
    }

    /// One request, and what came of it.
    async fn exchange(&self, prompt: &JudgePrompt) -> Result<JudgeReply, CallError> {
        let state = self.state.load(Ordering::Relaxed);
        let body = self.wire.build_request(&self.settings, prompt, state);
        let connection = &self.connection;
        let headers = connection.headers.clone();
        let received = connection
            .http
            .post(&connection.url, headers, body.to_string().into_bytes())
            .await?;
        self.read(&received, state)
    }

    /// What an answer to a request of that state says. It was paid for, so that even a panic here keeps all of it.
    fn read(&self, received: &HttpResponse, state: u8) -> Result<JudgeReply, CallError> {
        let read = catch_panic(|| {
            let reply = self
                .wire
                .parse_response(&self.settings, received, Timestamp::now());
            reply.map_err(|mut error| {
                if let Some(learnt) = self.wire.adapt(&self.settings, state, &error) {
                    error.retry = Retry::Adapted;
                    error.stops_judge = false;
                    // Where another call learnt something meanwhile, the next one goes on from there.
                    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
                    let _ = self.state.compare_exchange(state, learnt, set, fetch);
                }
                error
            })
        });
        let read = read.unwrap_or_else(|panic| Err(error_response::crashed(received, &panic)));
        read.map_err(|error| error_response::sent(error, received))
    }

    /// What a call on `prompt` can use at the very most with these settings, as its request says.
    fn bound(&self, settings: &JudgeSettings, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        let places = self.wire.caps();
        if places.is_empty() {
            return settings.worst(prompt, Some(settings.cap(prompt)));
        }
        let bare = JudgePrompt {
            longer: prompt.longer,
            ..JudgePrompt::default()
        };
        let of = |state: u8| {
            let request = self.wire.build_request(settings, &bare, state);
            output_cap::of_request(&request, places)
        };
        let mut output = of(self.state.load(Ordering::Relaxed));
        // A server that refuses everything that can be refused gets a letter without probabilities, which may be longer.
        if settings.template.answer == AnswerForm::Letter {
            output = output.zip(of(u8::MAX)).map(|(now, then)| now.max(then));
        }
        settings.worst(prompt, output)
    }
}

impl Judge for RemoteJudge {
    fn spec(&self) -> &JudgeSpec {
        &self.settings.spec
    }

    fn prompt(&self, case: &PresentedPair) -> JudgePrompt {
        self.settings.template.fill(case, self.settings.cut)
    }

    fn call<'a>(
        &'a self,
        _: &'a PresentedPair,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.send(prompt)
    }

    fn pick_prompt(&self, lineup: &PresentedPool) -> Option<JudgePrompt> {
        let template = &self.settings.template;
        let asks = template.answer == AnswerForm::of(lineup.ask.way());
        asks.then(|| template.fill_pool(lineup, self.settings.cut))
    }

    fn pick<'a>(
        &'a self,
        _: &'a PresentedPool,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.send(prompt)
    }

    fn estimate(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.settings.estimate(prompt)
    }

    fn worst(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.bound(&self.settings, prompt)
    }

    fn parse(&self, reply: &JudgeReply) -> Result<Opinion, ParseError> {
        self.wire.opinion(&self.settings, reply)
    }

    fn reask(&self, prompt: &JudgePrompt, cause: FailureCause) -> Option<JudgePrompt> {
        match cause {
            FailureCause::Malformed => Some(self.settings.template.remind(prompt)),
            // A cut answer is never fed back: the same message again, with room for twice as much.
            FailureCause::Truncated if !prompt.longer => Some(JudgePrompt {
                longer: true,
                ..prompt.clone()
            }),
            _ => None,
        }
    }

    fn truncated(&self, case: &PresentedPair) -> bool {
        let cut = self.settings.cut;
        cut.cuts(case.first_text()) || cut.cuts(case.second_text())
    }

    fn truncates_pool(&self, lineup: &PresentedPool) -> bool {
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
