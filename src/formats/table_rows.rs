//! Rows of a table in a text file: cells between delimiters, quoted according to RFC 4180.
//!
//! A cell that starts with a quote must end with one. Lenient readers accept text after it, or read
//! on to the end of the file if it is missing; here, such a row is rejected.

use super::csv_cell::read_back;
use super::lines::{LONGEST_LINE, breaks};
use super::problem::Problem;
use std::fmt;
use std::io::{self, BufRead};

/// How the cells of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellStyle {
    /// Whitespace around unquoted cells is ignored.
    Trimmed,
    /// As written by Overrule: every character counts, and `'` escapes the start of a formula.
    Ours,
}

/// The nonblank rows of a file, with one of them in memory at a time.
pub(super) struct TableRows<R> {
    reader: R,
    file: String,
    delimiter: u8,
    style: CellStyle,
    /// The line of the next byte, from 1.
    line: u64,
    /// The line on which the row starts.
    start: u64,
    row: RowBuffer,
    done: bool,
}

/// The cells of a row.
#[derive(Clone, Copy)]
pub(super) struct TableRow<'a> {
    text: &'a str,
    ends: &'a [usize],
    style: CellStyle,
}

impl<'a> TableRow<'a> {
    pub(super) fn cells(self) -> impl Iterator<Item = &'a str> {
        std::iter::once(0)
            .chain(self.ends.iter().copied())
            .zip(self.ends)
            .map(move |(start, end)| {
                let cell = self.text.get(start..*end).unwrap_or_default();
                match self.style {
                    CellStyle::Trimmed => cell,
                    CellStyle::Ours => read_back(cell),
                }
            })
    }
}

impl<R: BufRead> TableRows<R> {
    /// Reads rows; the next byte of `reader` is on line `line`, and `file` is its name in problems.
    pub(super) fn new(reader: R, file: &str, line: u64, delimiter: u8, style: CellStyle) -> Self {
        Self {
            reader,
            file: file.to_owned(),
            delimiter,
            style,
            line,
            start: line,
            row: RowBuffer::default(),
            done: false,
        }
    }

    /// The line on which the last row starts.
    pub(super) fn number(&self) -> u64 {
        self.start
    }

    /// A problem with the last row.
    pub(super) fn problem(&self, message: impl fmt::Display) -> Problem {
        Problem::new(&self.file, Some(self.start), message)
    }

    /// The next nonblank row. Reading continues after an invalid row.
    pub(super) fn next(&mut self) -> Option<Result<TableRow<'_>, Problem>> {
        while !self.done {
            self.start = self.line;
            if let Err(what) = self.read_row() {
                return Some(Err(self.problem(what)));
            }
            if !self.row.is_blank() {
                return Some(match std::str::from_utf8(&self.row.bytes) {
                    Ok(text) => Ok(TableRow {
                        text,
                        ends: &self.row.ends,
                        style: self.style,
                    }),
                    Err(_) => Err(self.problem("invalid UTF-8; save the file as UTF-8")),
                });
            }
        }
        None
    }

    fn read_row(&mut self) -> Result<(), RowError> {
        self.row.clear();
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.done = true;
                    return Err(RowError::Unreadable(error));
                }
            };
            if chunk.is_empty() {
                self.done = true;
                return self.row.finish(self.style);
            }
            let end = chunk
                .iter()
                .position(|byte| self.row.push(*byte, self.delimiter, self.style));
            let used = end.map_or(chunk.len(), |at| at + 1);
            self.line += breaks(&chunk[..used]);
            self.reader.consume(used);
            if end.is_some() {
                return self.row.finish(self.style);
            }
            if (self.row.bytes.len() + self.row.ends.len()) as u64 > LONGEST_LINE {
                self.done = true;
                return Err(RowError::TooLong);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// At the beginning of a cell.
    #[default]
    Start,
    Bare,
    Quoted,
    /// After a quote in a quoted cell: the cell ends, or the quote is doubled.
    AfterQuote,
}

/// Why a row cannot be read.
#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("cannot be read further: {0}")]
    Unreadable(io::Error),
    #[error(
        "the row is longer than {LONGEST_LINE} bytes; no record is that long (is a quote missing?)"
    )]
    TooLong,
    #[error("a quoted cell of this row is never closed; add the missing quote")]
    OpenQuote,
    #[error("text follows the closing quote of a cell; double the quotes inside a quoted cell")]
    TextAfterQuote,
}

/// A row being read.
#[derive(Default)]
struct RowBuffer {
    /// The characters of the cells, without delimiters and quotes.
    bytes: Vec<u8>,
    /// The end of each cell in `bytes`.
    ends: Vec<usize>,
    place: Place,
    /// Whether there is text after the closing quote of a cell.
    is_broken: bool,
}

