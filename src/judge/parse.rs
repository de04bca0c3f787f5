//! Reply text to opinion. First strictly, by the contract; then once more for what models do to it. Every case below is
//! decided and tested; a score is read or there is none, it is never made up, rescaled or clamped.
//!
//! | reply | decision |
//! | --- | --- |
//! | `{"thoughts": [...], "score": x}`, further keys, thoughts as one string, a `json` fence, a byte order mark | read |
//! | the same in other fences, in a list, with prose before or after, after a leading `<think>…</think>` | read |
//! | `"score": "0.5"`, `+1`, `1.`, `.5`, `−1` with U+2212, U+FE63 or U+FF0D, bare or as a string | read |
//! | no object, but exactly one `<score>x</score>` | read; what stands around it are the thoughts |
//! | two objects with a score, two scores in one object, two `<score>` tags, an object and a tag that differ | failure |
//! | a score outside −1..=1, `NaN`, `Infinity`, `1e999`, `75`, `50%`, `0,5`, `1/2`, `null`, a list | failure |
//! | no score; no thoughts beside a score in an object; thoughts that are not text | failure |
//! | an object that does not end, or that is broken in any way but its score's spelling | failure |
//! | empty, white space, only a `<think>` | failure |
//! | prose that declines ("I'm sorry, but I can't …") and holds no object and no tag | failure, as a refusal |
//! | any other prose, numbers in it included | failure |
//!
//! Refusals, safety blocks and truncation that the provider reports are failures before any text is read.

mod choice;
mod number;
mod scan;
mod slots;
#[cfg(test)]
mod tests;
mod verdicts;

pub(crate) use choice::from_odds;
pub use choice::{choice, letter};
pub use slots::slots;
pub use verdicts::verdicts;

use super::{FailureCause, Opinion};
use crate::domain::vote::Margin;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The most characters of a reply repeated in a message.
const SHOWN: usize = 40;

/// Why a reply is not an opinion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing but white space or thinking.
    #[error("the reply is empty")]
    Empty,
    /// Text, a list, a number.
    #[error("the reply is not a JSON object")]
    NotAnObject,
    /// The model declines in words.
    #[error("the model declined to answer: {0}")]
    Declined(String),
    /// Broken JSON.
    #[error("the reply is not valid JSON: {0}")]
    Json(String),
    /// More than one answer.
    #[error("the reply has more than one \"{0}\"")]
    Duplicate(&'static str),
    /// No `score` or `choice`.
    #[error("the reply has no \"{0}\"")]
    Missing(&'static str),
    /// `score` is no number, however it is spelt.
    #[error("\"score\" is not a number: {0}")]
    ScoreNotNumber(String),
    /// `score` is beyond what a float holds.
    #[error("\"score\" is not a finite number: {0}")]
    ScoreNotFinite(String),
    /// `score` is a number outside −1..=1.
    #[error("\"score\" is not between -1 and 1: {0}")]
    ScoreOutOfRange(String),
    /// `choice` is neither A nor B nor a tie.
    #[error("the choice is neither A nor B nor a tie: {0}")]
    NotAChoice(String),
    /// `thoughts` is neither a string nor a list of strings.
    #[error("\"thoughts\" is neither a string nor a list of strings")]
    ThoughtsNotText,
}

impl ParseError {
    /// The class of the failure.
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::Declined(_) => FailureCause::Refused,
            _ => FailureCause::Malformed,
        }
    }
}

/// The opinion in a judge's reply, read strictly or, where that fails, tolerantly.
pub fn parse(text: &str) -> Result<Opinion, ParseError> {
    strict(text).or_else(|error| tolerant(text, "score", &error))
}

/// The opinion in a reply that keeps to the contract: one object, in a `json` fence at most.
pub fn strict(text: &str) -> Result<Opinion, ParseError> {
    let object = unfence(trimmed(text)?);
    if !object.starts_with('{') {
        return Err(ParseError::NotAnObject);
    }
    let fields = ReplyFields::read(object)?;
    Ok(Opinion {
        margin: number::strict(fields.one("score")?)?,
        thoughts: thoughts(fields.one("thoughts")?)?,
    })
}

