//! Batches: the outstanding calls of a plan, submitted to the providers' batch endpoints, and their
//! results.
//!
//! A batch is written into the project before it is submitted, and its calls count as made from
//! then on, so that no interruption leads to paying for a call twice. Any process that has the
//! project and the keys can ask for the results later.

pub mod by_number;
mod call_result;
mod collect;
mod fetch;
mod left_out;
pub mod prepared;
mod submit;
mod submitter;
mod trouble;

pub use collect::{CollectedBatch, collect};
pub use submit::{judges_without_batches, passed_test, submit};
pub use submitter::{BatchSubmission, BatchSubmitter, JudgeBatch, OpenBatchCall, SubmittedBatch};
pub use trouble::BatchTrouble;

use super::error::RunError;
use crate::client::now_ms;
use crate::client::pace::back_off;
use crate::domain::sampling::SeededRng;
use crate::judge::batch::{BatchApi, BatchSearch, BatchState, BatchStatus, UnconfirmedBatch};
use crate::judge::{CallError, Judge, JudgeEnsemble, JudgeSpec, Retry};
use crate::store::Store;
use crate::store::batches::{BatchRow, BatchStage};
use std::sync::Arc;
use std::time::Duration;

/// Number of attempts of one request about a batch before it counts as unanswered.
const ATTEMPTS: u32 = 6;

/// How long it may take, after an interrupted submission, until the provider lists the batch, in
/// milliseconds.
const SETTLED_MS: i64 = 120_000;

/// The state of a batch after asking the provider.
#[derive(Clone, Debug)]
pub struct PolledBatch {
    /// The batch as it is now stored in the project.
    pub row: BatchRow,
    /// Why the provider could not be asked, or what to do.
    pub trouble: Option<BatchTrouble>,
    status: Option<BatchStatus>,
}

/// The current judge of a batch, or what to do if its configuration has changed.
fn judge_of(ensemble: &JudgeEnsemble, row: &BatchRow) -> Result<Arc<dyn Judge>, BatchTrouble> {
    let spec = &row.spec;
    let Some(judge) = ensemble.iter().find(|judge| judge.spec().name == spec.name) else {
        return Err(BatchTrouble::UnknownJudge(spec.name.clone()));
    };
    // A question about a list does not depend on the prompt of votes.
    let now = match row.run {
        Some(_) => judge.spec().clone(),
        None => JudgeSpec {
            prompt_hash: spec.prompt_hash.clone(),
            ..judge.spec().clone()
        },
    };
    let changed = [
        ("provider", now.provider == spec.provider),
        ("model", now.model == spec.model),
        ("prompt", now.prompt_hash == spec.prompt_hash),
        ("params", now.is_same_judge(spec)),
    ];
    match changed.iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(BatchTrouble::JudgeChanged {
            judge: spec.name.clone(),
            what,
        }),
        None => Ok(Arc::clone(judge)),
    }
}

fn api(judge: &dyn Judge) -> Result<&dyn BatchApi, BatchTrouble> {
    let name = &judge.spec().name;
    judge
        .batch()
        .ok_or_else(|| BatchTrouble::NoEndpoint(name.clone()))
}

/// The id of a call in its batch and of its result: the mark of the batch, and a number.
fn line_id(uid: &str, number: usize) -> String {
    format!("{}{number}", id_prefix(uid))
}

/// The number of a call, if the result is one of this batch.
fn line_number(uid: &str, id: &str) -> Option<usize> {
    let number = id.strip_prefix(&id_prefix(uid))?.parse().ok()?;
    (line_id(uid, number) == id).then_some(number)
}

/// The mark of a batch, with which the ids of all its calls begin: the random end of its name.
fn id_prefix(uid: &str) -> String {
    format!("{}-", uid.rsplit('-').next().unwrap_or(uid))
}

/// Repeats a request until it succeeds or a retry would not help. `retry` says whether the same
/// request may be sent again after a failure.
async fn patiently<T, E, F: Future<Output = Result<T, E>>>(
    mut ask: impl FnMut() -> F,
    retry: impl Fn(&E) -> Retry,
) -> Result<T, E> {
    let mut tries = 0;
    loop {
        tries += 1;
        let answer = ask().await;
        let Some(Retry::After(asked)) = answer.as_ref().err().map(&retry) else {
            return answer;
        };
        if tries == ATTEMPTS {
            return answer;
        }
        let draw = SeededRng::new(now_ms().cast_unsigned(), &["batch"]).unit();
        let wait = asked.unwrap_or_else(|| back_off(tries, draw));
        tokio::time::sleep(wait.min(Duration::from_secs(120))).await;
    }
}

