//! Judges: a prompt goes in, text comes out, and the text is parsed into an opinion or a failure.
//!
//! Every provider implements [`Judge`]; the embedded offline judges do too, through the same reply text and the same
//! [`parse`], so that nothing downstream knows the difference.

pub mod ensemble;
mod failure;
pub mod offline;
pub mod parse;
pub mod price;
pub mod prompt;
pub mod provider;

pub use failure::{CallError, Exchange, FailureCause, Retry, catch_panic, panic_message};

use crate::domain::adjudication::PickRequest;
use crate::domain::vote::Margin;
use futures::future::BoxFuture;
use parse::ParseError;
use provider::batch::BatchApi;
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
    pub(crate) analysis: OnceLock<offline::LexicalAnalysis>,
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
pub struct PresentedPair {
    /// The pool's texts.
    pub pool: Arc<PoolText>,
    /// Pool index of the document presented as A.
    pub first: usize,
    /// Pool index of the document presented as B.
    pub second: usize,
}

impl PresentedPair {
    /// Text of the document presented as A, empty where the index is outside the pool.
    pub fn first_text(&self) -> &str {
        self.pool.documents.get(self.first).map_or("", |text| text)
    }

    /// Text of the document presented as B, empty where the index is outside the pool.
    pub fn second_text(&self) -> &str {
        self.pool.documents.get(self.second).map_or("", |text| text)
    }
}

/// A pool in the order in which a judge is shown it, and how many of its documents it is asked to pick.
#[derive(Clone, Debug)]
pub struct PresentedPool {
    /// The pool's texts, the first in slot 1.
    pub pool: Arc<PoolText>,
    /// How many.
    pub ask: PickRequest,
}

/// What is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgePrompt {
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

/// How long a server may fail or stay silent unless the user says otherwise.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// What the user allows a judge; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeLimits {
    /// Calls in flight at most.
    pub concurrency: Option<usize>,
    /// Calls begun a minute at most.
    pub requests_per_minute: Option<u64>,
    /// Tokens, in and out, a minute at most.
    pub tokens_per_minute: Option<u64>,
    /// Calls in one batch at most.
    pub batch_requests: Option<usize>,
    /// How long the server may fail or stay silent before the judge stops.
    pub give_up_after: Duration,
}

impl Default for JudgeLimits {
    fn default() -> Self {
        Self {
            concurrency: None,
            requests_per_minute: None,
            tokens_per_minute: None,
            batch_requests: None,
            give_up_after: GIVE_UP_AFTER,
        }
    }
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
pub struct JudgeReply {
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
    pub odds: Option<AnswerProbabilities>,
    /// What the provider says about its limits.
    pub limits: RateLimits,
}

impl JudgeReply {
    /// What is known of the call that it came with.
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

/// Probabilities of the three answers; they need not sum to one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerProbabilities {
    /// The document presented as A is better.
    pub a: f64,
    /// The document presented as B is better.
    pub b: f64,
    /// Neither is better.
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

/// One member of an ensemble.
pub trait Judge: Send + Sync + fmt::Debug {
    /// Who this is.
    fn spec(&self) -> &JudgeSpec;

    /// What would be sent for `case`.
    fn prompt(&self, case: &PresentedPair) -> JudgePrompt;

    /// Makes one call. Retrying is the runner's business.
    fn call<'a>(
        &'a self,
        case: &'a PresentedPair,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>>;

    /// What would be sent to have the documents of `lineup` picked; `None` where the judge can only compare two.
    fn pick_prompt(&self, _lineup: &PresentedPool) -> Option<JudgePrompt> {
        None
    }

    /// Asks for picks, once. The reply is for [`parse::slots`], or for [`parse::verdicts`] where those are asked for.
    fn pick<'a>(
        &'a self,
        _lineup: &'a PresentedPool,
        _prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        let message = "this judge can only compare two documents";
        Box::pin(async move { Err(CallError::new(FailureCause::BadRequest, message)) })
    }

