//! Pools as JSON Lines: zBench's QueryDocuments in, and its AnnotatedQueryDocuments in and out.
//!
//! One line is one pool: `{"query":{"id","query"},"documents":[{"id","content","metadata"?,"score"?}]}`. Members the
//! format does not know are kept as `extra` and written after the known ones; `metadata` is kept as it is spelled.

mod line;
mod write;

pub use write::{Unscored, write_annotated, write_pool};

use super::problem::Problem;
use crate::domain::corpus::Pool;
use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::io::BufRead;

/// The pools of a file, one line at a time; see [`read_pools`].
pub struct Pools<R> {
    reader: R,
    file: String,
    line: u64,
    bytes: Vec<u8>,
    first_lines: HashMap<String, u64>,
    pending: VecDeque<Problem>,
    done: bool,
}

/// Reads pools from JSON Lines. A bad line gives its problems, up to five of them and a count, and the next line
/// follows; a byte order mark, CRLF and blank lines are fine. Only one line is in memory at a time.
///
/// `file` is what problems call the file.
pub fn read_pools<R: BufRead>(reader: R, file: &str) -> Pools<R> {
    Pools {
        reader,
        file: file.to_owned(),
        line: 0,
        bytes: Vec::new(),
        first_lines: HashMap::new(),
        pending: VecDeque::new(),
        done: false,
    }
}

impl<R: BufRead> Iterator for Pools<R> {
    type Item = Result<Pool, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            if self.done || !self.read_line() {
                return None;
            }
            let last = self.bytes.last() != Some(&b'\n');
            let bytes = content(&self.bytes, self.line == 1);
            if bytes.is_empty() {
                continue;
            }
            if self.line == 1
                && let Some(what) = foreign(bytes)
            {
                self.done = true;
                return Some(Err(Problem::new(&self.file, None, what)));
            }
            match line::parse(bytes, last) {
                Ok(pool) => match self.first_line(&pool) {
                    None => return Some(Ok(pool)),
                    Some(first) => {
                        self.report(&[line::repeated_query(pool.query.id.as_str(), first)])
                    }
                },
                Err(messages) => self.report(&messages),
            }
        }
    }
}

impl<R: BufRead> Pools<R> {
    /// The number of the line the last item came from, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The earlier line that has this pool's query, if one has.
    fn first_line(&mut self, pool: &Pool) -> Option<u64> {
        match self.first_lines.entry(pool.query.id.as_str().to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(self.line);
                None
            }
            Entry::Occupied(first) => Some(*first.get()),
        }
    }

    /// Whether there was a line, or a problem instead.
    fn read_line(&mut self) -> bool {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_CAPACITY);
        match self.reader.read_until(b'\n', &mut self.bytes) {
            Ok(0) => self.done = true,
            Ok(_) => self.line += 1,
            Err(error) => {
                self.done = true;
                self.bytes.clear();
                self.line += 1;
                self.report(&[format!("cannot read further: {error}")]);
            }
        }
        !self.bytes.is_empty() || !self.pending.is_empty()
    }

    fn report(&mut self, messages: &[String]) {
        let (file, line) = (&self.file, self.line);
        self.pending.extend(
            messages
                .iter()
                .map(|message| Problem::new(file, Some(line), message)),
        );
    }
}

/// A line may have taken half a gigabyte; the lines after it need not hold on to that.
const KEPT_CAPACITY: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The line without the mark at the file's start and its line break.
fn content(bytes: &[u8], first: bool) -> &[u8] {
    let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) if first => rest,
        _ => bytes,
    };
    bytes.trim_ascii_end()
}

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
