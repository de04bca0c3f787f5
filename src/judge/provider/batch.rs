//! Batches: many calls handed over at once, at half the price, answered within a day. Lines and their results are pure;
//! submitting, asking, fetching and cancelling are calls. Results are matched by the caller's own ids, in any order.

mod anthropic;
mod client;
mod gemini;
mod openai;

pub(crate) use client::join;

use super::http::HttpResponse;
use super::{JudgeSettings, RemoteJudge, error_response};
use crate::judge::{CallError, JudgePrompt, JudgeReply, Usage, catch_panic};
use client::{BatchClient, checked, unclear};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::{Method, Url};
use serde_json::Value;
use std::sync::atomic::Ordering;

/// Lines in one batch at most: half of what the strictest provider takes.
const MAX_REQUESTS: usize = 25_000;
/// Batches that providers list at a time.
const LISTED: usize = 100;
/// Bytes of one batch at most: a file is held in memory while it is sent.
const MAX_BYTES: usize = 64 << 20;

/// A provider's batch endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchProvider {
    /// A file, then a job.
    OpenAi,
    /// All requests in one call.
    Anthropic,
    /// A file, then a job.
    Gemini,
}

/// How much one batch may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Lines.
    pub requests: usize,
    /// Bytes of all lines with their line ends.
    pub bytes: usize,
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchState {
    /// Waiting, being worked on or being cancelled.
    Running,
    /// Done; results, some of them failures, can be fetched.
    Ended,
    /// Refused as a whole; nothing was done.
    Failed,
    /// Out of time; what was done can be fetched.
    Expired,
    /// Cancelled; what was done can be fetched.
    Cancelled,
}

impl BatchState {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }
}

/// What a provider says about a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchStatus {
    /// How far it is.
    pub state: BatchState,
    /// Lines that ended well, as far as the provider says.
    pub done: u64,
    /// Lines that failed, as far as the provider says.
    pub failed: u64,
    /// Lines in all, as far as the provider says.
    pub total: u64,
    /// Where the results are, in the provider's terms.
    pub files: Vec<String>,
    /// What went wrong, where it says so.
    pub message: Option<String>,
}

/// What became of one call of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchAnswer {
    /// It was answered.
    Reply(Box<JudgeReply>),
    /// It failed.
    Failed(CallError),
    /// It was never made: the batch expired or was cancelled before.
    NotMade,
}

impl From<Result<JudgeReply, CallError>> for BatchAnswer {
    fn from(result: Result<JudgeReply, CallError>) -> Self {
        match result {
            Ok(reply) => Self::Reply(Box::new(reply)),
            Err(error) => Self::Failed(error),
        }
    }
}

impl BatchAnswer {
    /// The reply, or why there is none; `None` where the call was never made.
    pub fn made(self) -> Option<Result<JudgeReply, CallError>> {
        match self {
            Self::Reply(reply) => Some(Ok(*reply)),
            Self::Failed(error) => Some(Err(error)),
            Self::NotMade => None,
        }
    }
}

/// One line of results: the caller's id and what became of the call.
pub type BatchResult = (String, BatchAnswer);

/// What is known of a batch whose submission was cut short.
#[derive(Clone, Copy, Debug)]
pub struct UnconfirmedBatch<'a> {
    /// The name under which it was handed over, where the provider keeps names.
    pub name: &'a str,
    /// Its lines.
    pub lines: usize,
    /// When it was handed over, at the earliest; milliseconds since the Unix epoch.
    pub since_ms: i64,
}

/// What can be done with batches.
pub trait BatchApi: Send + Sync {
    /// How much one batch may hold.
    fn batch_limits(&self) -> BatchLimits;

    /// The line that asks for a call on `prompt`; `id` is at most 64 of `[A-Za-z0-9_-]`.
    fn batch_line(&self, id: &str, prompt: &JudgePrompt) -> Value;

    /// What a line of results says; `None` where it is none.
    fn parse_batch_line(&self, line: &str) -> Option<BatchResult>;

