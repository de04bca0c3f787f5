//! Why a run could not go on.

use crate::app::run_lock::LockError;
use crate::store::StoreError;

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The project refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another run holds the project.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Two judges have the same name.
    #[error("judge {0:?} is named twice")]
    TwiceNamed(String),
    #[error("no judge: name at least one with --judges")]
    NoJudge,
    /// The run's own task ended early.
    #[error("the run ended unexpectedly: {0}")]
    Crashed(String),
}
