//! Work on its way to a thread, and its answer on the way back.

use super::state::WriteFailure;
use crate::store::db::Db;
use crate::store::error::Result;
use tokio::sync::oneshot;

/// When a job is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Durability {
    /// When it is committed: it survives the end of the process, but not a power loss.
    Committed,
    /// Like `Committed`, for work that does not wait for another program's lock.
    Cached,
    /// When it is on disk.
    Synced,
}

/// Sends the answer of a job; the argument says why its transaction failed, if it did.
pub(super) type AnswerSender = Box<dyn FnOnce(Option<&WriteFailure>) + Send>;

/// The answers of a committed transaction that wait for the disk.
pub(super) type Committed = Vec<AnswerSender>;

/// Runs some work. Returns its answer, and the failure if there was one.
pub(super) type StoreJob =
    Box<dyn FnOnce(Result<&mut Db>) -> (AnswerSender, Option<WriteFailure>) + Send>;

pub(super) struct StoreTask {
    pub(super) job: StoreJob,
    pub(super) until: Durability,
}

/// Wraps typed work so that its answer is sent only when the outcome of its transaction is known.
pub(super) fn job<T, F>(work: F, answer: oneshot::Sender<Result<T>>) -> StoreJob
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| {
        // Hold the result back: it is valid only if its transaction is kept.
        let result = db.and_then(|db| db.guarded(work));
        let failure = result.as_ref().err().map(WriteFailure::from);
        let answer: AnswerSender = Box::new(move |trouble| {
            let result = match trouble {
                Some(trouble) if result.is_ok() => Err(trouble.clone().into()),
                _ => result,
            };
            // The receiver may be gone; the work is done regardless.
            drop(answer.send(result));
        });
        (answer, failure)
    })
}
