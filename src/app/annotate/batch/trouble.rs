//! Why a batch could not be asked about, fetched or stopped; other batches go on.

use crate::judge::CallError;

/// What stands in the way of one batch, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BatchTrouble {
    #[error("judge {0:?} is not in overrule.toml, or has no key")]
    UnknownJudge(String),
    /// The judge is configured otherwise now.
    #[error(
        "the {what} of judge {judge:?} is not the one that the batch was made with; set it back in overrule.toml to fetch"
    )]
    JudgeChanged { judge: String, what: &'static str },
    /// The judge's provider takes no batches.
    #[error("judge {0:?} has no batch endpoint")]
    NoEndpoint(String),
    /// The batch has no name at the provider.
    #[error("was never submitted")]
    NotHandedOver,
    /// Its submission was cut short, and what came of it is not known yet.
    #[error("{0}")]
    Unconfirmed(String),
    /// The provider could not be asked.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There are no results that could be fetched.
    #[error("cannot be fetched")]
    NotFetchable,
    /// Fetching broke off.
    #[error("{0}; what came is kept, and fetching goes on where it stopped")]
    CutShort(CallError),
    #[error(
        "its {results} results belong to another batch; name the right one with `overrule batch adopt {batch} NAME`"
    )]
    Foreign {
        results: usize,
        /// The batch's number in the project.
        batch: i64,
    },
    #[error(
        "the provider speaks of {answers} answers, {here} are here and {unreadable} cannot be read; the batch stays open, fetch again"
    )]
    Incomplete {
        answers: u64,
        here: u64,
        /// Lines that cannot be read.
        unreadable: usize,
    },
}
