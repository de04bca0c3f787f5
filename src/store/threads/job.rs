//! Work on its way to a thread, and its answer on the way back.
//!
//! The threads handle boxed work with boxed results, so that their code is compiled once and not
//! for each of some 250 requests. Only [`erased`] and [`PendingAnswer`] know the type of a result.

use super::state::WriteFailure;
use crate::store::db::Db;
use crate::store::error::{Result, StoreError};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
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

/// A result of any type.
type ErasedValue = Box<dyn Any + Send>;

/// Work with a result of any type.
pub(in crate::store) type ErasedWork = Box<dyn FnOnce(&mut Db) -> Result<ErasedValue> + Send>;

/// Sends the answer of a job; the argument says why its transaction failed, if it did.
pub(super) type AnswerSender = Box<dyn FnOnce(Option<&WriteFailure>) + Send>;

/// The answers of a committed transaction that wait for the disk.
pub(super) type Committed = Vec<AnswerSender>;

/// Boxes typed work and its result.
pub(in crate::store) fn erased<T, F>(work: F) -> ErasedWork
where
    T: Send + 'static,
    F: FnOnce(&mut Db) -> Result<T> + Send + 'static,
{
    Box::new(move |db| Ok(Box::new(work(db)?)))
}

/// Work with the sender of its answer.
pub(super) struct StoreTask {
    pub(super) work: ErasedWork,
    pub(super) answer: oneshot::Sender<Result<ErasedValue>>,
    pub(super) until: Durability,
}

impl StoreTask {
    /// Runs the work. Returns its answer, which is sent only when the outcome of its transaction is
    /// known, and the failure if there was one.
    pub(super) fn run(self, db: Result<&mut Db>) -> (AnswerSender, Option<WriteFailure>) {
        let Self { work, answer, .. } = self;
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
    }
}

/// The answer of queued work, which may not have arrived yet.
pub(in crate::store) struct PendingAnswer<T> {
    receiver: oneshot::Receiver<Result<ErasedValue>>,
    result: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> PendingAnswer<T> {
    /// Waits for the answer without blocking the thread.
    pub(in crate::store) async fn received(self) -> Result<T> {
        typed(flattened(self.receiver.await))
    }

    /// Waits for the answer on a thread that may block.
    pub(in crate::store) fn wait(self) -> Result<T> {
        typed(flattened(self.receiver.blocking_recv()))
    }
}

impl<T> From<oneshot::Receiver<Result<ErasedValue>>> for PendingAnswer<T> {
    fn from(receiver: oneshot::Receiver<Result<ErasedValue>>) -> Self {
        Self {
            receiver,
            result: PhantomData,
        }
    }
}

impl<T> fmt::Debug for PendingAnswer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PendingAnswer").finish()
    }
}

/// Without an answer, the thread has ended.
fn flattened(
    received: std::result::Result<Result<ErasedValue>, oneshot::error::RecvError>,
) -> Result<ErasedValue> {
    received.unwrap_or(Err(StoreError::Closed))
}

fn typed<T: 'static>(result: Result<ErasedValue>) -> Result<T> {
    match result?.downcast() {
        Ok(value) => Ok(*value),
        Err(_) => Err(StoreError::Internal(
            "a request to the project was given the answer to another one".to_owned(),
        )),
    }
}
