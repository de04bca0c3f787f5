//! Pools as JSON Lines: zBench's QueryDocuments in, and its AnnotatedQueryDocuments in and out.
//!
//! One line is one pool: `{"query":{"id","query"},"documents":[{"id","content","metadata"?,"score"?}]}`. Members the
//! format does not know are kept as `extra` and written after the known ones; `metadata` is kept as it is spelled.

mod benchmark;
mod line;
mod write;

pub use benchmark::BenchmarkLabels;
pub use write::{Unscored, write_annotated, write_pool};

use super::lines::TextLines;
use super::problem::Problem;
use crate::domain::corpus::Pool;
use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::io::BufRead;

/// The pools of a file, one line at a time; see [`read_pools`].
pub struct PoolRecords<R> {
    lines: TextLines<R>,
    first_lines: HashMap<String, u64>,
    pending: VecDeque<Problem>,
}

/// Reads pools from JSON Lines. A bad line gives its problems, up to five of them and a count, and the next line
/// follows; a byte order mark, CRLF and blank lines are fine. Only one line is in memory at a time.
///
/// `file` is what problems call the file.
pub fn read_pools<R: BufRead>(reader: R, file: &str) -> PoolRecords<R> {
    PoolRecords {
        lines: TextLines::new(reader, file),
        first_lines: HashMap::new(),
        pending: VecDeque::new(),
    }
}

impl<R: BufRead> Iterator for PoolRecords<R> {
    type Item = Result<Pool, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            let parsed = match self.lines.next()? {
                Ok(line) => line::parse(&line),
                Err(problem) => return Some(Err(problem)),
            };
            match parsed {
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

impl<R: BufRead> PoolRecords<R> {
    /// The number of the line the last item came from, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The earlier line that has this pool's query, if one has.
    fn first_line(&mut self, pool: &Pool) -> Option<u64> {
        match self.first_lines.entry(pool.query.id.as_str().to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(self.lines.number());
                None
            }
            Entry::Occupied(first) => Some(*first.get()),
        }
    }

    fn report(&mut self, messages: &[String]) {
        let problems = messages.iter().map(|message| self.lines.problem(message));
        self.pending.extend(problems);
    }
}
