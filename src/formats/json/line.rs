//! The one JSON object of a line, or everything that can be said of why there is none.

use super::{Members, kind, reason};
use crate::formats::lines::Line;
use crate::formats::problem::quoted;
use serde_json::error::Category;
use serde_json::value::RawValue;

impl<'a> Members<'a> {
    /// The members of the object on `line`, which holds one `noun`, or what it holds instead.
    pub(in crate::formats) fn on(line: &Line<'a>, noun: &str) -> Result<Self, String> {
        let (text, last) = (line.text()?, line.last);
        // The usual line is an object: its members are found at once, without a pass over the text as a whole before.
        if text.trim_ascii_start().starts_with('{') {
            return serde_json::from_str(text).map_err(|error| broken(text, noun, &error, last));
        }
        let line: &RawValue =
            serde_json::from_str(text).map_err(|error| broken(text, noun, &error, last))?;
        if kind(line) == "an array" {
            return Err(format!(
                "expected an object, found an array; write one {noun} a line, without the brackets"
            ));
        }
        Self::of(line)
    }
}

/// What is wrong with a line of JSON that holds one `noun`.
fn broken(text: &str, noun: &str, error: &serde_json::Error, last: bool) -> String {
    if error.classify() == Category::Eof {
        return if last {
            "the file is cut off: its last line ends inside the JSON; write or download it again"
                .to_owned()
        } else {
            format!(
                "the line ends inside the JSON; write each {noun} on one line, without indentation"
            )
        };
    }
    let at = error.column();
    if let Some(what) = not_a_number(text, at.saturating_sub(1)) {
        return what;
    }
    let column = text.get(..at).map_or(at, |before| before.chars().count());
    let remedy = match reason(error) {
        what if what == "trailing characters" => {
            return format!(
                "more follows after the object at column {column}; write each {noun} on a line of its own"
            );
        }
        what => what,
    };
    format!("broken JSON at column {column}: {remedy}")
}

/// Python's spelling of a number that JSON does not have, around byte `at`.
fn not_a_number(text: &str, at: usize) -> Option<String> {
    let part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    let bytes = text.as_bytes();
    let start = at
        - bytes
            .get(..at)?
            .iter()
            .rev()
            .take_while(|byte| part(byte))
            .count();
    let length = bytes
        .get(start..)?
        .iter()
        .take_while(|byte| part(byte))
        .count();
    let word = text.get(start..start + length)?;
    if !matches!(
        word.trim_start_matches('-'),
        "NaN" | "nan" | "Infinity" | "inf" | "Inf"
    ) {
        return None;
    }
    let member = text
        .get(..start)?
        .trim_end()
        .strip_suffix(':')
        .and_then(|before| before.trim_end().strip_suffix('"'))
        .and_then(|before| before.rsplit('"').next())
        .map_or_else(String::new, |name| format!("{} is ", quoted(name)));
    let column = text.get(..=start)?.chars().count();
    Some(format!(
        "{member}{word} at column {column}, which JSON does not have; write null or leave the member out"
    ))
}