    /// What one call on `prompt` is expected to use: tokens, and dollars where the price is known.
    fn estimate(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>);

    /// What one call on `prompt` can use at the very most: what a hard budget has to set aside for it.
    fn worst(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.estimate(prompt)
    }

    /// What a call on `prompt` costs at the very most if its answer is no vote and is bought once more; `None` where the
    /// price is unknown or nothing limits it.
    fn worst_with_reask(&self, prompt: &JudgePrompt) -> Option<f64> {
        let first = self.worst(prompt).1?;
        let mut again: f64 = 0.0;
        for cause in [FailureCause::Malformed, FailureCause::Truncated] {
            if let Some(prompt) = self.reask(prompt, cause) {
                again = again.max(self.worst(&prompt).1?);
            }
        }
        Some(first + again)
    }

    /// The opinion in a reply.
    fn parse(&self, reply: &JudgeReply) -> Result<Opinion, ParseError> {
        parse::parse(&reply.text)
    }

    /// What to send once more after an answer that was paid for and is no vote; `None` where asking again is useless.
    fn reask(&self, _prompt: &JudgePrompt, _cause: FailureCause) -> Option<JudgePrompt> {
        None
    }

    /// What to send once more after `error`: the same prompt where no answer of the model came, else what [`Judge::reask`]
    /// says.
    fn ask_again(&self, prompt: &JudgePrompt, error: &CallError) -> Option<JudgePrompt> {
        if error.no_answer {
            return Some(prompt.clone());
        }
        self.reask(prompt, error.cause)
    }

    /// Whether the judge does not see all of a document of `case`.
    fn truncated(&self, _case: &PresentedPair) -> bool {
        false
    }

    /// Whether the judge does not see all of a document of `lineup`.
    fn truncates_pool(&self, _lineup: &PresentedPool) -> bool {
        false
    }

    /// What the user allows this judge.
    fn limits(&self) -> JudgeLimits {
        JudgeLimits::default()
    }

    /// The server that calls go to, where there is one: judges of one server share its limits.
    fn server(&self) -> Option<&str> {
        None
    }

    /// The provider's batch endpoint, where it has one.
    fn batch(&self) -> Option<&dyn BatchApi> {
        None
    }
}

/// An ordered list of judges.
pub type JudgeEnsemble = Vec<Arc<dyn Judge>>;

/// The most calls that one call may become while a judge learns what its server does not know.
pub(crate) const MAX_ADAPTIONS: usize = 6;

/// Makes a call, and makes it again at once while the judge adapts to its server.
///
/// # Errors
/// The call's own.
pub async fn call_adapting<'a>(
    mut call: impl FnMut() -> BoxFuture<'a, Result<JudgeReply, CallError>>,
) -> Result<JudgeReply, CallError> {
    let mut left = MAX_ADAPTIONS;
    loop {
        match call().await {
            Err(error) if error.retry == Retry::Adapted && left > 0 => left -= 1,
            Err(mut error) if error.retry == Retry::Adapted => {
                error.retry = Retry::Never;
                return Err(error);
            }
            other => return other,
        }
    }
}

/// The opinion in a reply that was paid for, or the failure that the reply amounts to: one that says nothing, or one over
/// which the judge's own program panicked.
///
/// # Errors
/// A failure with everything that the reply holds.
pub fn opinion_of(
    judge: &dyn Judge,
    reply: JudgeReply,
) -> Result<(JudgeReply, Opinion), CallError> {
    match catch_panic(|| judge.parse(&reply)) {
        Ok(Ok(opinion)) => Ok((reply, opinion)),
        Ok(Err(error)) => {
            let message = error.to_string();
            Err(CallError::in_reply(FailureCause::Malformed, message, reply))
        }
        Err(panic) => {
            let message = format!("reading the answer panicked: {panic}");
            Err(CallError::in_reply(FailureCause::Crashed, message, reply))
        }
    }
}
