//! What a worker asks: one paid question, how it is sent, and what is kept of each answer.

use crate::judge::{CallError, Exchange};
use crate::store::{Db, StoreError};
use futures::future::BoxFuture;

/// Work on the project that goes into the transaction in which an attempt is charged.
pub(crate) type RecordJob = Box<dyn FnOnce(&mut Db) -> Result<RecordOutcome, StoreError> + Send>;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordOutcome {
    /// It has a row.
    Row,
    /// There was an answer already; this one was paid for and is kept as a failure.
    Duplicate,
    /// There is nothing to keep, or nothing to keep it from.
    Nothing,
}

/// How one attempt ended.
pub(crate) enum AttemptEnd<'a, A> {
    /// With an answer.
    Answered(&'a A),
    /// With a failure; `again` says that the question will be asked once more, so that it is not the last word.
    Failed { error: &'a CallError, again: bool },
}

/// What a question needs of the gate and the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallNeeds {
    /// Tokens, in and out, as far as they can be foretold.
    pub(crate) tokens: u64,
    /// Dollars at the very most; `None` where the price is not known.
    pub(crate) worst_usd: Option<f64>,
    /// Whether it goes to a server, and so into the ledger.
    pub(crate) sent: bool,
}

/// Identifies a case that many questions concern, such as a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CaseId(pub(crate) i64);

/// One question to a service.
pub(crate) trait ServiceQuestion: Sized + Send + Sync + 'static {
    /// What comes back when all goes well.
    type Answer: Send + 'static;

    /// Whether answers that cannot be read, many in a row, stop the service. Not where they are what is measured.
    const JUNK_STOPS: bool = true;

    /// Makes one attempt and reads what comes.
    fn ask(&self) -> BoxFuture<'_, Result<Self::Answer, CallError>>;

    /// What is known of the call that led to an answer.
    fn exchange(answer: &Self::Answer) -> &Exchange;

    /// Whether anybody waits for the answer still. One that nobody waits for is not sent any more.
    fn is_wanted(&self) -> bool {
        true
    }

    /// What an attempt needs.
    fn needs(&self) -> CallNeeds;

    /// The question to ask once more after an answer that was paid for and says nothing; `None` where that is useless, or
    /// where this is that question already.
    fn rephrased(&self, error: &CallError) -> Option<Self>;

    /// What makes two questions the same; `None` where each is asked for itself.
    fn key(&self) -> Option<[u8; 32]> {
        None
    }

    /// The case that this question shares with many others and that may be the reason for their failures; `None` if there is
    /// no such case.
    fn case(&self) -> Option<CaseId> {
        None
    }

    /// A name for it that differs from the others', for the randomness of waits.
    fn name(&self) -> String;

    /// What is kept of an attempt.
    fn keep(&self, end: AttemptEnd<'_, Self::Answer>) -> Option<RecordJob>;

    /// Lets the answer of the same question, which is on its way into the project, count for this one too; the job says
    /// [`RecordOutcome::Nothing`] where there is none.
    fn share(&self) -> Option<RecordJob> {
        None
    }
}
