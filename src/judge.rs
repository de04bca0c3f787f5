//! Judges: a prompt goes in, text comes out, and the text is parsed into an opinion or a failure.
//!
//! Every provider implements [`Judge`]; the embedded offline judges do too, through the same reply text and the same
//! [`parse`], so that nothing downstream knows the difference.

pub mod offline;
pub mod parse;

use crate::domain::vote::Margin;
use futures::future::BoxFuture;
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Standing instructions, empty where there are none.
    pub system: String,
    /// The case.
    pub user: String,
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
}

/// An ordered list of judges.
pub type Ensemble = Vec<Arc<dyn Judge>>;
