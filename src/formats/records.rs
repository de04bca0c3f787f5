//! Reads files of records: JSON lines, an array of objects, or a table. Reading continues after an
//! invalid record.

use super::json_scan::{JsonScanner, ScanStop};
use super::lines::{RestOfFile, TextLine, TextLines};
use super::problem::Problem;
use super::table_objects::{TableObjects, TableSchema};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead};
use std::mem;

/// Parses a record from a line, or from an object of an array or table.
pub trait ParseLine {
    /// The type of the records.
    type Record;

    /// The record on a line, `None` if it has none, such as a header; or all of its problems.
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

/// An iterator over the records of a file, with one of them in memory at a time.
pub struct LineRecords<R, P> {
    source: Source<R>,
    pub(super) parser: P,
    pending: VecDeque<Problem>,
}

/// The source of the objects, determined by the first nonblank line.
enum Source<R> {
    Unread(TextLines<R>, Option<&'static TableSchema>),
    Lines(TextLines<R>),
    Array(ArrayElements<RestOfFile<R>>),
    Table(TableObjects<RestOfFile<R>>),
    Ended(u64),
}

impl<R: BufRead, P: ParseLine> LineRecords<R, P> {
    /// The records of JSON lines or of an array; `file` is the file's name in problems.
    pub(crate) fn new(reader: R, file: &str, parser: P) -> Self {
        Self::of(Source::Unread(TextLines::new(reader, file), None), parser)
    }

    /// The records of JSON lines, of an array, or of a table with these columns.
    pub(super) fn or_table(reader: R, file: &str, schema: &'static TableSchema, parser: P) -> Self {
        let lines = TextLines::new(reader, file);
        Self::of(Source::Unread(lines, Some(schema)), parser)
    }

    /// The records of lines that are not JSON.
    pub(super) fn of_text(reader: R, file: &str, parser: P) -> Self {
        Self::of(Source::Lines(TextLines::new(reader, file)), parser)
    }

    fn of(source: Source<R>, parser: P) -> Self {
        Self {
            source,
            parser,
            pending: VecDeque::new(),
        }
    }

    /// Reads the whole file into its records and its problems.
    pub(super) fn partition_items(self) -> (Vec<P::Record>, Vec<Problem>) {
        let (mut records, mut problems) = (Vec::new(), Vec::new());
        for item in self {
            match item {
                Ok(record) => records.push(record),
                Err(problem) => problems.push(problem),
            }
        }
        (records, problems)
    }

    /// The line of the last item, from 1.
    pub fn line(&self) -> u64 {
        self.source.number()
    }
}

impl<R: BufRead, P: ParseLine> Iterator for LineRecords<R, P> {
    type Item = Result<P::Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            if let Source::Unread(..) = self.source
                && let Err(problem) = self.source.begin()
            {
                return Some(Err(problem));
            }
            let parsed = match self.source.next()? {
                Ok(line) => self.parser.parse(&line),
                Err(problems) => {
                    self.pending.extend(problems);
                    continue;
                }
            };
            match parsed {
                Ok(Some(record)) => return Some(Ok(record)),
                Ok(None) => {}
                Err(messages) => {
                    let problems = messages.iter().map(|message| self.source.problem(message));
                    self.pending.extend(problems);
                }
            }
        }
    }
}

impl<R: BufRead> Source<R> {
    /// Determines the source from the first line.
    fn begin(&mut self) -> Result<(), Problem> {
        let Self::Unread(mut lines, schema) = mem::replace(self, Self::Ended(0)) else {
            return Ok(());
        };
        let first = match lines.next() {
            None => None,
            Some(line) => line?.bytes.trim_ascii_start().first().copied(),
        };
        let line = lines.number();
        *self = match (first, schema) {
            (Some(b'['), _) => {
                let file = lines.file().to_owned();
                Self::Array(ArrayElements::new(lines.into_rest(), file, line))
            }
            (Some(b'{'), _) | (Some(_), None) => {
                lines.unread();
                Self::Lines(lines)
            }
            (Some(_), Some(schema)) => Self::Table(TableObjects::new(lines, schema)?),
            (None, Some(schema)) => {
                let what = format!(
                    "is empty; expected JSON lines, or CSV with the columns {}",
                    schema.required.join(", ")
                );
                return Err(Problem::new(lines.file(), None, &what));
            }
            (None, None) => Self::Ended(line),
        };
        Ok(())
    }

