//! Batches: the outstanding calls of a plan handed to the providers' batch endpoints, and their results brought home.
//!
//! A batch is written into the project before it is handed over, and its calls count as made from then on: whatever is
//! cut short, no call is bought twice. What became of a batch is asked for later, by any process that has the project
//! and the keys.

pub mod by_number;
mod fetch;
mod submit;
mod trouble;

pub use fetch::fetch;
pub use submit::submit;
pub use trouble::BatchTrouble;

use super::error::RunError;
use crate::client::now_ms;
use crate::client::pace::back_off;
use crate::domain::sampling::SeededRng;
use crate::judge::batch::{BatchApi, BatchState, BatchStatus, UnconfirmedBatch};
use crate::judge::{CallError, FailureCause, Judge, JudgeEnsemble, Retry};
use crate::store::Store;
use crate::store::batches::{BatchRow, BatchStage};
use crate::store::corpus::QueryKey;
use crate::store::summary_cache::KeptExtent;
use std::sync::Arc;
use std::time::Duration;

/// Times one question about a batch is asked before it counts as unanswered.
const ATTEMPTS: u32 = 6;

/// How long a batch whose submission was cut short may still turn up at the provider, in milliseconds.
const SETTLED_MS: i64 = 120_000;

/// What is known of a batch after asking.
#[derive(Clone, Debug)]
pub struct PolledBatch {
    /// The batch as the project now has it.
    pub row: BatchRow,
    /// Why the provider could not be asked, or what is to be done.
    pub trouble: Option<BatchTrouble>,
    status: Option<BatchStatus>,
}

/// The judge of a batch as it is configured now, or what is to be done where it is not the same any more.
fn judge_of(ensemble: &JudgeEnsemble, row: &BatchRow) -> Result<Arc<dyn Judge>, BatchTrouble> {
    let spec = &row.spec;
    let Some(judge) = ensemble.iter().find(|judge| judge.spec().name == spec.name) else {
        return Err(BatchTrouble::UnknownJudge(spec.name.clone()));
    };
    let now = judge.spec();
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

/// What stands beside a call in a batch and beside its result: a piece of the batch's own name, and a number.
fn line_id(uid: &str, number: usize) -> String {
    format!("{}-{number}", piece(uid))
}

/// The number of a call, where the result is one of this batch.
fn line_number(uid: &str, id: &str) -> Option<usize> {
    let (name, number) = id.rsplit_once('-')?;
    (name == piece(uid)).then(|| number.parse().ok())?
}

/// The random end of a batch's name.
fn piece(uid: &str) -> &str {
    uid.rsplit('-').next().unwrap_or(uid)
}

/// Asks until there is an answer that asking again would not change.
async fn patiently<T, F: Future<Output = Result<T, CallError>>>(
    mut ask: impl FnMut() -> F,
    again: impl Fn(&CallError) -> bool,
) -> Result<T, CallError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match ask().await {
            Err(error) if tries < ATTEMPTS && again(&error) => {
                let draw = SeededRng::new(now_ms().cast_unsigned(), &["batch"]).unit();
                let wait = match error.retry {
                    Retry::After(Some(wait)) => wait,
                    _ => back_off(tries, draw),
                };
                tokio::time::sleep(wait.min(Duration::from_secs(120))).await;
            }
            answer => return answer,
        }
    }
}

/// Whether asking again may help.
fn passes(error: &CallError) -> bool {
    matches!(error.retry, Retry::After(_))
}

