//! Errors that end a run.

use crate::app::error::AppError;
use crate::app::run_lock::LockError;
use crate::domain::judge_set::MAX_JUDGES;
use crate::store::StoreError;

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An error of the project store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another run has locked the project.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Two judges have the same name.
    #[error("judge {0:?} is named twice")]
    TwiceNamed(String),
    #[error("{0} judges: a run can have at most {MAX_JUDGES}; name fewer with --judges")]
    TooManyJudges(usize),
    #[error("no judge: name at least one with --judges")]
    NoJudge,
    /// The run's own task ended early.
    #[error("the run ended unexpectedly: {0}")]
    Crashed(String),
}

impl From<RunError> for AppError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => Self::Store(error),
            other => Self::failed(other),
        }
    }
}