    fn next(&mut self) -> Option<Result<TextLine<'_>, Vec<Problem>>> {
        let one = |problem| vec![problem];
        match self {
            Self::Unread(..) | Self::Ended(_) => None,
            Self::Lines(lines) => lines.next().map(|line| line.map_err(one)),
            Self::Array(elements) => elements.next().map(|line| line.map_err(one)),
            Self::Table(rows) => rows.next(),
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Unread(..) => 0,
            Self::Lines(lines) => lines.number(),
            Self::Array(elements) => elements.number,
            Self::Table(rows) => rows.number(),
            Self::Ended(line) => *line,
        }
    }

    /// A problem with the last record.
    fn problem(&self, message: &str) -> Problem {
        match self {
            Self::Lines(lines) => lines.problem(message),
            Self::Array(elements) => elements.problem(message),
            Self::Table(rows) => rows.problem(message),
            Self::Unread(..) | Self::Ended(_) => Problem::new("", None, message),
        }
    }
}

/// The elements of an array that makes up a whole file.
struct ArrayElements<R> {
    scan: JsonScanner<R>,
    file: String,
    value: Vec<u8>,
    /// The line on which the last element starts.
    number: u64,
    place: ArrayPlace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayPlace {
    Start,
    First,
    AfterElement,
    AfterComma,
    AfterArray,
    Done,
}

impl<R: BufRead> ArrayElements<R> {
    fn new(reader: R, file: String, line: u64) -> Self {
        Self {
            scan: JsonScanner::from_line(reader, line),
            file,
            value: Vec::new(),
            number: line,
            place: ArrayPlace::Start,
        }
    }

    fn problem(&self, message: impl fmt::Display) -> Problem {
        Problem::new(&self.file, Some(self.number), message)
    }

    /// The next element. A problem ends the iteration.
    fn next(&mut self) -> Option<Result<TextLine<'_>, Problem>> {
        match self.advance() {
            Ok(true) => Some(Ok(TextLine {
                number: self.number,
                bytes: self.value.trim_ascii_end(),
                last: false,
            })),
            Ok(false) => None,
            Err(what) => {
                self.place = ArrayPlace::Done;
                self.number = self.scan.line();
                Some(Err(self.problem(what)))
            }
        }
    }

    /// Advances to the next element, and returns whether there is one.
    fn advance(&mut self) -> Result<bool, ArrayError> {
        while self.place != ArrayPlace::Done {
            let next = match self.scan.peek() {
                Ok(next) => next,
                Err(ScanStop::End) if self.place == ArrayPlace::AfterArray => break,
                Err(stop) => return Err(stop.into()),
            };
            self.place = match (self.place, next) {
                (ArrayPlace::Start, _) => ArrayPlace::First,
                (ArrayPlace::First | ArrayPlace::AfterElement, b']') => ArrayPlace::AfterArray,
                (ArrayPlace::AfterElement, b',') => ArrayPlace::AfterComma,
                (ArrayPlace::AfterElement, _) => {
                    return Err(ArrayError::NoSeparator);
                }
                (ArrayPlace::AfterComma, b']') => {
                    return Err(ArrayError::TrailingComma);
                }
                (ArrayPlace::First | ArrayPlace::AfterComma, _) => {
                    self.number = self.scan.line();
                    self.scan.value(&mut self.value)?;
                    self.place = ArrayPlace::AfterElement;
                    return Ok(true);
                }
                (ArrayPlace::AfterArray, _) => {
                    return Err(ArrayError::Trailing);
                }
                (ArrayPlace::Done, _) => break,
            };
            self.scan.advance();
        }
        self.place = ArrayPlace::Done;
        Ok(false)
    }
}

/// Why an array of records ends early.
#[derive(Debug, thiserror::Error)]
enum ArrayError {
    #[error("the file is cut off inside the array; write or download it again")]
    CutOff,
    #[error("cannot read further: {0}")]
    Unreadable(io::Error),
    #[error("broken JSON: expected `,` or `]` after an element of the array")]
    NoSeparator,
    #[error("broken JSON: a comma with no element after it")]
    TrailingComma,
    #[error("broken JSON: more follows after the end of the array")]
    Trailing,
}

impl From<ScanStop> for ArrayError {
    fn from(stop: ScanStop) -> Self {
        match stop {
            ScanStop::End => Self::CutOff,
            ScanStop::Unreadable(error) => Self::Unreadable(error),
        }
    }
}
