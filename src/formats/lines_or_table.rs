//! Files of flat records, as JSON Lines or as CSV with a header: the same fields, and problems with their line in both.

use super::json::{number, string};
use super::jsonl;
use super::lines::{TextLine, TextLines};
use super::object::ObjectReader;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
use std::io::Read;

/// The fields of one record. What is missing or wrong is noted with the field's name; a field that may be missing is `None`
/// without a note.
pub(super) trait RecordFields {
    /// Text that has to be there, with something in it.
    fn text(&mut self, name: &str) -> Option<String>;
    /// A finite number that has to be there.
    fn number(&mut self, name: &str) -> Option<f64>;
    /// Text with something in it, where it is there.
    fn text_or_none(&mut self, name: &str) -> Option<String>;
    /// A finite number, where it is there.
    fn number_or_none(&mut self, name: &str) -> Option<f64>;
    /// Notes what is wrong with a field.
    fn note(&mut self, name: &str, what: &str);
}

impl RecordFields for ObjectReader<'_, '_> {
    fn text(&mut self, name: &str) -> Option<String> {
        self.text(name)
    }

    fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.required(name)?;
        self.read(name, value, number)
    }

    fn text_or_none(&mut self, name: &str) -> Option<String> {
        let text = self.nullable(name, string);
        text.filter(|text| !text.trim().is_empty())
    }

    fn number_or_none(&mut self, name: &str) -> Option<f64> {
        self.nullable(name, number)
    }

    fn note(&mut self, name: &str, what: &str) {
        self.note(name, what);
    }
}

/// A row of a table. White space around a cell does not count, and an empty cell is a field that is not there.
struct TableRow<'a> {
    columns: &'a [String],
    cells: &'a csv::StringRecord,
    problems: Vec<String>,
}

impl TableRow<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        let at = self.columns.iter().position(|column| column == name)?;
        let cell = self.cells.get(at).map(str::trim);
        cell.filter(|cell| !cell.is_empty())
    }
}

impl RecordFields for TableRow<'_> {
    fn text(&mut self, name: &str) -> Option<String> {
        let text = self.text_or_none(name);
        if text.is_none() {
            self.note(name, "is empty");
        }
        text
    }

    fn number(&mut self, name: &str) -> Option<f64> {
        if self.cell(name).is_none() {
            self.note(name, "is empty");
        }
        self.number_or_none(name)
    }

    fn text_or_none(&mut self, name: &str) -> Option<String> {
        self.cell(name).map(str::to_owned)
    }

    fn number_or_none(&mut self, name: &str) -> Option<f64> {
        let cell = self.cell(name)?;
        let number = cell.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() {
            let what = format!("expected a number, found {}", quoted(cell));
            self.note(name, &what);
        }
        number
    }

    fn note(&mut self, name: &str, what: &str) {
        self.problems.push(format!("{name}: {what}"));
    }
}

/// How the records of a kind of file are read.
pub(super) struct RecordFormat<F, T> {
    /// What problems call a record.
    pub(super) unit: &'static str,
    /// Columns that a table has to have.
    pub(super) columns: &'static [&'static str],
    /// Columns that it may have.
    pub(super) optional: &'static [&'static str],
    /// The fields of a record; `None` where one was noted.
    pub(super) fields: fn(&mut dyn RecordFields) -> Option<F>,
    /// The record that fields on a line make, or what is wrong with them together.
    pub(super) record: fn(u64, F) -> Result<T, String>,
}

