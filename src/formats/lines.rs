//! The lines of a text file, with one of them in memory at a time.

use super::problem::Problem;
use std::fmt;
use std::io::{self, BufRead, Chain, Cursor, Read as _};

/// Shrink the buffer after a longer line.
const KEPT_CAPACITY: usize = 8 << 20;

/// Maximum length of a line, a row or a JSON value, in bytes. A query with a thousand long
/// documents is shorter, and a small compressed file can contain a line of many gigabytes.
pub(super) const LONGEST_LINE: u64 = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The rest of a file from the beginning of one of its lines.
pub(super) type RestOfFile<R> = Chain<Cursor<Vec<u8>>, R>;

/// A file's nonblank lines. A byte order mark and CRLF are accepted.
pub(super) struct TextLines<R> {
    reader: R,
    file: String,
    number: u64,
    bytes: Vec<u8>,
    /// Whether `bytes` contains the next line.
    is_unread: bool,
    /// Maximum length of a line, in bytes.
    limit: u64,
    done: bool,
}

/// A line without its line break and trailing whitespace.
#[derive(Clone, Copy, Debug)]
pub struct TextLine<'a> {
    /// From 1.
    pub(crate) number: u64,
    pub(super) bytes: &'a [u8],
    /// Whether it is the last line, without a line break.
    pub(super) last: bool,
}

impl<R: BufRead> TextLines<R> {
    /// The lines of `reader`; `file` is the file's name in problems.
    pub(super) fn new(reader: R, file: &str) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            number: 0,
            bytes: Vec::new(),
            is_unread: false,
            limit: LONGEST_LINE,
            done: false,
        }
    }

    /// Rejects lines of more than `limit` bytes, so that a file without line breaks is not read
    /// whole.
    pub(super) fn at_most(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The file's name in problems.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The number of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A problem with the line that was read last.
    pub(super) fn problem(&self, message: impl fmt::Display) -> Problem {
        Problem::new(&self.file, Some(self.number), message)
    }

    /// The next nonblank line. A problem ends the iteration: the file is not text, or cannot be
    /// read further.
    pub(super) fn next(&mut self) -> Option<Result<TextLine<'_>, Problem>> {
        if !std::mem::take(&mut self.is_unread)
            && let Err(problem) = self.advance()?
        {
            self.done = true;
            return Some(Err(problem));
        }
        Some(Ok(TextLine {
            number: self.number,
            bytes: self.bytes.trim_ascii_end(),
            last: self.bytes.last() != Some(&b'\n'),
        }))
    }

    /// Makes the next call of `next` return the last line again.
    pub(super) fn unread(&mut self) {
        self.is_unread = true;
    }

    /// The bytes from the beginning of the line that was read last.
    pub(super) fn into_rest(self) -> RestOfFile<R> {
        Cursor::new(self.bytes).chain(self.reader)
    }

    fn advance(&mut self) -> Option<Result<(), Problem>> {
        while !self.done {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_CAPACITY);
            let mut line = self.reader.by_ref().take(self.limit.saturating_add(1));
            let read = line.read_until(b'\n', &mut self.bytes);
            if matches!(read, Ok(0)) {
                self.done = true;
                break;
            }
            self.number += 1;
            if let Err(error) = read {
                return Some(Err(self.problem(format!("cannot read further: {error}"))));
            }
            if self.bytes.len() as u64 > self.limit {
                let what = format!(
                    "is longer than {} bytes; no record is that long",
                    self.limit
                );
                return Some(Err(self.problem(&what)));
            }
            if self.number == 1 {
                if self.bytes.starts_with(BYTE_ORDER_MARK) {
                    self.bytes.drain(..BYTE_ORDER_MARK.len());
                }
                if let Some(what) = non_text_kind(&self.bytes) {
                    return Some(Err(Problem::new(&self.file, None, what)));
                }
            }
            if !self.bytes.trim_ascii_end().is_empty() {
                return Some(Ok(()));
            }
        }
        None
    }
}

pub(super) fn too_long(what: &str) -> io::Error {
    let words = format!("{what} is longer than {LONGEST_LINE} bytes; no record is that long");
    io::Error::new(io::ErrorKind::InvalidData, words)
}

/// All lines as text, blank ones too, without their breaks and without a byte order mark. One that
/// is too long is an error.
pub(super) fn text_lines(mut reader: impl BufRead) -> impl Iterator<Item = io::Result<String>> {
    let mut first = true;
    std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let mut line = reader.by_ref().take(LONGEST_LINE + 1);
        match line.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
        if bytes.len() as u64 > LONGEST_LINE {
            return Some(Err(too_long("the line")));
        }
        let bare = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        let mark = std::mem::take(&mut first).then_some(BYTE_ORDER_MARK);
        let bare = mark
            .and_then(|mark| bare.strip_prefix(mark))
            .unwrap_or(bare);
        Some(
            String::from_utf8(bare.to_vec())
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not text in UTF-8")),
        )
    })
}

/// Why a line is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotText {
    #[error("the file is cut off in the middle of a character (byte {at}); write it again")]
    CutOff {
        /// From 1.
        at: usize,
    },
    #[error("invalid UTF-8 at byte {at} of the line (0x{byte:02x}); save the file as UTF-8")]
    Invalid {
        /// From 1.
        at: usize,
        byte: u8,
    },
}

impl<'a> TextLine<'a> {
    /// The line's text, or why it is not text.
    pub(super) fn text(&self) -> Result<&'a str, NotText> {
        std::str::from_utf8(self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            if self.last && error.error_len().is_none() {
                NotText::CutOff { at: at + 1 }
            } else {
                NotText::Invalid {
                    at: at + 1,
                    byte: self.bytes.get(at).copied().unwrap_or_default(),
                }
            }
        })
    }
}

pub(super) fn breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The kind of file, if its first bytes show that it is not text.
fn non_text_kind(bytes: &[u8]) -> Option<&'static str> {
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
        Some("is not a text file; name one with one record per line")
    } else {
        None
    }
}
