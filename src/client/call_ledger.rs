//! The caller's side of the ledger: where attempts are written down before they are sent and charged when they end.

use super::now_ms;
use super::question::{RecordJob, RecordOutcome};
use crate::store::ledger::{Attempt, AttemptFailure, Charge};
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::BoxFuture;

/// Where attempts are written down.
#[derive(Clone, Debug)]
pub(crate) enum CallLedger {
    Project(Store),
    /// Nowhere, for calls that belong to no project.
    Nowhere,
}

impl CallLedger {
    /// Writes an attempt down; it may be sent when the future has ended, since a kill cannot take the row away then.
    pub(crate) fn begin(&self, attempt: Attempt) -> BoxFuture<'static, Result<(), StoreError>> {
        match self {
            // Committed is enough here: to wait for the disk would add a sync to every call, and a loss of power can
            // hide no more than the calls of one moment.
            Self::Project(store) => store.note(move |db| db.begin_call(&attempt)).boxed(),
            Self::Nowhere => std::future::ready(Ok(())).boxed(),
        }
    }

    /// Charges an attempt and keeps what came of it, in one transaction; the future ends when that is on disk.
    pub(crate) fn end(
        &self,
        uid: Option<[u8; 16]>,
        charge: Charge,
        failure: Option<AttemptFailure>,
        job: Option<RecordJob>,
    ) -> BoxFuture<'static, Result<RecordOutcome, StoreError>> {
        let Self::Project(store) = self else {
            return std::future::ready(Ok(RecordOutcome::Nothing)).boxed();
        };
        store
            .write(move |db| {
                // The answer and its price together: a kill between two transactions would leave a vote whose call is
                // charged a second time as killed, or money spent for a vote that is not there.
                let kept = job.map_or(Ok(RecordOutcome::Nothing), |job| job(db))?;
                if let Some(uid) = uid {
                    let row = kept != RecordOutcome::Nothing;
                    db.charge_call(&uid, charge, failure, row, now_ms())?;
                }
                Ok(kept)
            })
            .boxed()
    }

    /// Takes attempts back that were never sent.
    pub(crate) async fn forget(&self, uids: Vec<[u8; 16]>) -> Result<(), StoreError> {
        match self {
            Self::Project(store) if !uids.is_empty() => {
                let forget = move |db: &mut crate::store::Db| {
                    uids.iter().try_for_each(|uid| db.forget_call(uid))
                };
                store.write(forget).await
            }
            _ => Ok(()),
        }
    }
}
