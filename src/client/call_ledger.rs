//! The client's access to the ledger, which records attempts before they are sent and charges them
//! when they end.

use super::now_ms;
use super::question::{RecordJob, RecordOutcome};
use crate::store::ledger::{Attempt, AttemptFailure, Charge};
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::BoxFuture;

/// Where attempts are recorded.
#[derive(Clone, Debug)]
pub(crate) enum CallLedger {
    Project(Store),
    /// Calls that belong to no project are not recorded.
    Nowhere,
}

impl CallLedger {
    /// Records an attempt. Once the future completes, a kill can no longer lose the row, so the
    /// call may be sent.
    pub(crate) fn begin(&self, attempt: Attempt) -> BoxFuture<'static, Result<(), StoreError>> {
        match self {
            // A commit is enough here. Waiting for the disk would add a sync to every call, and a
            // power loss can hide only the calls of one moment.
            Self::Project(store) => store.note(move |db| db.begin_call(&attempt)).boxed(),
            Self::Nowhere => std::future::ready(Ok(())).boxed(),
        }
    }

    /// Charges an attempt and stores its outcome in one transaction; the future completes when both
    /// are on disk.
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
                // Store the answer and its cost together. A kill between two transactions would
                // leave either a vote whose call is charged a second time as killed, or money spent
                // without a vote.
                let kept = job.map_or(Ok(RecordOutcome::Nothing), |job| job(db))?;
                if let Some(uid) = uid {
                    let row = kept != RecordOutcome::Nothing;
                    db.charge_call(&uid, charge, failure, row, now_ms())?;
                }
                Ok(kept)
            })
            .boxed()
    }

    /// Removes the rows of attempts that were never sent.
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
