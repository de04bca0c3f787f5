//! Who a judge is, and what its user allows it.

use super::identity::identity_of;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Who a judge is: everything that changes what its answers mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeSpec {
    /// What people call it; unique in an ensemble.
    pub name: String,
    /// The provider's name, `offline` for the embedded judges.
    pub provider: String,
    pub model: String,
    /// Content hash of the prompt template, or of the algorithm's version for an offline judge.
    pub prompt_hash: String,
    /// The parameters that change what answers mean ([`identity_of`]), as compact JSON. Projects of earlier versions hold
    /// all that were sent.
    pub params: String,
}

impl JudgeSpec {
    /// Whether both name the same judge, whose votes count for either. Limits on length and time, addresses and prices make
    /// no difference.
    pub fn is_same_judge(&self, other: &Self) -> bool {
        self.name == other.name
            && self.provider == other.provider
            && self.model == other.model
            && self.prompt_hash == other.prompt_hash
            && (self.params == other.params
                || identity_of(&self.params) == identity_of(&other.params))
    }

    /// Whether the judge is one of the embedded lexical ones, which is to be said wherever its votes are shown.
    pub fn is_offline(&self) -> bool {
        self.provider == OFFLINE
    }
}

pub const OFFLINE: &str = "offline";

/// What is said wherever votes of offline judges are shown.
pub const OFFLINE_LABEL: &str = "offline judges: lexical, not a language model";

/// How long a server may fail or stay silent unless the user says otherwise.
pub const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// What the user allows a judge; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeLimits {
    pub concurrency: Option<usize>,
    /// Whether it is to be found out how many calls its server works on at a time, `concurrency` at most.
    pub slots_unknown: bool,
    pub requests_per_minute: Option<u64>,
    /// Tokens, in and out, a minute at most.
    pub tokens_per_minute: Option<u64>,
    pub batch_requests: Option<usize>,
    /// How long the server may fail before the judge stops.
    pub give_up_after: Duration,
    /// How long the server may be silent before the judge stops.
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
