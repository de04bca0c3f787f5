//! Collects the results of an open batch, if there are any.

use super::fetch::{BatchFetch, fetch};
use super::trouble::BatchTrouble;
use super::{PolledBatch, close_refused};
use crate::app::annotate::error::RunError;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::batches::BatchStage;

/// What became of an open batch.
#[derive(Debug)]
pub enum CollectedBatch {
    /// Its results are in the project, and it is closed.
    Fetched(BatchFetch),
    /// The provider made no call, for this reason; it is closed, and its calls can be made again.
    Refused(String),
    /// The provider is still processing it.
    Running,
    /// It cannot be fetched now.
    Troubled(BatchTrouble),
}

/// Fetches the results of a batch that has ended, and closes it.
pub async fn collect(
    store: &Store,
    ensemble: &JudgeEnsemble,
    known: &PolledBatch,
) -> Result<CollectedBatch, RunError> {
    if let Some(trouble) = &known.trouble {
        return Ok(CollectedBatch::Troubled(trouble.clone()));
    }
    Ok(match known.row.stage {
        BatchStage::Failed => {
            close_refused(store, &known.row).await?;
            CollectedBatch::Refused(known.row.message.clone().unwrap_or_default())
        }
        BatchStage::Over => match fetch(store, ensemble, known).await? {
            Ok(fetched) => CollectedBatch::Fetched(fetched),
            Err(trouble) => CollectedBatch::Troubled(trouble),
        },
        _ => CollectedBatch::Running,
    })
}
