//! The identity of a judge, and its limits.

use super::identity::identity_of;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The identity of a judge: everything that changes the meaning of its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeSpec {
    /// Display name; unique in an ensemble.
    pub name: String,
    /// The provider's name, `offline` for the embedded judges.
    pub provider: String,
    pub model: String,
    /// Hash of the prompt template, or of the algorithm's version for an offline judge.
    pub prompt_hash: String,
    /// The parameters that change the meaning of answers ([`identity_of`]), as compact JSON.
    /// Projects of earlier versions contain all parameters that were sent.
    pub params: String,
}

impl JudgeSpec {
    /// Whether both are the same judge, so that the votes of one count for the other. Limits on
    /// length and time, addresses and prices make no difference.
    pub fn is_same_judge(&self, other: &Self) -> bool {
        self.name == other.name
            && self.provider == other.provider
            && self.model == other.model
            && self.prompt_hash == other.prompt_hash
            && (self.params == other.params
                || identity_of(&self.params) == identity_of(&other.params))
    }

    /// Whether the judge is one of the embedded lexical ones, which must be stated wherever its
    /// votes are shown.
    pub fn is_offline(&self) -> bool {
        self.provider == OFFLINE
    }
}

pub const OFFLINE: &str = "offline";

/// The label shown with votes of offline judges.
pub const OFFLINE_LABEL: &str = "offline judges: lexical, not a language model";

/// Default time that a server may fail or stay silent.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The user's limits for a judge; `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeLimits {
    pub concurrency: Option<usize>,
    /// Whether to detect how many calls its server processes at once, up to `concurrency`.
    pub slots_unknown: bool,
    pub requests_per_minute: Option<u64>,
    /// Maximum number of tokens per minute, input and output.
    pub tokens_per_minute: Option<u64>,
    pub batch_requests: Option<usize>,
    /// How long the server may fail before the judge stops.
    pub give_up_after: Duration,
    /// How long the server may stay silent before the judge stops.
    pub silent_after: Duration,
}

impl Default for JudgeLimits {
    fn default() -> Self {
        Self {
            concurrency: None,
            slots_unknown: false,
            requests_per_minute: None,
            tokens_per_minute: None,
            batch_requests: None,
            give_up_after: GIVE_UP_AFTER,
            silent_after: GIVE_UP_AFTER,
        }
    }
}
