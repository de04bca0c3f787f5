//! The file format of list calls: one per line, with the judge, hashes of the texts, and all calls
//! that were made for it.

use super::answered::PROBE;
use crate::domain::candidate_question::Answer;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::{from_hex, hex};
use crate::features::lists::domain::{AnswerForm, KindError, ListKind, ListPlan};
use crate::features::lists::store::StoredList;
use crate::features::methods::store::RerankCall;
use crate::formats::json::number;
use crate::formats::lines::TextLine;
use crate::formats::records::{LineRecords, ParseLine};
use crate::formats::{jsonl, problem};
use crate::judge::{FailureCause, JudgeSpec};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::io::BufRead;
use std::ops::RangeInclusive;
use thiserror::Error;
use uuid::Uuid;

/// Maximum length of a text in a line, in bytes: that of a whole response of a service.
const MAX_TEXT: usize = 4 << 20;

/// Maximum length of the name of a judge, in characters.
const MAX_NAME: usize = 1_000;

/// Maximum number of numbers in an answer. A malformed answer may have more than the list has
/// documents.
const MAX_NUMBERS: usize = 100_000;

/// Maximum number of tokens of a call, in one direction.
const MAX_TOKENS: u64 = 1_000_000_000;

/// Maximum round of a plan.
const MAX_ROUND: u64 = 1_000_000;

/// Maximum cost of a call in dollars, and maximum latency in milliseconds.
const MAX_USD: f64 = 1e6;
const MAX_LATENCY_MS: f64 = 1e10;

/// Bytes, written in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HexBytes<const N: usize>(pub(super) [u8; N]);

/// A list call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ListLine {
    pub(super) uid: String,
    pub(super) query: QueryId,
    /// The name of the judge; it may have been another one when the list was planned.
    pub(super) judge: String,
    pub(super) plan: String,
    /// From 1.
    pub(super) round: u64,
    pub(super) created_ms: i64,
    pub(super) answer_form: String,
    pub(super) shown: Vec<DocId>,
    /// The judge when the list was planned.
    pub(super) spec: JudgeSpec,
    /// The metadata that the judge is shown, in canonical form.
    #[serde(deserialize_with = "nullable")]
    pub(super) metadata: Option<String>,
    pub(super) query_sha256: HexBytes<32>,
    /// In the order in which the documents are shown.
    pub(super) document_sha256: Vec<HexBytes<32>>,
    pub(super) identity: HexBytes<32>,
    pub(super) key: HexBytes<32>,
    /// In order of time.
    pub(super) calls: Vec<CallLine>,
}

/// A call that was made for a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallLine {
    pub(super) uid: HexBytes<16>,
    created_ms: i64,
    #[serde(deserialize_with = "nullable")]
    pub(super) answer: Option<Answer>,
    #[serde(deserialize_with = "nullable")]
    cause: Option<FailureCause>,
    #[serde(deserialize_with = "nullable")]
    message: Option<String>,
    #[serde(deserialize_with = "nullable")]
    model: Option<String>,
    #[serde(deserialize_with = "nullable")]
    raw: Option<String>,
    tokens_input: u64,
    tokens_output: u64,
    #[serde(deserialize_with = "exact_or_null")]
    cost_usd: Option<f64>,
    #[serde(deserialize_with = "exact")]
    latency_ms: f64,
    truncated: u64,
}

