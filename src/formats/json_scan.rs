//! Splits a stream of JSON into values without parsing them, so that only one is in memory at a
//! time.

use super::json::reason;
use super::lines::{LONGEST_LINE, breaks, too_long};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::io::{self, BufRead};

/// Why there is no next byte or value.
pub(super) enum ScanStop {
    End,
    Unreadable(io::Error),
}

pub(super) struct JsonScanner<R> {
    reader: R,
    line: u64,
}

impl<R: BufRead> JsonScanner<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::from_line(reader, 1)
    }

    /// Starts scanning at the beginning of a line.
    pub(super) fn from_line(reader: R, line: u64) -> Self {
        Self { reader, line }
    }

    /// The line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Skips a byte order mark at the start.
    pub(super) fn skip_mark(&mut self) -> Result<(), ScanStop> {
        if chunk(&mut self.reader)?.starts_with(b"\xef\xbb\xbf") {
            self.reader.consume(3);
        }
        Ok(())
    }

    /// The next byte that is not whitespace, without consuming it.
    pub(super) fn peek(&mut self) -> Result<u8, ScanStop> {
        loop {
            let chunk = chunk(&mut self.reader)?;
            let space = chunk
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            let next = chunk.get(space).copied();
            self.line += breaks(&chunk[..space]);
            self.reader.consume(space);
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    pub(super) fn advance(&mut self) {
        self.reader.consume(1);
    }

    /// Reads the next value into `value`, up to its end or to where it can no longer be JSON.
    pub(super) fn value(&mut self, value: &mut Vec<u8>) -> Result<(), ScanStop> {
        value.clear();
        let mut nesting = Nesting::default();
        loop {
            let chunk = chunk(&mut self.reader)?;
            let end = nesting.end(chunk);
            let read = &chunk[..end.unwrap_or(chunk.len())];
            if (value.len() + read.len()) as u64 > LONGEST_LINE {
                return Err(ScanStop::Unreadable(too_long("a JSON value")));
            }
            value.extend_from_slice(read);
            self.line += breaks(read);
            let read = read.len();
            self.reader.consume(read);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

/// A scanned value that is not JSON.
#[derive(Debug)]
pub(super) struct BrokenValue {
    /// The line of the problem, from 1.
    pub(super) line: u64,
    pub(super) what: String,
}

/// Validates a scanned value as JSON. `line` is the line where it starts, and `what` begins the
/// message.
pub(super) fn parse_value<'a>(
    value: &'a [u8],
    line: u64,
    what: &str,
) -> Result<&'a RawValue, BrokenValue> {
    let text = std::str::from_utf8(value).map_err(|error| {
        let before = value.get(..error.valid_up_to()).unwrap_or_default();
        BrokenValue {
            line: line + breaks(before),
            what: "invalid UTF-8; save the file as UTF-8".to_owned(),
        }
    })?;
    serde_json::from_str(text).map_err(|error| BrokenValue {
        line: line + (error.line() as u64).saturating_sub(1),
        what: match error.classify() {
            Category::Eof => format!("{what}: a line break inside a string"),
            _ => format!("{what}: {}", reason(&error)),
        },
    })
}

/// The reader's buffered data, at least one byte.
fn chunk(reader: &mut impl BufRead) -> Result<&[u8], ScanStop> {
    // Fill the buffer twice, because a borrow returned from a loop would last for the whole loop.
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ScanStop::Unreadable(error)),
        }
    }
    match reader.fill_buf() {
        Ok([]) => Err(ScanStop::End),
        Ok(chunk) => Ok(chunk),
        Err(error) => Err(ScanStop::Unreadable(error)),
    }
}

/// The nesting state after the bytes read so far.
#[derive(Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Nesting {
    /// The index in `chunk` where the value ends, if it does.
    fn end(&mut self, chunk: &[u8]) -> Option<usize> {
        for (at, byte) in chunk.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    // An unterminated string must not swallow the rest of the file.
                    b'\n' => return Some(at + 1),
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' | b']' if self.depth == 1 => return Some(at + 1),
                b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    // Always consume the first byte, so that every call makes progress.
                    return Some(if self.begun { at } else { at + 1 });
                }
                _ => {}
            }
            self.begun = true;
        }
        None
    }
}

/// The members of the object with which a file begins: their names and the first bytes of their
/// values, as far as `start` goes.
pub(super) fn first_members(start: &str) -> Vec<(String, u8)> {
    let mut members = Vec::new();
    // The beginning ends anywhere, usually inside a value.
    let _ = collect_members(JsonScanner::new(start.as_bytes()), &mut members);
    members
}

fn collect_members(
    mut scan: JsonScanner<&[u8]>,
    members: &mut Vec<(String, u8)>,
) -> Result<(), ScanStop> {
    let mut value = Vec::new();
    let mut next = b'{';
    while scan.peek()? == next {
        scan.advance();
        scan.peek()?;
        scan.value(&mut value)?;
        let Ok(name) = serde_json::from_slice(&value) else {
            break;
        };
        if scan.peek()? != b':' {
            break;
        }
        scan.advance();
        members.push((name, scan.peek()?));
        scan.value(&mut value)?;
        next = b',';
    }
    Ok(())
}
