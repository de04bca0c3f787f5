//! JSON Lines: a file's lines one at a time, a line's object, and its members.

use super::json::{Members, kind, reason, string};
use super::problem::{Findings, Problem, quoted};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::io::BufRead;

/// What comes next in a file.
pub(super) enum Step {
    /// A line with something on it.
    Line,
    /// Something is wrong with the file as a whole, or it cannot be read further; it ends here.
    Problem(Problem),
    /// The end.
    End,
}

/// The lines of a file, one in memory at a time. A byte order mark, CRLF and blank lines are fine.
pub(super) struct Lines<R> {
    reader: R,
    file: String,
    number: u64,
    bytes: Vec<u8>,
    done: bool,
}

impl<R: BufRead> Lines<R> {
    /// `file` is what problems call the file.
    pub(super) fn new(reader: R, file: &str) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            number: 0,
            bytes: Vec::new(),
            done: false,
        }
    }

    /// Goes to the next line that is not blank.
    pub(super) fn advance(&mut self) -> Step {
        loop {
            if self.done {
                return Step::End;
            }
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_CAPACITY);
            match self.reader.read_until(b'\n', &mut self.bytes) {
                Ok(0) => {
                    self.done = true;
                    return Step::End;
                }
                Ok(_) => self.number += 1,
                Err(error) => {
                    self.done = true;
                    self.number += 1;
                    return Step::Problem(self.problem(&format!("cannot read further: {error}")));
                }
            }
            if self.content().is_empty() {
                continue;
            }
            if self.number == 1
                && let Some(what) = foreign(self.content())
            {
                self.done = true;
                return Step::Problem(Problem::new(&self.file, None, what));
            }
            return Step::Line;
        }
    }

    /// The line without the mark at the file's start and its line break.
    pub(super) fn content(&self) -> &[u8] {
        let bytes = match self.bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.number == 1 => rest,
            _ => &self.bytes,
        };
        bytes.trim_ascii_end()
    }

    /// Whether the file ends with this line, without a line break.
    pub(super) fn is_last(&self) -> bool {
        self.bytes.last() != Some(&b'\n')
    }

    /// The line's number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A problem of this line.
    pub(super) fn problem(&self, message: &str) -> Problem {
        Problem::new(&self.file, Some(self.number), message)
    }
}

/// A line may have taken half a gigabyte; the lines after it need not hold on to that.
const KEPT_CAPACITY: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the file is where its first bytes show that it is not text.
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    const GZIP: &[u8] = b"\x1f\x8b";
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
    if bytes.starts_with(GZIP) {
        Some("is compressed with gzip; unpack it first (gunzip)")
    } else if bytes.starts_with(ZSTD) {
        Some("is compressed with zstd; unpack it first (unzstd)")
    } else if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        Some("is UTF-16 text; save it as UTF-8")
    } else if bytes.starts_with(b"PAR1")
        || bytes.starts_with(b"SQLite format 3\0")
        || bytes.starts_with(b"PK\x03\x04")
    {
        Some("is not a text file; expected one JSON object a line")
    } else {
        None
    }
}

/// The object on a line, one `unit` a line; `last` tells that the file ends with it, without a line break.
pub(super) fn members<'a>(
    bytes: &'a [u8],
    last: bool,
    unit: &str,
) -> Result<Members<'a>, Vec<String>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        vec![if last && error.error_len().is_none() {
            format!(
                "the file is cut off in the middle of a character (byte {}); write it again",
                at + 1
            )
        } else {
            format!(
                "invalid UTF-8 at byte {} of the line (0x{:02x}); save the file as UTF-8",
                at + 1,
                bytes.get(at).copied().unwrap_or_default()
            )
        }]
    })?;
    // The usual line is an object: its members are found at once, without a pass over the text as a whole before.
    if text.trim_ascii_start().starts_with('{') {
        serde_json::from_str::<Members<'_>>(text)
            .map_err(|error| vec![broken(text, &error, last, unit)])
    } else {
        let line: &RawValue =
            serde_json::from_str(text).map_err(|error| vec![broken(text, &error, last, unit)])?;
        if kind(line) == "an array" {
            return Err(vec![format!(
                "expected an object, found an array; write one {unit} a line, without the brackets"
            )]);
        }
        Members::of(line).map_err(|what| vec![what])
    }
}

fn broken(text: &str, error: &serde_json::Error, last: bool, unit: &str) -> String {
    if error.classify() == Category::Eof {
        return if last {
            "the file is cut off: its last line ends inside the JSON; write or download it again"
                .to_owned()
        } else {
            format!(
                "the line ends inside the JSON; write each {unit} on one line, without indentation"
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
                "more follows after the object at column {column}; write each {unit} on a line of its own"
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

/// The member called `key`, which there has to be.
pub(super) fn required<'a>(
    members: &mut Members<'a>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
) -> Option<&'a RawValue> {
    let value = findings.check(path, members.take(key))?;
    if value.is_none() {
        findings.add(path, "is missing");
    }
    value
}

/// The string called `key`, which there has to be, with something in it.
pub(super) fn text(
    members: &mut Members<'_>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
) -> Option<String> {
    let value = required(members, key, path, findings)?;
    let text = findings.check(path, string(value))?;
    if text.trim().is_empty() {
        findings.add(path, "is empty");
        return None;
    }
    Some(text)
}

/// What `read` makes of the member called `key`, where there is one.
pub(super) fn optional<T>(
    members: &mut Members<'_>,
    key: &str,
    path: std::fmt::Arguments<'_>,
    findings: &mut Findings,
    read: impl Fn(&RawValue) -> Result<T, String>,
) -> Option<T> {
    let value = findings.check(path, members.take(key))??;
    findings.check(path, read(value))
}
