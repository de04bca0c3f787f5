//! The question trait of the worker: how one paid question is sent and what is stored of each
//! answer.

use crate::judge::{CallError, Exchange, MAX_CHARGED};
use crate::store::{Db, StoreError};
use futures::future::BoxFuture;

/// A store operation that runs in the transaction in which an attempt is charged.
pub(crate) type RecordJob = Box<dyn FnOnce(&mut Db) -> Result<RecordOutcome, StoreError> + Send>;

/// Result of storing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordOutcome {
    /// A row was stored.
    Row,
    /// An answer already existed; the paid duplicate is stored as a failure.
    Duplicate,
    /// There was nothing to store, or nothing to copy.
    Nothing,
}

/// How one attempt ended.
pub(crate) enum AttemptEnd<'a, A> {
    /// With an answer.
    Answered(&'a A),
    /// With a failure; if `again` is set, the question will be asked once more, so this failure is
    /// not final.
    Failed { error: &'a CallError, again: bool },
}

/// Requirements of a question that the gate and the budget check.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallNeeds {
    /// Estimated tokens, input plus output.
    pub(crate) tokens: u64,
    /// Worst-case cost in dollars; `None` if the price is unknown.
    pub(crate) worst_usd: Option<f64>,
    /// Whether the question goes to a server and is therefore recorded in the ledger.
    pub(crate) sent: bool,
}

/// Identifies a case that many questions concern, such as a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CaseId(pub(crate) i64);

/// One question to a service.
pub(crate) trait ServiceQuestion: Sized + Send + Sync + 'static {
    /// The result of a successful attempt.
    type Answer: Send + 'static;

    /// Whether a long series of unreadable answers stops the service. False if unreadable answers
    /// are being measured.
    const JUNK_STOPS: bool = true;

    /// Makes one attempt and parses the response.
    fn ask(&self) -> BoxFuture<'_, Result<Self::Answer, CallError>>;

    /// Details of the call that led to an answer.
    fn exchange(answer: &Self::Answer) -> &Exchange;

    /// Whether anyone still waits for the answer. If not, the question is not sent.
    fn is_wanted(&self) -> bool {
        true
    }

    /// The requirements of an attempt.
    fn needs(&self) -> CallNeeds;

    /// The question to ask once more after a paid answer without content; `None` if that is useless
    /// or this already is the rephrased question.
    fn rephrased(&self, error: &CallError) -> Option<Self>;

    /// Maximum number of attempts that may be charged; after that, the question has failed.
    fn most_charged(&self) -> u32 {
        MAX_CHARGED
    }

    /// Key that identical questions share; `None` if this question is always asked separately.
    fn key(&self) -> Option<[u8; 32]> {
        None
    }

    /// The case that this question shares with many others and that may be the reason for their
    /// failures; `None` if there is no such case.
    fn case(&self) -> Option<CaseId> {
        None
    }

    /// A unique name, used to seed the jitter of waits.
    fn name(&self) -> String;

    /// The job that stores an attempt, if there is anything to store.
    fn keep(&self, end: AttemptEnd<'_, Self::Answer>) -> Option<RecordJob>;

    /// A job that copies the answer of an identical question, which is being written to the
    /// project, to this one. It returns [`RecordOutcome::Nothing`] if there is no such answer.
    fn share(&self) -> Option<RecordJob> {
        None
    }
}
