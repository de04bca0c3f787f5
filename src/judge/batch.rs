//! Batches: many calls submitted at once, at half the price, answered within a day.

use super::call::{CallError, JudgePrompt, JudgeReply, Usage};
use futures::future::BoxFuture;
use serde_json::Value;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    pub requests: usize,
    /// Size of all lines including line ends, in bytes.
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchState {
    /// Waiting, running or being canceled.
    Running,
    /// Every call has a result, which may be a failure.
    Ended,
    /// Refused as a whole or given up by the provider; some results may exist.
    Failed,
    /// Out of time; some calls may have results.
    Expired,
    /// Canceled; some calls may have results.
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
    /// Calls that the provider says it has answered.
    pub done: u64,
    /// Calls that the provider says have failed, including calls that were not made.
    pub failed: u64,
    /// All calls that the provider says the batch has.
    pub total: u64,
    /// The locations of the results, in the provider's format.
    pub files: Vec<String>,
    pub message: Option<String>,
}

impl BatchStatus {
    /// Whether the counts tell how the calls ended. No batch is empty, so zeros everywhere are no
    /// counts, and neither is a total without any end of a call if there are results.
    pub fn has_counts(&self) -> bool {
        self.done + self.failed > 0 || self.total > 0 && self.files.is_empty()
    }

    /// Whether the batch is over and has neither an answer nor a file that could hold one.
    pub fn is_void(&self) -> bool {
        self.state != BatchState::Running && self.done == 0 && self.files.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum BatchAnswer {
    /// The model answered and the answer is paid for, whether or not it is a usable reply.
    Answered(Box<Result<JudgeReply, CallError>>),
    /// The provider reports an error instead of an answer.
    Failed(CallError),
    /// It was never made: the batch expired, was canceled or failed before.
    NotMade,
}

impl BatchAnswer {
    /// The reply, or why there is none; `None` if the call was never made.
    #[cfg(test)]
    pub fn made(self) -> Option<Result<JudgeReply, CallError>> {
        match self {
            Self::Answered(answer) => Some(*answer),
            Self::Failed(error) => Some(Err(error)),
            Self::NotMade => None,
        }
    }
}

/// One line of results: the caller's ID and the result of the call.
pub type BatchResult = (String, BatchAnswer);

/// The known data of a batch whose submission was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct UnconfirmedBatch<'a> {
    /// The name under which it was submitted, where the provider keeps names.
    pub name: &'a str,
    /// How the ids of its calls begin.
    pub id_prefix: &'a str,
    /// The number of its calls.
    pub calls: usize,
    /// Ids of batches at the provider that are known to be others.
    pub others: &'a [String],
}

/// The result of a search for a batch at the provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchSearch {
    /// Ids of batches with the tag of the sought batch: its name or the ids of its calls.
    pub marked: Vec<String>,
    /// Ids of batches without any tag, which may be the sought batch.
    pub possible: Vec<String>,
    /// Whether the provider's list was read to its end.
    pub is_whole: bool,
}

/// A submission that did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub struct NotSubmitted {
    pub error: CallError,
    /// Whether the batch may exist at the provider all the same.
    pub may_exist: bool,
}

impl fmt::Display for NotSubmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl NotSubmitted {
    /// A failure before the batch was asked for.
    pub fn before(error: CallError) -> Self {
        Self {
            error,
            may_exist: false,
        }
    }
}

pub trait BatchApi: Send + Sync {
    fn batch_limits(&self) -> BatchLimits;

    /// The line for a call on `prompt`; `id` is at most 64 of `[A-Za-z0-9_-]`.
    fn batch_line(&self, id: &str, prompt: &JudgePrompt) -> Value;

    /// Parses a line of results; `None` if it is not one.
    fn parse_batch_line(&self, line: &str) -> Option<BatchResult>;

    /// The expected usage and cost of a call on `prompt` in a batch, and its maximum cost: `None`
    /// if its price is unknown or its answer has no limit. A batch never asks again.
    fn batch_cost(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>, Option<f64>);

    /// Dollars that a call with these tokens costs in a batch; `None` if the price is unknown.
    fn batch_usd_of(&self, usage: &Usage) -> Option<f64>;

    /// A salted hash of where calls go and of all headers, the key included. The list of batches at
    /// a provider belongs to an account, and equal hashes mean the same account.
    fn account(&self, salt: &str) -> String;

    /// Submits lines and returns the batch's id. `name` is shown by the provider where it keeps
    /// names.
    fn submit<'a>(
        &'a self,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>>;

    /// Searches all batches at the provider for one whose id was never written down. Nothing but a
    /// mark identifies it: batches of other people may have the same size and time.
    fn find<'a>(
        &'a self,
        unconfirmed: UnconfirmedBatch<'a>,
    ) -> BoxFuture<'a, Result<BatchSearch, CallError>>;

    fn status<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, CallError>>;

    /// Calls `each` with every line of results. After a failure it may be called again, with the
    /// same lines.
    fn fetch<'a>(
        &'a self,
        id: &'a str,
        status: &'a BatchStatus,
        each: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<(), CallError>>;

    /// Asks the provider to stop; calls finished in the meantime are charged and can be fetched.
    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CallError>>;
}
