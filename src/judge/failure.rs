//! Calls that end without a vote: why, whether to try again, and what they cost all the same.

use super::{JudgeReply, RateLimits, Usage};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Why a call ended without a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCause {
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
    /// The judge had voted on the battle already: a second vote was paid for and does not count.
    Duplicate,
}

impl FailureCause {
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
            Self::Duplicate => "voted before",
        }
    }
}

impl fmt::Display for FailureCause {
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
    /// The judge has learnt what its server does not know: the same call again, at once. It uses up no attempt.
    Adapted,
}

/// What is known about a call that failed. It may have cost money all the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// Whether the request may have reached the server, and so may be charged: false only where no connection was made.
    pub sent: bool,
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
    pub cause: FailureCause,
    /// What happened and what to do about it.
    pub message: String,
    /// What came back, where anything did.
    pub raw: Option<String>,
    /// Whether to try again.
    pub retry: Retry,
    /// Whether what came under a status of success was no answer of the model: a page of a network, half a JSON.
    pub no_answer: bool,
    /// Whether every further call of this judge would fail too, until somebody does what `message` says.
    pub stops_judge: bool,
    /// Status, tokens, cost. Boxed, because most results are not errors.
    pub exchange: Box<Exchange>,
}

impl CallError {
    /// A failure that may be tried again if its cause usually passes.
    pub fn new(cause: FailureCause, message: impl Into<String>) -> Self {
        let retry = match cause {
            FailureCause::Connection
            | FailureCause::TimedOut
            | FailureCause::RateLimited
            | FailureCause::Server => Retry::After(None),
            _ => Retry::Never,
        };
        Self {
            cause,
            message: message.into(),
            raw: None,
            retry,
            no_answer: false,
            stops_judge: false,
            exchange: Box::default(),
        }
    }

    /// The failure that a reply amounts to; it was paid for all the same, and nothing of it is lost.
    pub fn in_reply(cause: FailureCause, message: impl Into<String>, reply: JudgeReply) -> Self {
        Self {
            exchange: Box::new(reply.exchange()),
            raw: Some(reply.text),
            retry: Retry::Never,
            ..Self::new(cause, message)
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

/// Does `work`, or says what it panicked with.
///
/// # Errors
/// The panic's words.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What a panic leaves half done is dropped with the error: nothing of it is looked at again.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(panic.as_ref()))
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