    /// What a call on `prompt` is expected to cost in a batch, and what it costs at the very most: `None` where its price is
    /// unknown or nothing limits its answer. A batch asks nothing again.
    fn batch_cost(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>, Option<f64>);

    /// Hands lines over and returns the batch's id. `name` is shown by the provider where it keeps names.
    fn submit<'a>(
        &'a self,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>>;

    /// The ids of batches that may be the one that is sought, among the latest hundred, and whether there are no more than
    /// those: for a crash between submitting and writing the id down. Those of the name where the provider keeps names,
    /// else those of the size and time.
    fn find<'a>(
        &'a self,
        unconfirmed: UnconfirmedBatch<'a>,
    ) -> BoxFuture<'a, Result<(Vec<String>, bool), CallError>>;

    /// How far a batch is.
    fn status<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, CallError>>;

    /// Hands every line of results to `each`. After a failure it may be called again, with the same lines.
    fn fetch<'a>(
        &'a self,
        id: &'a str,
        status: &'a BatchStatus,
        each: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<(), CallError>>;

    /// Asks the provider to stop; what was done meanwhile is charged and can be fetched.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CallError>>;
}

impl RemoteJudge {
    fn own(&self) -> (BatchProvider, &JudgeSettings) {
        // Without a batch endpoint nobody is handed this trait; OpenAI's format is as good as any then.
        self.batch.as_ref().map_or(
            (BatchProvider::OpenAi, &self.settings),
            |(batch, settings)| (*batch, settings),
        )
    }

    fn agent(&self) -> BatchClient<'_> {
        BatchClient {
            settings: &self.settings,
            connection: &self.connection,
        }
    }
}

impl BatchApi for RemoteJudge {
    fn batch_limits(&self) -> BatchLimits {
        let (_, settings) = self.own();
        BatchLimits {
            requests: settings
                .limits
                .batch_requests
                .map_or(MAX_REQUESTS, |most| most.clamp(1, MAX_REQUESTS)),
            bytes: MAX_BYTES,
        }
    }

    fn batch_line(&self, id: &str, prompt: &JudgePrompt) -> Value {
        let (batch, settings) = self.own();
        let body = self
            .wire
            .build_request(settings, prompt, self.state.load(Ordering::Relaxed));
        match batch {
            BatchProvider::OpenAi => openai::line(id, body),
            BatchProvider::Anthropic => anthropic::line(id, body),
            BatchProvider::Gemini => gemini::line(id, body),
        }
    }

    fn parse_batch_line(&self, line: &str) -> Option<BatchResult> {
        let value: Value = serde_json::from_str(line).ok()?;
        let (batch, settings) = self.own();
        let read = |received: &HttpResponse| {
            // A line is paid for, so that even a panic here keeps it.
            let read = catch_panic(|| {
                self.wire
                    .parse_response(settings, received, Timestamp::now())
            });
            let read = read.unwrap_or_else(|panic| Err(error_response::crashed(received, &panic)));
            read.map_err(|error| error_response::sent(error, received))
        };
        let (id, result) = match batch {
            BatchProvider::OpenAi => openai::result(settings, &value, &read),
            BatchProvider::Anthropic => anthropic::result(settings, &value, &read),
            BatchProvider::Gemini => gemini::result(settings, &value, &read),
        }?;
        let answer = match result.made() {
            Some(made) => self.connection.redact_result(made).into(),
            None => BatchAnswer::NotMade,
        };
        Some((id, answer))
    }

    fn batch_cost(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>, Option<f64>) {
        let (_, settings) = self.own();
        let (usage, cost) = settings.estimate(prompt);
        (usage, cost, self.bound(settings, prompt).1)
    }

