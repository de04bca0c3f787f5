//! The result of one judge call on a pool.

use super::evidence::{SlotVerdict, check_verdicts};
use super::pick_reply::{InvalidPick, PickRequest, SlotsReply};
use crate::domain::corpus::{DocId, QueryId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PickRecord {
    pub query: QueryId,
    pub judge: String,
    /// The provider that serves it; `offline` for the embedded judges.
    pub provider: String,
    pub model: String,
    /// Hash of the prompt template.
    pub prompt: String,
    /// Hash of the judge and its full prompt: identical calls have identical hashes.
    pub call: String,
    /// Which order of the pool was shown; 1 is the file's own order.
    pub permutation: usize,
    pub ask: PickRequest,
    pub order: Vec<DocId>,
    /// From 1; 2 is a retry of the question.
    pub attempt: usize,
    /// The result.
    #[serde(flatten)]
    pub result: PickResult,
    /// Whether the question was still going to be asked again when this was written, so that this
    /// is not the final answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    #[serde(default)]
    pub thoughts: Vec<String>,
    pub answered_by: Option<String>,
    /// The unmodified text of the reply.
    pub raw: Option<String>,
    /// Whether a document was truncated for the judge.
    #[serde(default)]
    pub truncated: bool,
    /// Input tokens; words for an offline judge.
    pub tokens_input: u64,
    pub tokens_output: u64,
    pub cost_usd: Option<f64>,
    /// From sending the request to receiving the last byte.
    pub latency_ms: f64,
    pub created_ms: i64,
}

/// The result of a call. Only the first two variants are picks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PickResult {
    /// Slots of the order shown, from 1.
    Slots(Vec<usize>),
    /// A verdict on every slot of the order shown.
    Verdicts(Vec<SlotVerdict>),
    Invalid(InvalidPick),
    /// No answer, with the reason.
    Failure(String),
}

impl PickRecord {
    /// Why the record is inconsistent, or `None` if it is consistent.
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
