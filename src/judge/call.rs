//! One call of a judge: the prompt, the reply, and the reasons for failing.

use crate::domain::vote::Margin;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use strum::{Display, EnumString};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgePrompt {
    /// System prompt; empty if there is none.
    pub system: String,
    pub user: String,
    pub asking: Asking,
}

/// Whether a question is asked for the first time or repeated after an unusable answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asking {
    #[default]
    First,
    /// The last answer was unreadable: sample differently, because the same tokens would come
    /// again.
    Again,
    /// The last answer was truncated: sample differently and allow twice as many tokens.
    Longer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    pub requests_limit: Option<u64>,
    pub requests_remaining: Option<u64>,
    /// Time until the limit of requests is fully restored.
    pub requests_reset: Option<Duration>,
    pub tokens_limit: Option<u64>,
    pub tokens_remaining: Option<u64>,
    pub tokens_reset: Option<Duration>,
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Output tokens spent on reasoning.
    pub thinking: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeReply {
    /// The unmodified text of the reply.
    pub text: String,
    /// The field that contains the text if the content of the reply is empty: `reasoning_content`
    /// and the like.
    pub outside: Option<&'static str>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub request_id: Option<String>,
    pub usage: Usage,
    /// US dollars, or `None` if the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending the request to receiving the last byte.
    pub latency: Duration,
    /// The provider's fingerprint of the system that answered.
    pub fingerprint: Option<String>,
    /// The model's own probabilities of the answers, if requested, returned, and the answer is one
    /// word.
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

/// Probabilities of the three answers; they need not sum to one. For a yes-or-no question, `a` is
/// yes and `b` is no.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerProbabilities {
    pub a: f64,
    pub b: f64,
    pub tie: f64,
}

/// A judge's conclusion, in the order in which it was shown the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Negative if the judge prefers the document presented as A.
    pub margin: Margin,
    /// The reasoning, one thought per line.
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
    /// The API key is missing, wrong or not permitted.
    #[strum(serialize = "not authorised", to_string = "not authorized")]
    // Projects have this name.
    #[serde(rename = "unauthorised")]
    Unauthorized,
    /// The provider rejected the request as invalid.
    #[strum(serialize = "bad request")]
    BadRequest,
    /// The texts exceed the model's context, or the size that the provider accepts in one call.
    #[strum(serialize = "prompt too long")]
    TooLong,
    #[strum(serialize = "server error")]
    Server,
    #[strum(serialize = "refused")]
    Refused,
    /// A safety filter blocked the answer.
    #[strum(serialize = "filtered")]
    Filtered,
    #[strum(serialize = "reply cut off")]
    Truncated,
    #[strum(serialize = "malformed reply")]
    Malformed,
    /// The judge's own code panicked.
    #[strum(serialize = "judge crashed")]
    Crashed,
    /// The judge had already voted on the battle: a second vote was paid for but does not count.
    #[strum(serialize = "voted before")]
    Duplicate,
}

impl FailureCause {
    /// The cause that an error message starts with.
    pub fn of_error(words: &str) -> Option<Self> {
        words.split_once(": ")?.0.parse().ok()
    }

    /// A remedy for causes whose messages do not contain one.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Connection => "check base_url and whether the server works",
            Self::TimedOut => {
                "raise first_byte_timeout_s and timeout_s, or lower max_output_tokens if a small \
                 model repeats itself"
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
            | Self::Unauthorized
            | Self::BadRequest
            | Self::TooLong
            | Self::Truncated => return None,
        })
    }
}

/// Whether a failed call may succeed if retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// After the time requested by the provider, or after the runner's own back-off.
    After(Option<Duration>),
    /// The judge has learned what its server does not support: retry immediately. Does not count as
    /// an attempt.
    Adapted,
}

/// Information about a failed call. It may have cost money anyway.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// Whether the request may have reached the server, and may therefore be charged: false only if
    /// no connection was made.
    pub sent: bool,
    pub status: Option<u16>,
    pub request_id: Option<String>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// US dollars, or `None` if no charge is known or the price is unknown.
    pub cost_usd: Option<f64>,
    /// From sending the request to receiving the last byte.
    pub latency: Duration,
    pub limits: RateLimits,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{cause}: {message}")]
pub struct CallError {
    pub cause: FailureCause,
    /// What happened, and the remedy.
    pub message: String,
    pub raw: Option<String>,
    pub retry: Retry,
    /// Whether a response with a success status was not an answer of the model, such as a captive
    /// portal's page or truncated JSON.
    pub no_answer: bool,
    /// Whether every further call of this judge would fail too, until someone does what `message`
    /// says.
    pub stops_judge: bool,
    /// Status, tokens, cost. Boxed because most results are not errors.
    pub exchange: Box<Exchange>,
}

impl CallError {
    /// A failure that may be retried if its cause is usually transient.
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

    /// A failure found in a reply. The reply was paid for anyway, and all of it is kept. Retried
    /// only if the cause is transient.
    pub fn in_reply(cause: FailureCause, message: impl Into<String>, reply: JudgeReply) -> Self {
        Self {
            exchange: Box::new(reply.exchange()),
            raw: Some(reply.text),
            ..Self::new(cause, message)
        }
    }

    /// The same failure, marked as affecting all further calls of this judge.
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
