//! A person's decisions about one open batch: which one it is at the provider, or that it is given
//! up.

use super::{PolledBatch, refresh};
use crate::app::annotate::error::RunError;
use crate::app::error::{AppError, invalid};
use crate::app::run_lock::RunLock;
use crate::client::now_ms;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::batches::{BatchId, BatchRow, BatchStage};

/// The open batch with this number.
fn open_batch(store: &Store, number: i64) -> Result<BatchRow, AppError> {
    let open = store.read_blocking(|db| db.batches(true))?;
    open.into_iter()
        .find(|row| row.id == BatchId(number))
        .ok_or_else(|| no_open_batch(number))
}

fn no_open_batch(number: i64) -> AppError {
    invalid!("there is no open batch {number}; `overrule batch status --all` lists them")
}

/// The open batches with these numbers, or all of them.
pub fn open_batches(store: &Store, numbers: &[i64]) -> Result<Vec<BatchRow>, AppError> {
    let mut open = store.read_blocking(|db| db.batches(true))?;
    let known = |number: &&i64| open.iter().any(|row| row.id.0 == **number);
    if let Some(unknown) = numbers.iter().find(|number| !known(number)) {
        return Err(no_open_batch(*unknown));
    }
    open.retain(|row| numbers.is_empty() || numbers.contains(&row.id.0));
    Ok(open)
}

/// Sets the provider's name of a batch whose submission was cut short. A closed batch, such as one
/// that seemed never to have arrived, is reopened.
pub fn adopt(store: &Store, number: i64, name: &str) -> Result<(), AppError> {
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(invalid!("the batch's name at the provider is empty"));
    }
    let rows = store.read_blocking(|db| db.batches(false))?;
    let is_it = |row: &&BatchRow| row.remote.as_deref() == Some(&name);
    let row = rows.iter().find(|row| row.id == BatchId(number));
    let Some(row) = row else {
        return Err(invalid!(
            "there is no batch {number}; `overrule batch status --all` lists them"
        ));
    };
    if let Some(remote) = row.remote.as_ref().filter(|_| row.left < row.calls)
        && *remote != name
    {
        return Err(invalid!(
            "batch {number} is already {remote:?} at the provider"
        ));
    }
    if let Some(other) = rows.iter().filter(is_it).find(|other| other.id != row.id) {
        return Err(invalid!("{name:?} is already batch {}", other.id.0));
    }
    let id = row.id;
    Ok(store.write_blocking(move |db| db.name_batch(id, &name))?)
}

/// Gives a batch up and returns how many of its calls now count as not made.
pub fn forget(store: &Store, number: i64) -> Result<usize, AppError> {
    let row = open_batch(store, number)?;
    store.write_blocking(move |db| {
        db.note_batch(row.id, BatchStage::Forgotten, row.told, None, now_ms())
    })?;
    Ok(row.left)
}

/// Asks the providers about all open batches. A run in progress keeps its lock; in that case, a
/// batch that the provider does not know may still be on its way.
pub async fn poll(store: &Store, ensemble: &JudgeEnsemble) -> Result<Vec<PolledBatch>, RunError> {
    let lock = RunLock::take(store.path()).ok();
    refresh(store, ensemble, lock.is_some()).await
}