/// Asks the providers about every open batch and notes what they say. `alone` is true while the caller holds the run's
/// lock: only then is a batch that the provider does not know one that never arrived, and not one on its way.
pub async fn refresh(
    store: &Store,
    ensemble: &JudgeEnsemble,
    alone: bool,
) -> Result<Vec<PolledBatch>, RunError> {
    let rows = store.read(|db| db.batches(false)).await?;
    let mut named: Vec<String> = rows.iter().filter_map(|row| row.remote.clone()).collect();
    let mut known = Vec::new();
    for row in rows.into_iter().filter(|row| !row.stage.is_closed()) {
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
    let id = row.id;
    if row.remote.is_none()
        && let Some(trouble) = look_for(store, api, &mut row, named, alone).await?
    {
        return Ok(troubled(row, trouble));
    }
    let Some(remote) = row.remote.clone() else {
        return Ok(troubled(row, BatchTrouble::NotHandedOver));
    };
    let status = match patiently(|| api.status(&remote), passes).await {
        Ok(status) => status,
        Err(error) => return Ok(troubled(row, error.into())),
    };
    row.stage = match status.state {
        BatchState::Running => BatchStage::Running,
        BatchState::Failed => BatchStage::Failed,
        BatchState::Ended | BatchState::Expired | BatchState::Cancelled => BatchStage::Over,
    };
    row.told = (status.done, status.failed);
    row.message = status.message.clone().or_else(|| match status.state {
        BatchState::Expired => Some("expired before all of it was done".to_owned()),
        BatchState::Cancelled => Some("cancelled".to_owned()),
        _ => row.message.take(),
    });
    let (stage, told, message) = (row.stage, row.told, row.message.clone());
    store
        .write(move |db| db.note_batch(id, stage, told, message.as_deref(), now_ms()))
        .await?;
    Ok(PolledBatch {
        row,
        trouble: None,
        status: Some(status),
    })
}

/// Looks for a batch whose submission was cut short; returns what is to be said where it stays unknown.
async fn look_for(
    store: &Store,
    api: &dyn BatchApi,
    row: &mut BatchRow,
    named: &[String],
    alone: bool,
) -> Result<Option<BatchTrouble>, RunError> {
    let uid = row.uid.clone();
    let unconfirmed = UnconfirmedBatch {
        name: &uid,
        lines: row.calls,
        since_ms: row.submitted_ms,
    };
    let (found, all) = match patiently(|| api.find(unconfirmed), passes).await {
        Ok(found) => found,
        Err(error) => return Ok(Some(error.into())),
    };
    let mut fresh: Vec<String> = found.into_iter().filter(|id| !named.contains(id)).collect();
    let id = row.id;
    let unconfirmed = |why: String| Ok(Some(BatchTrouble::Unconfirmed(why)));
    match (fresh.pop(), fresh.is_empty()) {
        (Some(remote), true) => {
            let name = remote.clone();
            store.write(move |db| db.name_batch(id, &name)).await?;
            row.remote = Some(remote);
            Ok(None)
        }
        (Some(_), false) => unconfirmed(format!(
            "its submission was cut short, and several batches at the provider could be it; look there, then `overrule batch adopt {} NAME`",
            id.0
        )),
        (None, _) if !alone => unconfirmed("is being submitted by another process, or its submission was cut short; ask again when no run goes on".to_owned()),
        (None, _) if now_ms() - row.submitted_ms < SETTLED_MS => unconfirmed("its submission was cut short; whether it arrived is known two minutes after it".to_owned()),
        (None, _) if !all => unconfirmed(format!(
            "its submission was cut short, and it is not among the latest hundred at the provider; look there, then `overrule batch adopt {0} NAME` or `overrule batch forget {0}`",
            id.0
        )),
        (None, _) => {
            row.stage = BatchStage::Failed;
            row.message = Some("never arrived at the provider".to_owned());
            let message = row.message.clone();
            store
                .write(move |db| {
                    db.note_batch(id, BatchStage::Failed, (0, 0), message.as_deref(), now_ms())
                })
                .await?;
            Ok(row.message.clone().map(BatchTrouble::Unconfirmed))
        }
    }
}

/// Follows new votes up: the prior and the noise of the battles are estimated anew, and with them every interval.
pub async fn settle(store: &Store) -> Result<(), RunError> {
    for ensemble in store.read(|db| db.ensembles_in_force()).await? {
        let learned = store.read(move |db| db.learn_prior(ensemble)).await?;
        let changed = store
            .write(move |db| db.keep_prior(ensemble, learned))
            .await?;
        summarise(store, changed).await?;
        let changed = store.write(move |db| db.estimate_phi(ensemble)).await?;
        summarise(store, changed).await?;
    }
    Ok(())
}

async fn summarise(store: &Store, queries: Vec<QueryKey>) -> Result<(), RunError> {
    let store = store.clone();
    tokio::task::spawn_blocking(move || {
        store.summarise_all(&queries, KeptExtent::Summary, |_, _| true)
    })
    .await
    .map_err(|error| RunError::Crashed(error.to_string()))??;
    Ok(())
}

/// Asks the provider to stop a batch.
pub async fn cancel(ensemble: &JudgeEnsemble, row: &BatchRow) -> Result<(), BatchTrouble> {
    let judge = judge_of(ensemble, row)?;
    let api = api(judge.as_ref())?;
    let remote = row.remote.clone().ok_or_else(|| {
        let why = "its submission was cut short; ask for its status first";
        BatchTrouble::Unconfirmed(why.to_owned())
    })?;
    Ok(patiently(|| api.cancel(&remote), passes).await?)
}

/// Whether the provider cannot have taken the batch in.
fn is_refusal(error: &CallError) -> bool {
    !matches!(
        error.cause,
        FailureCause::Connection | FailureCause::TimedOut | FailureCause::Server
    )
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
    }
}
