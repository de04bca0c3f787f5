//! Why a method has no order for a query.

use crate::domain::named::named;
use std::fmt;

named! {
    "a kind of failure", "snake_case";
    pub enum FailureKind {
        /// An answer broke the rules and had no usable part.
        LlmOutputInvalid,
        /// A call failed.
        ProviderError,
        /// The candidates cannot be ranked, and nothing was asked.
        InputError,
    }
}

/// Why there is no order: its kind, named as in ranksmith's results, and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingFailure {
    pub kind: FailureKind,
    pub message: String,
}

impl fmt::Display for RankingFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