impl<F, T> RecordFormat<F, T> {
    /// Reads a file whole: its records, and everything that is wrong with it. What starts with `{` or `[` is JSON Lines,
    /// everything else CSV with a header. `file` is what problems call the file.
    pub(super) fn read(&self, mut reader: impl Read, file: &str) -> (Vec<T>, Vec<Problem>) {
        let mut bytes = Vec::new();
        if let Err(error) = reader.read_to_end(&mut bytes) {
            let problem = Problem::new(file, None, &format!("cannot be read: {error}"));
            return (Vec::new(), vec![problem]);
        }
        let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        match bare.trim_ascii_start().first() {
            Some(b'{' | b'[') => self.read_lines(&bytes, file),
            None => {
                let columns = self.columns.join(", ");
                let what =
                    format!("is empty; expected JSON lines, or CSV with the columns {columns}");
                (Vec::new(), vec![Problem::new(file, None, &what)])
            }
            _ => self.read_table(bare, file),
        }
    }

    fn read_lines(&self, bytes: &[u8], file: &str) -> (Vec<T>, Vec<Problem>) {
        let (mut records, mut problems) = (Vec::new(), Vec::new());
        let parse = |line: &TextLine<'_>| {
            let fields = jsonl::record(line, self.unit, |mut object| (self.fields)(&mut object))?;
            let record = (self.record)(line.number, fields);
            record.map(Some).map_err(|what| vec![what])
        };
        for record in LineRecords::new(TextLines::new(bytes, file), parse) {
            match record {
                Ok(record) => records.push(record),
                Err(problem) => problems.push(problem),
            }
        }
        (records, problems)
    }

    fn read_table(&self, bytes: &[u8], file: &str) -> (Vec<T>, Vec<Problem>) {
        let (mut records, mut problems) = (Vec::new(), Vec::new());
        let mut lines = LineCount::new(bytes);
        let mut table = csv::Reader::from_reader(bytes);
        let columns: Vec<String> = match table.headers() {
            Ok(header) => header.iter().map(|name| name.trim().to_owned()).collect(),
            Err(error) => return (records, vec![broken(file, &mut lines, &error)]),
        };
        if let Some(what) = self.missing_columns(&columns) {
            return (records, vec![Problem::new(file, Some(1), &what)]);
        }
        for cells in table.records() {
            let cells = match cells {
                Ok(cells) => cells,
                Err(error) => {
                    problems.push(broken(file, &mut lines, &error));
                    continue;
                }
            };
            let line = cells.position().map_or(1, |at| lines.line_of(at));
            let mut row = TableRow {
                columns: &columns,
                cells: &cells,
                problems: Vec::new(),
            };
            let fields = (self.fields)(&mut row);
            let noted = row.problems;
            match fields.filter(|_| noted.is_empty()) {
                Some(fields) => match (self.record)(line, fields) {
                    Ok(record) => records.push(record),
                    Err(what) => problems.push(Problem::new(file, Some(line), &what)),
                },
                None => {
                    let noted = noted.iter();
                    problems.extend(noted.map(|what| Problem::new(file, Some(line), what)));
                }
            }
        }
        (records, problems)
    }

    fn missing_columns(&self, columns: &[String]) -> Option<String> {
        let missing = self.columns.iter();
        let missing = missing.filter(|name| !columns.iter().any(|column| column == *name));
        let missing: Vec<&str> = missing.copied().collect();
        (!missing.is_empty()).then(|| {
            format!(
                "has no column {}; the first line names the columns {} and perhaps {}",
                missing.join(", "),
                self.columns.join(", "),
                self.optional.join(" and ")
            )
        })
    }
}

/// Finds the lines of records, which are asked for in their order. The reader's own count is that of the line break before a
/// record, or of the blank lines before it.
struct LineCount<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> LineCount<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
        }
    }

    /// The line, from 1, of what follows the line breaks at this place.
    fn line_of(&mut self, position: &csv::Position) -> u64 {
        let from = position.byte() as usize;
        while let Some(byte) = self.bytes.get(self.at)
            && (self.at < from || matches!(byte, b'\r' | b'\n'))
        {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        self.line
    }
}

