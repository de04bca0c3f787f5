//! What came of one call of a judge on a pool.

use super::evidence::{SlotVerdict, check_verdicts};
use super::pick_reply::{InvalidPick, PickRequest, SlotsReply};
use crate::domain::corpus::{DocId, QueryId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickRecord {
    pub query: QueryId,
    pub judge: String,
    /// Who serves it; `offline` for the embedded judges.
    pub provider: String,
    pub model: String,
    /// Hash of the prompt's template.
    pub prompt: String,
    /// The hash of the judge and of every character it was sent: the same question has the same one.
    pub call: String,
    /// Which order of the pool was shown: 1 is the file's own.
    pub permutation: usize,
    pub ask: PickRequest,
    pub order: Vec<DocId>,
    /// From 1; the second one is the question asked again.
    pub attempt: usize,
    /// What came of it.
    #[serde(flatten)]
    pub result: PickResult,
    /// Whether the question was still to be asked once more when this was written: it is not the last word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    #[serde(default)]
    pub thoughts: Vec<String>,
    pub answered_by: Option<String>,
    /// The reply's text, untouched.
    pub raw: Option<String>,
    /// Whether the judge did not see all of a document.
    #[serde(default)]
    pub truncated: bool,
    /// Input tokens; words for an offline judge.
    pub tokens_input: u64,
    pub tokens_output: u64,
    pub cost_usd: Option<f64>,
    /// From sending to the last byte.
    pub latency_ms: f64,
    pub created_ms: i64,
}

/// What came of a call. Only the first two are picks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PickResult {
    /// Slots of the order shown, from 1.
    Slots(Vec<usize>),
    /// A verdict on every slot of the order shown.
    Verdicts(Vec<SlotVerdict>),
    Invalid(InvalidPick),
    /// No answer: why, in words.
    Failure(String),
}

impl PickRecord {
    /// Why the record contradicts itself, in words, if it does.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let slots = match &self.result {
            PickResult::Slots(slots) => slots,
            PickResult::Verdicts(verdicts) => {
                let wrong = check_verdicts(verdicts, self.order.len()).err()?;
                return Some(format!("verdicts: {wrong}"));
            }
            PickResult::Invalid(_) | PickResult::Failure(_) => return None,
        };
        let numbers = slots.iter().map(|slot| i64::try_from(*slot).unwrap_or(-1));
        let reply = SlotsReply {
            slots: numbers.collect(),
        };
        reply
            .picks(self.order.len(), self.ask)
            .err()
            .map(|invalid| format!("slots: {invalid}"))
    }
}
