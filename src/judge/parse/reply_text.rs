//! The parts of a reply with an object: the fence around it, and the values of the relevant keys.

use super::error::ParseError;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The content of a single closed `json` fence, or the whole text.
pub(super) fn unfence(text: &str) -> &str {
    let inner = text
        .strip_prefix("```json")
        .and_then(|inner| inner.strip_suffix("```"));
    inner
        .filter(|inner| inner.starts_with(char::is_whitespace))
        .map_or(text, str::trim)
}

pub(super) fn thoughts(raw: &str) -> Result<Vec<String>, ParseError> {
    if raw.starts_with('"') {
        let whole: String =
            serde_json::from_str(raw).map_err(|error| ParseError::Json(error.to_string()))?;
        return Ok(lines(&whole));
    }
    serde_json::from_str(raw).map_err(|_| ParseError::ThoughtsNotText)
}

pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The relevant keys.
const KEYS: [&str; 3] = ["score", "choice", "thoughts"];

/// The values of the relevant keys, including repeated ones: a JSON map would silently keep only
/// the last.
#[derive(Default)]
pub(super) struct ReplyFields<'a>([Vec<&'a RawValue>; KEYS.len()]);

impl<'a> ReplyFields<'a> {
    pub(super) fn read(object: &'a str) -> Result<Self, ParseError> {
        serde_json::from_str(object).map_err(|error| ParseError::Json(error.to_string()))
    }

    pub(super) fn one(&self, key: &'static str) -> Result<&'a str, ParseError> {
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

pub(super) struct ReplyFieldsVisitor;

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