/// The opinion in the one object of `text` that has `key`, or in its one tag of that name.
fn tolerant(text: &str, key: &'static str, error: &ParseError) -> Result<Opinion, ParseError> {
    let text = scan::without_thinking(trimmed(text)?);
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    let margin = |raw: &str| match key {
        "score" => number::tolerant(raw),
        _ => choice::margin(raw),
    };
    let tagged = match scan::tag(text, key)? {
        Some((value, around)) => Some((margin(value)?, around)),
        None => None,
    };
    match (scan::object(text, key)?, tagged) {
        (Some(object), tagged) => {
            let object = if key == "score" {
                number::respelt(object)
            } else {
                object.into()
            };
            let fields = ReplyFields::read(&object)?;
            let found = margin(fields.one(key)?)?;
            if tagged.is_some_and(|(tagged, _)| tagged != found) {
                return Err(ParseError::Duplicate(key));
            }
            Ok(Opinion {
                margin: found,
                thoughts: thoughts(fields.one("thoughts")?)?,
            })
        }
        (None, Some((margin, around))) => Ok(Opinion {
            margin,
            thoughts: lines(&around),
        }),
        (None, None) if scan::declines(text) => Err(ParseError::Declined(shown(text))),
        (None, None) => Err(error.clone()),
    }
}

fn trimmed(text: &str) -> Result<&str, ParseError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        Err(ParseError::Empty)
    } else {
        Ok(text)
    }
}

/// What is inside one closed `json` fence, or all of it.
fn unfence(text: &str) -> &str {
    let inner = text
        .strip_prefix("```json")
        .and_then(|inner| inner.strip_suffix("```"));
    inner
        .filter(|inner| inner.starts_with(char::is_whitespace))
        .map_or(text, str::trim)
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

fn thoughts(raw: &str) -> Result<Vec<String>, ParseError> {
    if raw.starts_with('"') {
        let whole: String =
            serde_json::from_str(raw).map_err(|error| ParseError::Json(error.to_string()))?;
        return Ok(lines(&whole));
    }
    serde_json::from_str(raw).map_err(|_| ParseError::ThoughtsNotText)
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The keys that count.
const KEYS: [&str; 3] = ["score", "choice", "thoughts"];

/// The values of the keys that count, each as often as it occurs: a JSON map would silently keep the last.
#[derive(Default)]
struct ReplyFields<'a>([Vec<&'a RawValue>; KEYS.len()]);

impl<'a> ReplyFields<'a> {
    fn read(object: &'a str) -> Result<Self, ParseError> {
        serde_json::from_str(object).map_err(|error| ParseError::Json(error.to_string()))
    }

    fn one(&self, key: &'static str) -> Result<&'a str, ParseError> {
        let at = KEYS.iter().position(|known| *known == key);
        match at.map_or(&[][..], |at| &self.0[at]) {
            [] => Err(ParseError::Missing(key)),
            [value] => Ok(value.get()),
            _ => Err(ParseError::Duplicate(key)),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ReplyFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReplyFieldsVisitor)
    }
}

struct ReplyFieldsVisitor;

impl<'de> Visitor<'de> for ReplyFieldsVisitor {
    type Value = ReplyFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"thoughts\" and \"score\"")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = ReplyFields::default();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if let Some(at) = KEYS.iter().position(|known| *known == key) {
                fields.0[at].push(value);
            }
        }
        Ok(fields)
    }
}

/// Whether the key stands in `text` at all, which makes a broken object a broken answer.
fn mentions(text: &str, key: &str) -> bool {
    text.contains(&format!("\"{key}\""))
}

/// A margin, or why `raw` is none.
fn in_range(value: f64, raw: &str) -> Result<Margin, ParseError> {
    if value.is_finite() {
        Margin::new(value).ok_or_else(|| ParseError::ScoreOutOfRange(shown(raw)))
    } else {
        Err(ParseError::ScoreNotFinite(shown(raw)))
    }
}
