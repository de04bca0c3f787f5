//! Files of lines as records: a bad line gives its problems, and the next one follows.

use super::lines::{TextLine, TextLines};
use super::problem::Problem;
use std::collections::VecDeque;
use std::io::BufRead;

/// What makes a record of a line.
pub trait ParseLine {
    /// What a line holds.
    type Record;

    /// The record on a line, `None` where it has none, such as a header; or everything that is wrong with it.
    fn parse(&mut self, line: &TextLine<'_>) -> Result<Option<Self::Record>, Vec<String>>;
}

impl<T, F> ParseLine for F
where
    F: FnMut(&TextLine<'_>) -> Result<Option<T>, Vec<String>>,
{
    type Record = T;

    fn parse(&mut self, line: &TextLine<'_>) -> Result<Option<T>, Vec<String>> {
        self(line)
    }
}

/// The records of a file, one line in memory at a time.
pub struct LineRecords<R, P> {
    lines: TextLines<R>,
    pub(super) parser: P,
    pending: VecDeque<Problem>,
}

impl<R: BufRead, P: ParseLine> LineRecords<R, P> {
    pub(super) fn new(lines: TextLines<R>, parser: P) -> Self {
        Self {
            lines,
            parser,
            pending: VecDeque::new(),
        }
    }

    /// The number of the line the last item came from, from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }
}

impl<R: BufRead, P: ParseLine> Iterator for LineRecords<R, P> {
    type Item = Result<P::Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            let parsed = match self.lines.next()? {
                Ok(line) => self.parser.parse(&line),
                Err(problem) => return Some(Err(problem)),
            };
            match parsed {
                Ok(Some(record)) => return Some(Ok(record)),
                Ok(None) => {}
                Err(messages) => {
                    let problems = messages.iter().map(|message| self.lines.problem(message));
                    self.pending.extend(problems);
                }
            }
        }
    }
}