/// Whether a request that changes nothing may be sent again.
fn as_it_says(error: &CallError) -> Retry {
    error.retry
}

/// Asks the providers about every open batch and stores their answers. It closes no batch. `alone`
/// is true while the caller holds the run lock: only then does a batch that the provider does not
/// know count as one that never arrived; otherwise it may be on its way.
pub async fn refresh(
    store: &Store,
    ensemble: &JudgeEnsemble,
    alone: bool,
) -> Result<Vec<PolledBatch>, RunError> {
    let rows = store.read(|db| db.batches(false)).await?;
    let mut named: Vec<String> = rows.iter().filter_map(|row| row.remote.clone()).collect();
    let mut known = Vec::new();
    for row in rows.into_iter().filter(|row| !row.is_closed) {
        let asked = ask_about(store, ensemble, row, &named, alone).await?;
        named.extend(asked.row.remote.clone());
        known.push(asked);
    }
    Ok(known)
}

async fn ask_about(
    store: &Store,
    ensemble: &JudgeEnsemble,
    mut row: BatchRow,
    named: &[String],
    alone: bool,
) -> Result<PolledBatch, RunError> {
    let troubled = |row, trouble| PolledBatch {
        row,
        trouble: Some(trouble),
        status: None,
    };
    let judge = match judge_of(ensemble, &row) {
        Ok(judge) => judge,
        Err(trouble) => return Ok(troubled(row, trouble)),
    };
    let api = match api(judge.as_ref()) {
        Ok(api) => api,
        Err(trouble) => return Ok(troubled(row, trouble)),
    };
    if row.remote.is_none()
        && let Some(trouble) = look_for(store, api, &mut row, named, alone).await?
    {
        return Ok(troubled(row, trouble));
    }
    let Some(remote) = row.remote.clone() else {
        note(store, &row).await?;
        return Ok(PolledBatch {
            row,
            trouble: None,
            status: None,
        });
    };
    let status = match patiently(|| api.status(&remote), as_it_says).await {
        Ok(status) => status,
        Err(error) => {
            let trouble = BatchTrouble::of_call(error, &row, api);
            return Ok(troubled(row, trouble));
        }
    };
    row.stage = match status.state {
        BatchState::Running => BatchStage::Running,
        BatchState::Failed if status.is_void() => BatchStage::Failed,
        _ => BatchStage::Over,
    };
    row.told = (status.done, status.failed);
    row.message = status.message.clone().or_else(|| match status.state {
        BatchState::Expired => Some("expired before it was complete".to_owned()),
        BatchState::Cancelled => Some("canceled".to_owned()),
        BatchState::Failed => Some("the provider gives no reason".to_owned()),
        _ => row.message.take(),
    });
    note(store, &row).await?;
    Ok(PolledBatch {
        row,
        trouble: None,
        status: Some(status),
    })
}

/// Stores the current state of a batch.
async fn note(store: &Store, row: &BatchRow) -> Result<(), RunError> {
    let (id, stage, told, message) = (row.id, row.stage, row.told, row.message.clone());
    store
        .write(move |db| db.note_batch(id, stage, told, message.as_deref(), now_ms()))
        .await?;
    Ok(())
}

/// Looks for a batch whose submission was cut short: stores its id, or sets its stage to failed if
/// it never arrived. Returns the reason if neither is known.
async fn look_for(
    store: &Store,
    api: &dyn BatchApi,
    row: &mut BatchRow,
    named: &[String],
    alone: bool,
) -> Result<Option<BatchTrouble>, RunError> {
    let uid = row.uid.clone();
    let prefix = id_prefix(&uid);
    let sought = UnconfirmedBatch {
        name: &uid,
        id_prefix: &prefix,
        calls: row.calls,
        others: named,
    };
    let found = match patiently(|| api.find(sought), as_it_says).await {
        Ok(found) => found,
        Err(error) => {
            let why = format!(
                "{CUT}, and the provider's list of batches cannot be read ({error}); check again \
                 later, or {}",
                by_hand(row)
            );
            return Ok(Some(BatchTrouble::Unconfirmed(why)));
        }
    };
    if let [remote] = found.marked.as_slice() {
        let (id, name) = (row.id, remote.clone());
        store.write(move |db| db.name_batch(id, &name)).await?;
        row.remote = Some(remote.clone());
        return Ok(None);
    }
    let is_same_account = row.account == Some(api.account(&uid));
    let why = unsettled(&found, row, is_same_account, alone);
    if why.is_none() {
        row.stage = BatchStage::Failed;
        row.message = Some("never arrived at the provider".to_owned());
    }
    Ok(why.map(BatchTrouble::Unconfirmed))
}

