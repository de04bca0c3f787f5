//! Judges: a prompt goes in, text comes out, and the text is parsed into an opinion or a failure.
//!
//! Every provider implements [`Judge`]; the embedded offline judges do too, through the same reply text and the same
//! [`parse`], so that nothing downstream knows the difference.

pub mod offline;
pub mod parse;

use crate::domain::vote::Margin;
use futures::future::BoxFuture;
use parse::ParseError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Who a judge is: everything that could change its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeSpec {
    /// What people call it; unique in an ensemble.
    pub name: String,
    /// The provider's name, `offline` for the embedded judges.
    pub provider: String,
    /// The model asked for.
    pub model: String,
    /// Content hash of the prompt template, or of the algorithm's version for an offline judge.
    pub prompt_hash: String,
    /// Parameters sent with every call, as a compact JSON object.
    pub params: String,
}

impl JudgeSpec {
    /// Whether the judge is one of the embedded lexical ones, which is to be said wherever its votes are shown.
    pub fn is_offline(&self) -> bool {
        self.provider == OFFLINE
    }
}

/// The provider name of the embedded judges.
pub const OFFLINE: &str = "offline";

/// What is said wherever votes of offline judges are shown.
pub const OFFLINE_LABEL: &str = "offline judges: lexical, not a language model";

/// The texts of a pool, shared by all calls on it.
#[derive(Debug)]
pub struct PoolText {
    /// The query text.
    pub query: String,
    /// The documents' contents, in pool order.
    pub documents: Vec<Arc<str>>,
    pub(crate) analysis: OnceLock<offline::Analysis>,
}

impl PoolText {
    /// Collects a pool's texts.
    pub fn new(query: impl Into<String>, documents: Vec<Arc<str>>) -> Self {
        Self {
            query: query.into(),
            documents,
            analysis: OnceLock::new(),
        }
    }
}

/// One battle in the order in which a judge is shown it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The pool's texts.
    pub pool: Arc<PoolText>,
    /// Pool index of the document presented as A.
    pub first: usize,
    /// Pool index of the document presented as B.
    pub second: usize,
}

impl Case {
    /// Text of the document presented as A, empty where the index is outside the pool.
    pub fn first_text(&self) -> &str {
        self.pool.documents.get(self.first).map_or("", |text| text)
    }

    /// Text of the document presented as B, empty where the index is outside the pool.
    pub fn second_text(&self) -> &str {
        self.pool.documents.get(self.second).map_or("", |text| text)
    }
}

/// What is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Standing instructions, empty where there are none.
    pub system: String,
    /// The case.
    pub user: String,
    /// Whether the judge may write twice as much as usual, because its last answer was cut off.
    pub longer: bool,
}

/// What a provider says about how much more it will take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Calls allowed in a window.
    pub requests_limit: Option<u64>,
    /// Calls left in the window.
    pub requests_remaining: Option<u64>,
    /// Until the calls are back to full.
    pub requests_reset: Option<Duration>,
    /// Tokens allowed in a window.
    pub tokens_limit: Option<u64>,
    /// Tokens left in the window.
    pub tokens_remaining: Option<u64>,
    /// Until the tokens are back to full.
    pub tokens_reset: Option<Duration>,
    /// How long to wait before the next call.
    pub retry_after: Option<Duration>,
}

/// What the user allows a judge; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgeLimits {
    /// Calls in flight at most.
    pub concurrency: Option<usize>,
    /// Calls begun a minute at most.
    pub requests_per_minute: Option<u64>,
    /// Tokens, in and out, a minute at most.
    pub tokens_per_minute: Option<u64>,
}

/// Units a call used, as the provider counts them; for offline judges, words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Output tokens spent on thinking.
    pub thinking: u64,
}

/// What came back from a call that reached its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The reply's text, untouched.
    pub text: String,
    /// The model that answered, as it names itself.
    pub model: Option<String>,
    /// Why it stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// The provider's identifier of the call.
    pub request_id: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, or `None` where the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency: Duration,
    /// How likely the model itself holds each answer to be, where it was asked and said so.
    pub odds: Option<Odds>,
    /// What the provider says about its limits.
    pub limits: RateLimits,
}

/// Probabilities of the three answers; they need not sum to one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Odds {
    /// The document presented as A is better.
    pub a: f64,
    /// The document presented as B is better.
    pub b: f64,
    /// Neither is better.
    pub tie: f64,
}