    fn submit<'a>(
        &'a self,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>> {
        async move {
            let agent = self.agent();
            match self.own().0 {
                BatchProvider::OpenAi => openai::submit(&agent, name, lines).await,
                BatchProvider::Anthropic => anthropic::submit(&agent, lines).await,
                BatchProvider::Gemini => gemini::submit(&agent, name, lines).await,
            }
        }
        .boxed()
    }

    fn find<'a>(
        &'a self,
        unconfirmed: UnconfirmedBatch<'a>,
    ) -> BoxFuture<'a, Result<(Vec<String>, bool), CallError>> {
        async move {
            let agent = self.agent();
            let (path, query) = match self.own().0 {
                BatchProvider::OpenAi => ("/batches", "limit=100"),
                BatchProvider::Anthropic => ("/v1/messages/batches", "limit=100"),
                BatchProvider::Gemini => ("/v1/batches", "pageSize=100"),
            };
            let mut url = agent.at(path);
            url.set_query(Some(query));
            let list = agent.json(Method::GET, &url, None).await?;
            let found = match self.own().0 {
                BatchProvider::OpenAi => openai::find(&list, unconfirmed),
                BatchProvider::Anthropic => anthropic::find(&list, unconfirmed),
                BatchProvider::Gemini => gemini::find(&list, unconfirmed),
            };
            let listed = ["data", "operations", "batches"]
                .iter()
                .find_map(|at| list.get(at)?.as_array().map(Vec::len));
            Ok((found, listed.is_none_or(|listed| listed < LISTED)))
        }
        .boxed()
    }

    fn status<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, CallError>> {
        async move {
            let agent = self.agent();
            let id = checked(id)?;
            let (batch, _) = self.own();
            let path = match batch {
                BatchProvider::OpenAi => format!("/batches/{id}"),
                BatchProvider::Anthropic => format!("/v1/messages/batches/{id}"),
                BatchProvider::Gemini => format!("/v1/{id}"),
            };
            let value = agent.json(Method::GET, &agent.at(&path), None).await?;
            let status = match batch {
                BatchProvider::OpenAi => openai::status(&value),
                BatchProvider::Anthropic => anthropic::status(&value),
                BatchProvider::Gemini => gemini::status(&value),
            };
            let status = status.ok_or_else(|| unclear("the batch's state"))?;
            Ok(self.connection.redact_status(status))
        }
        .boxed()
    }

    fn fetch<'a>(
        &'a self,
        id: &'a str,
        status: &'a BatchStatus,
        each: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<(), CallError>> {
        async move {
            let agent = self.agent();
            match self.own().0 {
                BatchProvider::OpenAi => {
                    for file in &status.files {
                        agent
                            .lines(
                                &agent.at(&format!("/files/{}/content", checked(file)?)),
                                each,
                            )
                            .await?;
                    }
                    Ok(())
                }
                BatchProvider::Anthropic => {
                    let own = agent.at(&format!("/v1/messages/batches/{}/results", checked(id)?));
                    // The key goes to no other server, whatever the answer says.
                    let named = status.files.first().and_then(|file| Url::parse(file).ok());
                    let url = named
                        .filter(|url| url.origin() == own.origin())
                        .unwrap_or(own);
                    agent.lines(&url, each).await
                }
                BatchProvider::Gemini => {
                    for file in &status.files {
                        let mut url = agent.at(&format!("/v1/{}:download", checked(file)?));
                        url.set_query(Some("alt=media"));
                        agent.lines(&url, each).await?;
                    }
                    Ok(())
                }
            }
        }
        .boxed()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CallError>> {
        async move {
            let agent = self.agent();
            let id = checked(id)?;
            let path = match self.own().0 {
                BatchProvider::OpenAi => format!("/batches/{id}/cancel"),
                BatchProvider::Anthropic => format!("/v1/messages/batches/{id}/cancel"),
                BatchProvider::Gemini => format!("/v1/{id}:cancel"),
            };
            agent
                .json(Method::POST, &agent.at(&path), Some(Vec::new()))
                .await
                .map(drop)
        }
        .boxed()
    }
}

/// How a line is read once its body is found.
type ReadResponse<'a> = &'a dyn Fn(&HttpResponse) -> Result<JudgeReply, CallError>;

#[cfg(test)]
mod tests;