const CUT: &str = "its submission was interrupted";

/// What a person can do about a batch whose submission was cut short.
fn by_hand(row: &BatchRow) -> String {
    let id = row.id.0;
    format!(
        "look for it at the provider, then run `overrule batch adopt {id} NAME`, or \
         `overrule batch forget {id}` to let its calls be made, and paid for, again"
    )
}

/// Why a search leaves open whether a batch arrived, and what to do; `None` if it never arrived.
fn unsettled(
    found: &BatchSearch,
    row: &BatchRow,
    is_same_account: bool,
    alone: bool,
) -> Option<String> {
    let by_hand = by_hand(row);
    if !found.marked.is_empty() {
        let names = found.marked.join(", ");
        return Some(format!(
            "{CUT}, and several batches at the provider have its tag ({names}); {by_hand}"
        ));
    }
    if !alone {
        return Some(format!(
            "is being submitted by another process, or {CUT}; check again when no run is in \
             progress"
        ));
    }
    if row.account.is_none() {
        return Some(format!(
            "{CUT}, and the earlier version that submitted it did not record the account; {by_hand}"
        ));
    }
    if !is_same_account {
        return Some(format!(
            "{CUT}, and the judge's key, address or headers have changed since: restore them and \
             check again, or {by_hand}"
        ));
    }
    if !found.possible.is_empty() {
        let names = found.possible.join(", ");
        return Some(format!(
            "{CUT}, and {names} at the provider may be the same batch, which is unknown until it \
             has ended; check again then, or {by_hand}"
        ));
    }
    if !found.is_whole {
        return Some(format!(
            "{CUT}, and the provider's list of batches cannot be read completely; check again \
             later, or {by_hand}"
        ));
    }
    (now_ms() - row.submitted_ms < SETTLED_MS).then(|| {
        format!(
            "{CUT}; check again in two minutes: if it arrived, the provider will list it by then"
        )
    })
}

/// Closes a batch that made no call, so that its calls can be made.
async fn close_refused(store: &Store, row: &BatchRow) -> Result<(), RunError> {
    let id = row.id;
    store.write(move |db| db.close_batch(id, now_ms())).await?;
    Ok(())
}

/// Estimates the prior and the dispersion of the battles again, on which all intervals depend.
pub async fn settle(store: &Store) -> Result<(), RunError> {
    for ensemble in store.read(|db| db.ensembles_in_force()).await? {
        let store = store.clone();
        tokio::task::spawn_blocking(move || store.estimate(ensemble, |_, _| true))
            .await
            .map_err(|error| RunError::Crashed(error.to_string()))??;
    }
    Ok(())
}

/// Asks the provider to cancel a batch.
pub async fn cancel(ensemble: &JudgeEnsemble, row: &BatchRow) -> Result<(), BatchTrouble> {
    let judge = judge_of(ensemble, row)?;
    let api = api(judge.as_ref())?;
    let remote = row.remote.clone().ok_or_else(|| {
        let why = "its submission was interrupted; run `overrule batch status` first";
        BatchTrouble::Unconfirmed(why.to_owned())
    })?;
    patiently(|| api.cancel(&remote), as_it_says)
        .await
        .map_err(|error| BatchTrouble::of_call(error, row, api))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_matched_by_the_batch_and_the_number() {
        let uid = "0199c0de-0000-7000-8000-0123456789ab";
        assert_eq!(line_id(uid, 7), "0123456789ab-7");
        assert_eq!(line_number(uid, "0123456789ab-7"), Some(7));
        assert_eq!(line_number(uid, "0123456789ac-7"), None);
        assert_eq!(line_number(uid, "7"), None);
        assert_eq!(line_number(uid, "0123456789ab-"), None);
        for other in ["0123456789ab-+7", "0123456789ab-07", "0123456789ab-7 "] {
            assert_eq!(line_number(uid, other), None, "{other:?}");
        }
    }
}