/// Why a call ended without a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// No connection, or one that broke.
    Connection,
    /// No answer in time.
    TimedOut,
    /// Too many calls.
    RateLimited,
    /// The account has no money or quota left.
    QuotaExhausted,
    /// The key is missing, wrong or not allowed.
    Unauthorised,
    /// The provider refused the request as wrong.
    BadRequest,
    /// The provider broke.
    Server,
    /// The model declined to answer.
    Refused,
    /// A safety filter withheld the answer.
    Filtered,
    /// The answer was cut before its end.
    Truncated,
    /// The answer was not an opinion.
    Malformed,
    /// The judge's own program panicked.
    Crashed,
}

impl Cause {
    /// The cause in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Connection => "no connection",
            Self::TimedOut => "timed out",
            Self::RateLimited => "rate limited",
            Self::QuotaExhausted => "quota exhausted",
            Self::Unauthorised => "not authorised",
            Self::BadRequest => "bad request",
            Self::Server => "server error",
            Self::Refused => "refused",
            Self::Filtered => "filtered",
            Self::Truncated => "reply cut off",
            Self::Malformed => "malformed reply",
            Self::Crashed => "judge crashed",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Whether a failed call may succeed if it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It will fail again.
    Never,
    /// After the time the provider asks for, or after the runner's own back-off.
    After(Option<Duration>),
}

/// What is known about a call that failed. It may have cost money all the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// The provider's identifier of the call.
    pub request_id: Option<String>,
    /// The model that answered, as it names itself.
    pub model: Option<String>,
    /// Why it stopped, in the provider's words.
    pub stop_reason: Option<String>,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, or `None` where nothing is known to be charged or the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency: Duration,
    /// What the provider says about its limits.
    pub limits: RateLimits,
}

/// A call that ended without an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{cause}: {message}")]
pub struct CallError {
    /// The class of the failure.
    pub cause: Cause,
    /// What happened and what to do about it.
    pub message: String,
    /// What came back, where anything did.
    pub raw: Option<String>,
    /// Whether to try again.
    pub retry: Retry,
    /// Whether every further call of this judge would fail too, until somebody does what `message` says.
    pub stops_judge: bool,
    /// Status, tokens, cost. Boxed, because most results are not errors.
    pub exchange: Box<Exchange>,
}

impl CallError {
    /// A failure that may be tried again if its cause usually passes.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        let retry = match cause {
            Cause::Connection | Cause::TimedOut | Cause::RateLimited | Cause::Server => {
                Retry::After(None)
            }
            _ => Retry::Never,
        };
        Self {
            cause,
            message: message.into(),
            raw: None,
            retry,
            stops_judge: false,
            exchange: Box::default(),
        }
    }

    /// The same failure, which no further call of this judge would escape.
    #[must_use]
    pub fn stopping(mut self) -> Self {
        self.retry = Retry::Never;
        self.stops_judge = true;
        self
    }

    /// The same failure with what came back.
    #[must_use]
    pub fn with_raw(mut self, raw: impl Into<String>) -> Self {
        self.raw = Some(raw.into());
        self
    }
}

/// What a judge concluded, in the order in which it was shown the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Negative prefers the document presented as A.
    pub margin: Margin,
    /// The reasoning, one thought a line.
    pub thoughts: Vec<String>,
}

/// One member of an ensemble.
pub trait Judge: Send + Sync + fmt::Debug {
    /// Who this is.
    fn spec(&self) -> &JudgeSpec;

    /// What would be sent for `case`.
    fn prompt(&self, case: &Case) -> Prompt;

    /// Makes one call. Retrying is the runner's business.
    fn call<'a>(
        &'a self,
        case: &'a Case,
        prompt: &'a Prompt,
    ) -> BoxFuture<'a, Result<Reply, CallError>>;

    /// What one call on `prompt` is expected to use: tokens, and dollars where the price is known.
    fn estimate(&self, prompt: &Prompt) -> (Usage, Option<f64>);

    /// What one call on `prompt` can use at the very most: what a hard budget has to set aside for it.
    fn worst(&self, prompt: &Prompt) -> (Usage, Option<f64>) {
        self.estimate(prompt)
    }

    /// The opinion in a reply.
    fn parse(&self, reply: &Reply) -> Result<Opinion, ParseError> {
        parse::parse(&reply.text)
    }

    /// What to send once more after an answer that was paid for and is no vote; `None` where asking again is useless.
    fn reask(&self, _prompt: &Prompt, _cause: Cause) -> Option<Prompt> {
        None
    }

    /// Whether the judge does not see all of a document of `case`.
    fn truncated(&self, _case: &Case) -> bool {
        false
    }

    /// What the user allows this judge.
    fn limits(&self) -> JudgeLimits {
        JudgeLimits::default()
    }
}

/// An ordered list of judges.
pub type Ensemble = Vec<Arc<dyn Judge>>;
