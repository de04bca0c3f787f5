//! One call of a judge: what is sent, what comes back, and why it may end without a vote.

use crate::domain::vote::Margin;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use strum::{Display, EnumString};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgePrompt {
    /// Standing instructions, empty where there are none.
    pub system: String,
    pub user: String,
    pub asking: Asking,
}

/// Whether a question is asked for the first time or again after an answer that was not usable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    #[default]
    First,
    /// The last answer could not be read: sample differently, because the same tokens would come again.
    Again,
    /// The last answer was cut off: sample differently and allow twice as many tokens.
    Longer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    pub requests_limit: Option<u64>,
    pub requests_remaining: Option<u64>,
    /// Until the calls are back to full.
    pub requests_reset: Option<Duration>,
    pub tokens_limit: Option<u64>,
    pub tokens_remaining: Option<u64>,
    pub tokens_reset: Option<Duration>,
    pub retry_after: Option<Duration>,
}

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

#[derive(Clone, Debug, PartialEq)]
pub struct JudgeReply {
    /// The reply's text, untouched.
    pub text: String,
    /// The field that the text came in, if the content of the reply is empty: `reasoning_content`
    /// and the like.
    pub outside: Option<&'static str>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub request_id: Option<String>,
    pub usage: Usage,
    /// US dollars, or `None` where the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency: Duration,
    /// What the provider says of the system that answered.
    pub fingerprint: Option<String>,
    /// How likely the model itself holds each answer to be, where it was asked, answered in one
    /// word and said so.
    pub odds: Option<AnswerProbabilities>,
    pub limits: RateLimits,
}

impl JudgeReply {
    pub fn exchange(&self) -> Exchange {
        Exchange {
            status: None,
            request_id: self.request_id.clone(),
            model: self.model.clone(),
            stop_reason: self.stop_reason.clone(),
            usage: self.usage,
            cost_usd: self.cost_usd,
            latency: self.latency,
            limits: self.limits,
            sent: true,
        }
    }
}

/// Probabilities of the three answers; they need not sum to one. Where yes or no was asked for, `a` is yes and `b` is no.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerProbabilities {
    pub a: f64,
    pub b: f64,
    pub tie: f64,
}

/// What a judge concluded, in the order in which it was shown the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Negative prefers the document presented as A.
    pub margin: Margin,
    /// The reasoning, one thought a line.
    pub thoughts: Vec<String>,
}

#[derive(
    Clone,
    Copy,
    Debug,
    Display,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCause {
    #[strum(serialize = "no connection")]
    Connection,
    #[strum(serialize = "timed out")]
    TimedOut,
    #[strum(serialize = "rate limited")]
    RateLimited,
    /// The account has no money or quota left.
    #[strum(serialize = "quota exhausted")]
    QuotaExhausted,
    /// The key is missing, wrong or not allowed.
    #[strum(serialize = "not authorised")]
    Unauthorised,
    /// The provider refused the request as wrong.
    #[strum(serialize = "bad request")]
    BadRequest,
    /// The texts do not fit into the model's context, or are more than the provider takes in one call.
    #[strum(serialize = "prompt too long")]
    TooLong,
    #[strum(serialize = "server error")]
    Server,
    #[strum(serialize = "refused")]
    Refused,
    /// A safety filter withheld the answer.
    #[strum(serialize = "filtered")]
    Filtered,
    #[strum(serialize = "reply cut off")]
    Truncated,
    #[strum(serialize = "malformed reply")]
    Malformed,
    /// The judge's own program panicked.
    #[strum(serialize = "judge crashed")]
    Crashed,
    /// The judge had voted on the battle already: a second vote was paid for and does not count.
    #[strum(serialize = "voted before")]
    Duplicate,
}

impl FailureCause {
    /// The cause that the text of an error begins with.
    pub fn of_error(words: &str) -> Option<Self> {
        words.split_once(": ")?.0.parse().ok()
    }

    /// A remedy for causes whose messages do not contain one.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Connection => "check base_url and whether the server works",
            Self::TimedOut => {
                "raise first_byte_timeout_s and timeout_s, or lower max_output_tokens if a small model repeats itself"
            }
            Self::RateLimited | Self::Server => {
                "try again later; a lower concurrency or requests_per_minute may help"
            }
            Self::Refused | Self::Filtered => {
                "nothing is wrong with the judge; another model may answer"
            }
            Self::Malformed => "if many fail, try another prompt or a larger model",
            Self::Crashed => "please report this",
            Self::Duplicate => "its first vote counts",
            Self::QuotaExhausted
            | Self::Unauthorised
            | Self::BadRequest
            | Self::TooLong
            | Self::Truncated => return None,
        })
    }
}

/// Whether a failed call may succeed if it is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
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
    pub status: Option<u16>,
    pub request_id: Option<String>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// US dollars, or `None` where nothing is known to be charged or the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency: Duration,
    pub limits: RateLimits,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{cause}: {message}")]
pub struct CallError {
    pub cause: FailureCause,
    /// What happened and what to do about it.
    pub message: String,
    pub raw: Option<String>,
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

    /// The failure that a reply amounts to; it was paid for all the same, and nothing of it is lost. It is retried only if its
    /// cause is transient.
    pub fn in_reply(cause: FailureCause, message: impl Into<String>, reply: JudgeReply) -> Self {
        Self {
            exchange: Box::new(reply.exchange()),
            raw: Some(reply.text),
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

pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
