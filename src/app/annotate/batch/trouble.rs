//! Why a batch could not be polled, fetched or canceled; other batches continue.

use crate::judge::CallError;
use crate::judge::batch::BatchApi;
use crate::store::batches::BatchRow;

/// An obstacle to one batch, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BatchTrouble {
    #[error("judge {0:?} is not in overrule.toml, or has no key")]
    UnknownJudge(String),
    /// The judge's configuration has changed.
    #[error(
        "the {what} of judge {judge:?} has changed since the batch was submitted; restore it in \
         overrule.toml to fetch the results"
    )]
    JudgeChanged { judge: String, what: &'static str },
    /// The judge's provider does not support batches.
    #[error("judge {0:?} has no batch endpoint")]
    NoEndpoint(String),
    /// Its submission was interrupted, and the result is unknown.
    #[error("{0}")]
    Unconfirmed(String),
    /// The provider could not be asked.
    #[error(transparent)]
    Call(CallError),
    /// The provider does not know the batch or its results.
    #[error(
        "the provider does not have it: {said}; `overrule batch forget {batch}` gives it up: what \
         was fetched stays, and {left} of its calls can be made, and paid for, again"
    )]
    Gone {
        /// The provider's words.
        said: String,
        /// Number of the batch in the project.
        batch: i64,
        /// Calls without a result in the project.
        left: usize,
    },
    /// The provider refuses to tell another account about the batch.
    #[error(
        "the judge's key, address or headers have changed since it was submitted; restore them to \
         reach it ({0})"
    )]
    OtherAccount(CallError),
    /// There are no results to fetch.
    #[error("cannot be fetched")]
    NotFetchable,
    /// Fetching was interrupted.
    #[error("{0}; the results so far are kept, and the next fetch continues from there")]
    CutShort(CallError),
    #[error(
        "its {results} results belong to another batch; name the right one with `overrule batch \
         adopt {batch} NAME`"
    )]
    Foreign {
        results: usize,
        /// The batch's number in the project.
        batch: i64,
    },
    /// Results are missing, as these words say.
    #[error("{0}")]
    Incomplete(String),
}

impl BatchTrouble {
    /// Whether it may end without a person, so that waiting makes sense.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unconfirmed(_)
            | Self::Call(_)
            | Self::NotFetchable
            | Self::CutShort(_)
            | Self::Incomplete(_) => true,
            Self::UnknownJudge(_)
            | Self::JudgeChanged { .. }
            | Self::NoEndpoint(_)
            | Self::Gone { .. }
            | Self::OtherAccount(_)
            | Self::Foreign { .. } => false,
        }
    }

    /// What a failed request about a batch means.
    pub(super) fn of_call(error: CallError, row: &BatchRow, api: &dyn BatchApi) -> Self {
        let is_missing = matches!(error.exchange.status, Some(404 | 410));
        let is_refused = is_missing || matches!(error.exchange.status, Some(401 | 403));
        if is_refused && row.account.is_some() && row.account != Some(api.account(&row.uid)) {
            Self::OtherAccount(error)
        } else if is_missing && row.remote.is_some() {
            Self::Gone {
                said: error.message.trim_end_matches('.').to_owned(),
                batch: row.id.0,
                left: row.left,
            }
        } else {
            Self::Call(error)
        }
    }
}
