//! Batches: many calls handed over at once, at half the price, answered within a day.

use super::call::{CallError, JudgePrompt, JudgeReply, Usage};
use futures::future::BoxFuture;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    pub requests: usize,
    /// Bytes of all lines with their line ends.
    pub bytes: usize,
}

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
    #[cfg(test)]
    pub fn is_over(self) -> bool {
        self != Self::Running
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchStatus {
    pub state: BatchState,
    /// Lines that ended well, as far as the provider says.
    pub done: u64,
    /// Lines that failed, as far as the provider says.
    pub failed: u64,
    /// Lines in all, as far as the provider says.
    pub total: u64,
    /// Where the results are, in the provider's terms.
    pub files: Vec<String>,
    pub message: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BatchAnswer {
    Reply(Box<JudgeReply>),
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

pub trait BatchApi: Send + Sync {
    fn batch_limits(&self) -> BatchLimits;

    /// The line that asks for a call on `prompt`; `id` is at most 64 of `[A-Za-z0-9_-]`.
    fn batch_line(&self, id: &str, prompt: &JudgePrompt) -> Value;

    /// What a line of results says; `None` where it is none.
    fn parse_batch_line(&self, line: &str) -> Option<BatchResult>;

    /// What a call on `prompt` is expected to cost in a batch, and what it costs at the very most: `None` where its price is
    /// unknown or nothing limits its answer. A batch asks nothing again.
    fn batch_cost(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>, Option<f64>);

    /// Dollars that a call with these tokens costs in a batch; `None` if the price is unknown.
    fn batch_usd_of(&self, usage: &Usage) -> Option<f64>;

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
