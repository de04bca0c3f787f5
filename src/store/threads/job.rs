//! Work on its way to a thread, and its answer on the way back.

use super::state::WriteFailure;
use crate::store::db::Db;
use crate::store::error::Result;
use tokio::sync::oneshot;

/// When work is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Durability {
    /// When it is committed: it survives the end of the process, and not a loss of power.
    Committed,
    /// The same, for work that does not wait for another program's lock.
    Cached,
    /// When the disk holds it.
    Synced,
}

/// Sends the answer of a job, told why its transaction was not kept where it was not.
pub(super) type AnswerSender = Box<dyn FnOnce(Option<&WriteFailure>) + Send>;

/// The answers of a committed transaction, which wait for the disk.
pub(super) type Committed = Vec<AnswerSender>;

/// Does some work. Gives its answer, and why it failed, where it did.
pub(super) type StoreJob =
    Box<dyn FnOnce(Result<&mut Db>) -> (AnswerSender, Option<WriteFailure>) + Send>;

pub(super) struct StoreTask {
    pub(super) job: StoreJob,
    pub(super) until: Durability,
}

/// Wraps typed work so that its answer is sent only when the fate of its transaction is known.
pub(super) fn job<T, F>(work: F, answer: oneshot::Sender<Result<T>>) -> StoreJob
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| {
        // The result is held back: it is true only if the transaction that holds it is kept.
        let result = db.and_then(|db| db.guarded(work));
        let failure = result.as_ref().err().map(WriteFailure::from);
        let answer: AnswerSender = Box::new(move |trouble| {
            let result = match trouble {
                Some(trouble) if result.is_ok() => Err(trouble.clone().into()),
                _ => result,
            };
            // The asker may have gone away; the work is done all the same.
            drop(answer.send(result));
        });
        (answer, failure)
    })
}