/// Why a line is not a valid list call.
#[derive(Debug, Error)]
pub(super) enum InvalidLine {
    #[error("uid: {} is not a UUID", problem::quoted(.0))]
    Uid(String),
    #[error("{0}: is empty")]
    Empty(&'static str),
    #[error("{0}: is longer than {MAX_NAME} characters; give the judge a shorter name")]
    LongName(&'static str),
    #[error("{0}: contains control characters; give the judge a name without them")]
    ControlCharacters(&'static str),
    #[error("{member}: is longer than {MAX_TEXT} bytes; no reply is that long")]
    TooLong { member: String },
    #[error("{member}: {value} is outside {low}..{high}")]
    Range {
        member: String,
        value: f64,
        low: f64,
        high: f64,
    },
    #[error("plan: expected random, swiss, top or {PROBE}, found {}", problem::quoted(.0))]
    Plan(String),
    #[error("answer_form: expected order, best-worst or best:K, found {}", problem::quoted(.0))]
    Form(String),
    #[error("answer_form: {0}")]
    Kind(#[from] KindError),
    #[error("shown: {} is shown twice", problem::quoted(.0))]
    ShownTwice(String),
    #[error("document_sha256: expected {shown} hashes, found {found}")]
    Hashes { shown: usize, found: usize },
    #[error("calls[{0}].answer: expected numbers or unreadable, as answers to lists are")]
    AnswerKind(usize),
    #[error("calls[{at}].answer: expected at most {MAX_NUMBERS} numbers, found {found}")]
    Numbers { at: usize, found: usize },
    #[error("calls[{0}]: an answered call has no cause or message")]
    AnsweredAndFailed(usize),
    #[error("calls[{0}].cause: is null, but the call has no answer")]
    NoCause(usize),
}

/// Reads list calls; `file` is the file's name in problems. Other members of a line are ignored.
pub(super) fn read_lists<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = ListLine> + use<R>> {
    LineRecords::new(reader, file, |line: &TextLine<'_>| {
        jsonl::value(line, "list call").map(Some)
    })
}

impl ListLine {
    /// Checks all members that need no project.
    ///
    /// # Errors
    /// The first member that is not valid. `latest_ms` is the latest valid time.
    pub(super) fn check(&self, latest_ms: i64) -> Result<AnswerForm, InvalidLine> {
        let is_uuid = Uuid::parse_str(&self.uid).is_ok_and(|uid| uid.to_string() == self.uid);
        if !is_uuid {
            return Err(InvalidLine::Uid(self.uid.clone()));
        }
        for (member, name) in [("judge", &self.judge), ("spec.name", &self.spec.name)] {
            check_name(member, name)?;
        }
        if self.plan != PROBE && self.plan.parse::<ListPlan>().is_err() {
            return Err(InvalidLine::Plan(self.plan.clone()));
        }
        check_range("round", self.round as f64, 1.0..=MAX_ROUND as f64)?;
        check_time("created_ms", self.created_ms, latest_ms)?;
        let form: Result<AnswerForm, _> = self.answer_form.parse();
        let form = form.map_err(|_| InvalidLine::Form(self.answer_form.clone()))?;
        ListKind::new(self.shown.len(), form)?;
        for (at, document) in self.shown.iter().enumerate() {
            if self.shown[..at].contains(document) {
                return Err(InvalidLine::ShownTwice(document.as_str().to_owned()));
            }
        }
        let (shown, found) = (self.shown.len(), self.document_sha256.len());
        if shown != found {
            return Err(InvalidLine::Hashes { shown, found });
        }
        for (at, call) in self.calls.iter().enumerate() {
            call.check(at, shown, latest_ms)?;
        }
        Ok(form)
    }

    /// The list call as it is stored, with the form of the answer in canonical spelling.
    pub(super) fn list(&self, form: AnswerForm) -> StoredList {
        StoredList {
            uid: self.uid.clone(),
            query: self.query.clone(),
            judge: self.judge.clone(),
            identity: self.identity.0,
            form: form.to_string(),
            shown: self.shown.clone(),
            plan: self.plan.clone(),
            round: self.round.saturating_sub(1) as usize,
            key: self.key.0,
            created_ms: self.created_ms,
        }
    }
}

impl CallLine {
    pub(super) fn of(call: RerankCall) -> Self {
        Self {
            uid: HexBytes(call.uid),
            created_ms: call.created_ms,
            answer: call.answer,
            cause: call.cause,
            message: call.message,
            model: call.model,
            raw: call.raw,
            tokens_input: call.tokens_input,
            tokens_output: call.tokens_output,
            cost_usd: call.cost_usd,
            latency_ms: call.latency_ms,
            truncated: call.truncated,
        }
    }

    /// The call as it is stored, with the key of its list and the name of its judge.
    pub(super) fn call(self, key: [u8; 32], service: &str) -> RerankCall {
        RerankCall {
            uid: self.uid.0,
            key,
            service: service.to_owned(),
            answer: self.answer,
            cause: self.cause,
            message: self.message,
            tokens_input: self.tokens_input,
            tokens_output: self.tokens_output,
            cost_usd: self.cost_usd,
            latency_ms: self.latency_ms,
            truncated: self.truncated,
            model: self.model,
            created_ms: self.created_ms,
            raw: self.raw,
        }
    }

    fn check(&self, at: usize, shown: usize, latest_ms: i64) -> Result<(), InvalidLine> {
        let reason = match &self.answer {
            Some(Answer::Numbers(_)) if self.cause.is_some() || self.message.is_some() => {
                return Err(InvalidLine::AnsweredAndFailed(at));
            }
            Some(Answer::Numbers(numbers)) if numbers.len() > MAX_NUMBERS => {
                let found = numbers.len();
                return Err(InvalidLine::Numbers { at, found });
            }
            Some(Answer::Numbers(_)) => None,
            Some(Answer::Unreadable(reason)) => Some(reason),
            Some(_) => return Err(InvalidLine::AnswerKind(at)),
            None if self.cause.is_none() => return Err(InvalidLine::NoCause(at)),
            None => None,
        };
        let named = |member: &str| format!("calls[{at}].{member}");
        for (member, text) in [
            ("answer", reason),
            ("message", self.message.as_ref()),
            ("model", self.model.as_ref()),
            ("raw", self.raw.as_ref()),
        ] {
            text.map_or(Ok(()), |text| check_text(&named(member), text))?;
        }
        let tokens = 0.0..=MAX_TOKENS as f64;
        let cost = self.cost_usd.unwrap_or(0.0);
        for (member, value, range) in [
            ("tokens_input", self.tokens_input as f64, tokens.clone()),
            ("tokens_output", self.tokens_output as f64, tokens),
            ("cost_usd", cost, 0.0..=MAX_USD),
            ("latency_ms", self.latency_ms, 0.0..=MAX_LATENCY_MS),
            ("truncated", self.truncated as f64, 0.0..=shown as f64),
        ] {
            check_range(&named(member), value, range)?;
        }
        check_time(&named("created_ms"), self.created_ms, latest_ms)
    }
}

fn check_name(member: &'static str, name: &str) -> Result<(), InvalidLine> {
    if name.trim().is_empty() {
        return Err(InvalidLine::Empty(member));
    }
    if name.chars().nth(MAX_NAME).is_some() {
        return Err(InvalidLine::LongName(member));
    }
    if name.contains(char::is_control) {
        return Err(InvalidLine::ControlCharacters(member));
    }
    Ok(())
}

fn check_text(member: &str, text: &str) -> Result<(), InvalidLine> {
    if text.len() > MAX_TEXT {
        let member = member.to_owned();
        return Err(InvalidLine::TooLong { member });
    }
    Ok(())
}

fn check_range(member: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), InvalidLine> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(InvalidLine::Range {
        member: member.to_owned(),
        value,
        low: *range.start(),
        high: *range.end(),
    })
}

fn check_time(member: &str, ms: i64, latest_ms: i64) -> Result<(), InvalidLine> {
    check_range(member, ms as f64, 0.0..=latest_ms as f64)
}

/// Reads a member that may be null but not missing.
fn nullable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// Reads a number with correct rounding, which the parser does not guarantee.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(&Box::<RawValue>::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The same for a number that may be null but not missing.
fn exact_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let value = value.map(|value| number(&value)).transpose();
    value.map_err(D::Error::custom)
}

impl<const N: usize> Serialize for HexBytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for HexBytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = from_hex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| {
            let found = problem::quoted(&text);
            D::Error::custom(format!(
                "expected {} hexadecimal digits, found {found}",
                2 * N
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::safe_json;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_texts_are_read_back_exactly(
            cost_usd in prop::option::of(0.0..MAX_USD),
            latency_ms in 0.0..MAX_LATENCY_MS,
            raw in prop::option::of("\\PC{0,9}|[\u{0}-\u{1f}\u{202e}\"\\\\]{0,9}"),
            numbers in prop::collection::vec(any::<i64>(), 0..5),
        ) {
            let call = CallLine {
                uid: HexBytes([171; 16]),
                created_ms: 1,
                answer: Some(Answer::Numbers(numbers)),
                cause: None,
                message: None,
                model: None,
                raw,
                tokens_input: 1,
                tokens_output: 2,
                cost_usd,
                latency_ms,
                truncated: 0,
            };
            let text = safe_json::compact(&call).unwrap();
            prop_assert_eq!(serde_json::from_str::<CallLine>(&text).unwrap(), call);
        }
    }
}
