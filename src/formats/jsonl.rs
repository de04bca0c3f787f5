//! JSON Lines: parses the object on a line and its members.

use super::json::{Members, ValueError, kind, path_of, reason};
use super::lines::TextLine;
use super::object::{ObjectReader, ProblemNotes};
use super::problem::quoted;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// Maximum number of problems listed for one line.
const SHOWN: usize = 5;

/// Why a line is not an object. A `unit` is the record that each line has.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum LineError {
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("expected an object, found an array; write one {unit} per line, without the brackets")]
    Array { unit: String },
    #[error("the file is cut off: its last line ends inside the JSON; write or download it again")]
    CutOff,
    #[error("the line ends inside the JSON; write each {unit} on one line, without indentation")]
    Unfinished { unit: String },
    #[error(
        "more follows after the object at column {column}; write each {unit} on a separate line"
    )]
    Trailing { column: usize, unit: String },
    /// A number as other languages write it. `member` is empty, or names the member.
    #[error(
        "{member}{word} at column {column}, which JSON does not have; write null or omit the \
         member"
    )]
    NotANumber {
        member: String,
        word: String,
        column: usize,
    },
    #[error("broken JSON at column {column}: {what}")]
    Broken { column: usize, what: String },
}

/// Parses the object on a line with `read`; there is one `unit` per line.
pub(crate) fn record<T>(
    line: &TextLine<'_>,
    unit: &str,
    read: impl FnOnce(ObjectReader<'_, '_>) -> Option<T>,
) -> Result<T, Vec<String>> {
    let text = line.text().map_err(|error| vec![error.to_string()])?;
    let members = members(text, line.last, unit).map_err(|error| vec![error.to_string()])?;
    let mut notes = ProblemNotes::new(text, SHOWN);
    let record = read(ObjectReader::whole(text, members, &mut notes));
    notes.finish_line(record)
}

/// Parses the value on a line; there is one `unit` per line.
pub(crate) fn value<T: DeserializeOwned>(
    line: &TextLine<'_>,
    unit: &str,
) -> Result<T, Vec<String>> {
    let text = line.text().map_err(|error| vec![error.to_string()])?;
    serde_json::from_str(text).map_err(|error| {
        let why = reason(&error);
        // The parser calls a number such as 1e999 a syntax error.
        if error.classify() != Category::Data && why != "number out of range" {
            return vec![broken(text, &error, line.last, unit).to_string()];
        }
        let lines = text.split_inclusive('\n').map(str::len);
        let before: usize = lines.take(error.line().saturating_sub(1)).sum();
        let place = match path_of(text, before + error.column()) {
            path if path.is_empty() => path,
            path => format!("{path}: "),
        };
        vec![format!(
            "is not a {unit}: {place}{why} (column {})",
            error.column()
        )]
    })
}

fn members<'a>(text: &'a str, last: bool, unit: &str) -> Result<Members<'a>, LineError> {
    let broken = |error| broken(text, &error, last, unit);
    // Usually the line is an object: parse its members directly, without first validating the whole
    // text.
    if text.trim_ascii_start().starts_with('{') {
        return serde_json::from_str(text).map_err(broken);
    }
    let value: &RawValue = serde_json::from_str(text).map_err(broken)?;
    if kind(value) == "an array" {
        return Err(LineError::Array {
            unit: unit.to_owned(),
        });
    }
    Ok(Members::of(value)?)
}

fn broken(text: &str, error: &serde_json::Error, last: bool, unit: &str) -> LineError {
    let unit = unit.to_owned();
    if error.classify() == Category::Eof {
        return if last {
            LineError::CutOff
        } else {
            LineError::Unfinished { unit }
        };
    }
    let at = error.column();
    if let Some(error) = not_a_number(text, at.saturating_sub(1)) {
        return error;
    }
    let column = text.get(..at).map_or(at, |before| before.chars().count());
    match reason(error) {
        what if what == "trailing characters" => LineError::Trailing { column, unit },
        what => LineError::Broken { column, what },
    }
}

/// Python's spelling of a number that JSON does not support, around byte `at`.
fn not_a_number(text: &str, at: usize) -> Option<LineError> {
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
    Some(LineError::NotANumber {
        member,
        word: word.to_owned(),
        column,
    })
}
