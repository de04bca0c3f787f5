//! A judge's reply: the slots it picked, or why the reply is invalid.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;
use thiserror::Error;

/// How many documents a judge was asked to pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PickRequest {
    /// As many as are labeled relevant; the judge knows the number.
    Exactly(usize),
    /// Any number, including none.
    AnyNumber,
    /// A verdict on every document; supporting and refuting documents are the picks.
    PerDocument,
}

/// How to ask, independent of the number of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PickMode {
    Exactly,
    AnyNumber,
    PerDocument,
}

impl PickMode {
    /// The request for a pool with `wanted` relevant documents; only some modes tell the judge this
    /// number.
    pub fn ask(self, wanted: usize) -> PickRequest {
        match self {
            Self::Exactly => PickRequest::Exactly(wanted),
            Self::AnyNumber => PickRequest::AnyNumber,
            Self::PerDocument => PickRequest::PerDocument,
        }
    }
}

impl PickRequest {
    pub fn way(self) -> PickMode {
        match self {
            Self::Exactly(_) => PickMode::Exactly,
            Self::AnyNumber => PickMode::AnyNumber,
            Self::PerDocument => PickMode::PerDocument,
        }
    }
}

/// A reply as decoded from JSON: an object with a list `slots` of integers. Other members are
/// ignored; if one is repeated, the last wins. Numbers with a fraction or exponent, strings,
/// booleans and nested lists are rejected.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, ReplyMember>")]
pub struct SlotsReply {
    /// The slot numbers as given; slots are numbered from 1.
    pub slots: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReplyMember {
    Slots(Vec<i64>),
    Other(serde::de::IgnoredAny),
}

impl TryFrom<BTreeMap<String, ReplyMember>> for SlotsReply {
    type Error = InvalidPick;

    fn try_from(mut members: BTreeMap<String, ReplyMember>) -> Result<Self, InvalidPick> {
        match members.remove("slots") {
            Some(ReplyMember::Slots(slots)) => Ok(Self { slots }),
            Some(ReplyMember::Other(_)) | None => Err(InvalidPick::NoSlots),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Error, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum InvalidPick {
    /// The text is not JSON. Used by callers that decode a [`SlotsReply`].
    #[error("not JSON")]
    NotJson,
    /// The reply's content is empty, and the text in the model's reasoning field is not exactly an
    /// answer.
    #[error("the content is empty, and the model's thinking is not exactly an answer")]
    OutsideContent,
    #[error("copied from a document")]
    Copied,
    /// Two answers, or one that is retracted later in the text.
    #[error("several answers that differ, or words that take the answer back")]
    Contradictory,
    /// The JSON does not decode to a [`SlotsReply`].
    #[error("no list of whole numbers named slots")]
    NoSlots,
    #[error("slot {slot} is not in 1 to {slots}")]
    OutOfRange { slot: i64, slots: usize },
    #[error("slot {slot} is given twice")]
    Duplicate { slot: i64 },
    #[error("{given} slots where {asked} were asked for")]
    WrongCount { given: usize, asked: usize },
    /// The JSON does not decode to a [`VerdictsReply`](super::VerdictsReply).
    #[error("no list named verdicts of slots, words and sentences")]
    NoVerdicts,
    #[error("slot {slot} has no verdict")]
    MissingSlot { slot: usize },
    #[error("no verdict of the three for slot {slot}")]
    UnknownVerdict { slot: i64 },
    /// A verdict that requires a proof sentence but has none.
    #[error("no sentence that proves the verdict for slot {slot}")]
    NoSentence { slot: i64 },
    /// A proof sentence on a verdict that needs none.
    #[error("a sentence for slot {slot}, which has not enough evidence")]
    StraySentence { slot: i64 },
    #[error("the sentence for slot {slot} is not in its document")]
    NotQuoted { slot: i64 },
}

impl InvalidPick {
    /// The cause without details, for counting.
    pub fn cause(self) -> &'static str {
        self.into()
    }
}

impl SlotsReply {
    /// The positions picked in a pool of `slots` documents, from 0 and in the order given.
    ///
    /// # Errors
    /// The first that applies: a slot out of range, a slot given twice, or not as many slots as
    /// requested.
    pub fn picks(&self, slots: usize, ask: PickRequest) -> Result<Vec<usize>, InvalidPick> {
        let position = |slot: &i64| {
            let number = usize::try_from(*slot).ok();
            number
                .filter(|number| (1..=slots).contains(number))
                .map(|number| number - 1)
                .ok_or(InvalidPick::OutOfRange { slot: *slot, slots })
        };
        let picks: Vec<usize> = self.slots.iter().map(position).collect::<Result<_, _>>()?;
        let repeated = |at: &usize| {
            picks
                .iter()
                .take(*at)
                .any(|pick| picks.get(*at) == Some(pick))
        };
        if let Some(slot) = (0..picks.len())
            .find(repeated)
            .and_then(|at| self.slots.get(at))
        {
            return Err(InvalidPick::Duplicate { slot: *slot });
        }
        match ask {
            PickRequest::Exactly(asked) if asked != picks.len() => Err(InvalidPick::WrongCount {
                given: picks.len(),
                asked,
            }),
            _ => Ok(picks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picks(slots: &[i64], ask: PickRequest) -> Result<Vec<usize>, InvalidPick> {
        SlotsReply {
            slots: slots.to_vec(),
        }
        .picks(10, ask)
    }

    #[test]
    fn an_answer_keeps_to_the_question() {
        let two = PickRequest::Exactly(2);
        assert_eq!(picks(&[10, 1], two), Ok(vec![9, 0]));
        assert_eq!(picks(&[], PickRequest::Exactly(0)), Ok(vec![]));
        assert_eq!(picks(&[], PickRequest::AnyNumber), Ok(vec![]));
        assert_eq!(picks(&[3, 2, 1], PickRequest::AnyNumber), Ok(vec![2, 1, 0]));
        for (slots, message) in [
            (&[1, 2, 3][..], "3 slots where 2 were asked for"),
            (&[1], "1 slots where 2 were asked for"),
            (&[7, 7, 7], "slot 7 is given twice"),
            (&[7, 7, 0], "slot 0 is not in 1 to 10"),
            (&[1, 11], "slot 11 is not in 1 to 10"),
            (&[-3, 1], "slot -3 is not in 1 to 10"),
            (
                &[i64::MIN, i64::MAX],
                "slot -9223372036854775808 is not in 1 to 10",
            ),
        ] {
            assert_eq!(picks(slots, two).unwrap_err().to_string(), message);
        }
    }
}