fn broken(file: &str, lines: &mut LineCount<'_>, error: &csv::Error) -> Problem {
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("has {len} cells where the header has {expected_len}"),
        csv::ErrorKind::Utf8 { .. } => "invalid UTF-8; save the file as UTF-8".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    let line = error.position().map(|at| lines.line_of(at));
    Problem::new(file, line, &what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[derive(Debug, PartialEq)]
    struct Reading {
        line: u64,
        name: String,
        value: f64,
        note: Option<String>,
        weight: Option<f64>,
    }

    const FORMAT: RecordFormat<(String, f64, Option<String>, Option<f64>), Reading> =
        RecordFormat {
            unit: "reading",
            columns: &["name", "value"],
            optional: &["note", "weight"],
            fields: |fields| {
                let (name, value) = (fields.text("name"), fields.number("value"));
                let note = fields.text_or_none("note");
                let weight = fields.number_or_none("weight");
                Some((name?, value?, note, weight))
            },
            record: |line, (name, value, note, weight)| match name == "nobody" {
                true => Err("is nobody's".to_owned()),
                false => Ok(Reading {
                    line,
                    name,
                    value,
                    note,
                    weight,
                }),
            },
        };

    fn read(text: &str) -> (Vec<Reading>, Vec<String>) {
        let (records, problems) = FORMAT.read(text.as_bytes(), "f");
        (records, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn lines_and_a_table_hold_the_same() {
        let (lines, none) = read(concat!(
            "\n",
            r#"{"name":"x","value":0.5,"note":"a, b","weight":null,"more":[1]}"#,
            "\n\n",
            r#"{"name":"y","value":-1,"note":" ","weight":2}"#
        ));
        assert_eq!(none, Vec::<String>::new());
        let (rows, none) = read(
            "\u{feff}more, value ,weight,name,note\r\n1,.5,,x,\"a, b\"\r\n\r\n,-1,2, y , \r\n",
        );
        assert_eq!(none, Vec::<String>::new());
        let numbers = |records: &[Reading]| records.iter().map(|of| of.line).collect::<Vec<_>>();
        assert_eq!((numbers(&lines), numbers(&rows)), (vec![2, 4], vec![2, 4]));
        assert_eq!(lines, rows);
        assert_eq!(
            (lines[1].note.as_deref(), lines[1].weight),
            (None, Some(2.0))
        );
    }

    #[rstest]
    #[case::column("name\nx", &["f:1: has no column value; the first line names the columns name, value and perhaps note and weight"])]
    #[case::every_field_of_a_row("name,value,weight\n,1e999,much", &[
        "f:2: name: is empty", "f:2: value: expected a number, found \"1e999\"", "f:2: weight: expected a number, found \"much\"",
    ])]
    #[case::every_field_of_a_line("{\"value\":\"1\"}", &[
        "f:1: name: is missing", "f:1: value: expected a number, found the string \"1\"; remove the quotes",
    ])]
    #[case::after_blank_lines("name,value\n\nx,1\n\n\nnobody,2\n", &["f:6: is nobody's"])]
    #[case::cells("name,value\nx,1\n\nx\ny,2", &["f:4: has 1 cells where the header has 2"])]
    #[case::spaces("name,value\r\nx,1\r\n  \r\ny\r\n", &["f:3: has 1 cells where the header has 2", "f:4: has 1 cells where the header has 2"])]
    #[case::after_a_cell_of_two_lines("name,value\n\"x\n\ny\",1\nz,\n", &["f:5: value: is empty"])]
    #[case::array("[{\"name\":\"x\"}]", &["f:1: expected an object, found an array; write one reading a line, without the brackets"])]
    #[case::empty("", &["f: is empty; expected JSON lines, or CSV with the columns name, value"])]
    fn everything_wrong_is_named_with_its_line(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(read(text).1, expected);
    }

    #[test]
    fn a_table_that_is_no_text_names_the_line() {
        let (records, problems) = FORMAT.read(&b"name,value\nx,1\n\xff,2\ny,3\n"[..], "f");
        assert_eq!(records.len(), 2);
        assert_eq!(
            problems[0].to_string(),
            "f:3: invalid UTF-8; save the file as UTF-8"
        );
    }
}