impl RowBuffer {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.place = Place::Start;
        self.is_broken = false;
    }

    fn is_blank(&self) -> bool {
        self.ends.len() < 2 && self.bytes.is_empty()
    }

    /// Adds a byte, and returns whether it ends the row.
    fn push(&mut self, byte: u8, delimiter: u8, style: CellStyle) -> bool {
        let space = style == CellStyle::Trimmed && matches!(byte, b' ' | b'\t');
        match (self.place, byte) {
            (Place::Quoted, b'"') => self.place = Place::AfterQuote,
            (Place::Quoted, _) => self.bytes.push(byte),
            (_, b'\n') => return true,
            (_, byte) if byte == delimiter => self.end_cell(style),
            (Place::Start, b'"') => self.place = Place::Quoted,
            (Place::Start, _) if space => {}
            (Place::AfterQuote, b'"') => {
                self.bytes.push(byte);
                self.place = Place::Quoted;
            }
            (Place::AfterQuote, b'\r') => {}
            (Place::AfterQuote, _) if space => {}
            (Place::AfterQuote, _) => self.is_broken = true,
            (Place::Start | Place::Bare, _) => {
                self.bytes.push(byte);
                self.place = Place::Bare;
            }
        }
        false
    }

    fn end_cell(&mut self, style: CellStyle) {
        if self.place == Place::Bare && style == CellStyle::Trimmed {
            let cell = self.ends.last().copied().unwrap_or_default();
            let trimmed = self.bytes[cell..].trim_ascii_end().len();
            self.bytes.truncate(cell + trimmed);
        }
        self.ends.push(self.bytes.len());
        self.place = Place::Start;
    }

    /// Ends the row.
    fn finish(&mut self, style: CellStyle) -> Result<(), RowError> {
        if self.place == Place::Quoted {
            return Err(RowError::OpenQuote);
        }
        if self.place == Place::Bare && self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        self.end_cell(style);
        if self.is_broken {
            return Err(RowError::TextAfterQuote);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::csv_cell::SafeCsv;
    use proptest::prelude::*;
    use rstest::rstest;
    use std::io::BufReader;

    fn rows(text: &[u8], delimiter: u8, style: CellStyle) -> Vec<Result<Vec<String>, String>> {
        // Read in pieces: a row must not depend on buffer boundaries.
        let reader = BufReader::with_capacity(3, text);
        let mut rows = TableRows::new(reader, "f", 1, delimiter, style);
        let mut found = Vec::new();
        while let Some(row) = rows.next() {
            found.push(
                row.map(|row| row.cells().map(str::to_owned).collect())
                    .map_err(|problem| problem.to_string()),
            );
        }
        found
    }

    #[rstest]
    #[case::plain("a,b\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]])]
    #[case::no_last_break("a,b\r\n1,2", vec![vec!["a", "b"], vec!["1", "2"]])]
    #[case::spaces(" a , b c \r\n", vec![vec!["a", "b c"]])]
    #[case::quoted("\"a, \"\"b\"\"\",\" c \"\n", vec![vec!["a, \"b\"", " c "]])]
    #[case::spaces_around_quotes("\"a\" , \"b\"\r\n", vec![vec!["a", "b"]])]
    #[case::two_lines("\"a\r\nb\",c\n", vec![vec!["a\r\nb", "c"]])]
    #[case::quote_inside("5\" nail,x\n", vec![vec!["5\" nail", "x"]])]
    #[case::empty("\n\r\n ,\n\n,\"\"", vec![vec!["", ""], vec!["", ""]])]
    fn cells_are_read(#[case] text: &str, #[case] expected: Vec<Vec<&str>>) {
        let found = rows(text.as_bytes(), b',', CellStyle::Trimmed);
        let found: Vec<Vec<String>> = found.into_iter().map(Result::unwrap).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::text_after_a_quote(b"a\n\"b\"c\nd\n", "f:2: text follows the closing quote")]
    #[case::open(b"a\n\n\"b\nc\nd\n", "f:3: a quoted cell of this row is never closed")]
    #[case::no_text(b"a\n\"x\ny\"\n\xff\nd\n", "f:4: invalid UTF-8")]
    fn a_broken_row_is_named(#[case] text: &[u8], #[case] words: &str) {
        let found = rows(text, b'\t', CellStyle::Trimmed);
        let wrong: Vec<_> = found.iter().filter_map(|row| row.as_ref().err()).collect();
        assert!(wrong.len() == 1 && wrong[0].starts_with(words), "{found:?}");
    }

    proptest! {
        #[test]
        fn what_we_write_is_read_back(
            table in prop::collection::vec(prop::collection::vec("[-='+@\", \n\t\u{ff1d}ax1]{0,5}|\\PC{0,8}", 2), 1..5),
        ) {
            let mut csv = SafeCsv::new(Vec::new());
            for row in &table {
                csv.row(row).unwrap();
            }
            let text = csv.finish().unwrap();
            let found: Vec<Vec<String>> = rows(&text, b',', CellStyle::Ours).into_iter().map(Result::unwrap).collect();
            prop_assert_eq!(found, table);
        }
    }
}
