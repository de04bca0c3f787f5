//! Reads the rows of a table as JSON objects, so that tables and JSON lines share one parser.

use super::columns::{decimal_comma, refused_delimiter};
use super::json::ValueError;
use super::lines::{RestOfFile, TextLine, TextLines};
use super::own_tables::has_all;
use super::problem::{Problem, quoted};
use super::table_file::{CellKind, Column};
use super::table_rows::{CellStyle, TableRows};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::io::BufRead;

/// The columns of a kind of table.
#[derive(Debug)]
pub(crate) struct TableSchema {
    pub(super) columns: &'static [Column],
    /// The columns that a table must have.
    pub(super) required: &'static [&'static str],
    /// Whether Overrule writes such tables, which then have all columns.
    pub(super) is_own: bool,
    /// The member with all other columns, an object of texts and nulls; `None` to ignore them.
    pub(super) others: Option<&'static str>,
}

/// A column of a file.
enum FileColumn {
    Known(KnownColumn),
    Other(String),
}

struct KnownColumn {
    name: &'static str,
    kind: CellKind,
    may_be_empty: bool,
}

/// An iterator over the rows of a table, each as the text of an object.
pub(super) struct TableObjects<R> {
    rows: TableRows<R>,
    columns: Vec<FileColumn>,
    /// See [`TableSchema::others`].
    others: Option<&'static str>,
    object: Vec<u8>,
}

impl<R: BufRead> TableObjects<RestOfFile<R>> {
    /// The rows after the header, which is the line read last.
    pub(super) fn new(lines: TextLines<R>, schema: &TableSchema) -> Result<Self, Problem> {
        let (file, line) = (lines.file().to_owned(), lines.number());
        let rest = lines.into_rest();
        let (first, _) = rest.get_ref();
        let header = String::from_utf8_lossy(first.get_ref()).into_owned();
        let wrong = |what: &dyn fmt::Display| Problem::new(&file, Some(line), what);
        let cells = |delimiter| {
            let mut rows = TableRows::new(
                header.as_bytes(),
                &file,
                line,
                delimiter,
                CellStyle::Trimmed,
            );
            let row = rows.next().and_then(Result::ok);
            row.map_or_else(Vec::new, |row| row.cells().map(str::to_owned).collect())
        };
        let missing = |cells: &[String]| -> Vec<&str> {
            let names = schema.required.iter().copied();
            names
                .filter(|name| !cells.iter().any(|cell| cell == name))
                .collect()
        };
        let (by_tab, by_comma) = (cells(b'\t'), cells(b','));
        let (delimiter, names) = if missing(&by_tab).is_empty() {
            (b'\t', by_tab)
        } else {
            (b',', by_comma)
        };
        let missing = missing(&names);
        if !missing.is_empty() {
            let is_header =
                |cells: &[&str]| Ok(schema.required.iter().all(|name| cells.contains(name)));
            refused_delimiter(header.trim(), is_header).map_err(|error| wrong(&error))?;
            return Err(wrong(&schema.lacks(&missing)));
        }
        let header: Vec<&str> = names.iter().map(String::as_str).collect();
        let is_own = schema.is_own
            && delimiter == b','
            && has_all(&header, schema.columns.iter().map(|column| column.name));
        let style = if is_own {
            CellStyle::Ours
        } else {
            CellStyle::Trimmed
        };
        let known = |name: &String| {
            let column = schema.columns.iter().find(|column| column.name == name)?;
            Some(KnownColumn {
                name: column.name,
                kind: column.kind,
                may_be_empty: column.is_optional || !schema.required.contains(&column.name),
            })
        };
        let columns = names.iter().map(|name| match known(name) {
            Some(column) => FileColumn::Known(column),
            None => FileColumn::Other(name.clone()),
        });
        let columns = columns.collect();
        let twice = (1..)
            .zip(&names)
            .find(|(next, name)| names[*next..].contains(name));
        let is_read = |name| schema.others.is_some() || known(name).is_some();
        if let Some((_, name)) = twice.filter(|(_, name)| is_read(name)) {
            return Err(wrong(&format!(
                "has two columns {name}; remove or rename one of them"
            )));
        }
        let mut rows = TableRows::new(rest, &file, line, delimiter, style);
        // Skip the header.
        rows.next();
        Ok(Self {
            rows,
            columns,
            others: schema.others,
            object: Vec::new(),
        })
    }
}

impl<R: BufRead> TableObjects<R> {
    /// The line on which the last row starts.
    pub(super) fn number(&self) -> u64 {
        self.rows.number()
    }

    /// A problem with the last row.
    pub(super) fn problem(&self, message: impl fmt::Display) -> Problem {
        self.rows.problem(message)
    }

    /// The next row, or all of its problems.
    pub(super) fn next(&mut self) -> Option<Result<TextLine<'_>, Vec<Problem>>> {
        let object = match self.rows.next()? {
            Ok(row) => object(&self.columns, self.others, &row.cells().collect::<Vec<_>>()),
            Err(problem) => return Some(Err(vec![problem])),
        };
        Some(match object {
            Ok(object) => {
                self.object = Value::Object(object).to_string().into_bytes();
                Ok(TextLine {
                    number: self.rows.number(),
                    bytes: &self.object,
                    last: false,
                })
            }
            Err(wrong) => Err(wrong.iter().map(|what| self.rows.problem(what)).collect()),
        })
    }
}

impl TableSchema {
    fn lacks(&self, missing: &[&str]) -> String {
        let optional: Vec<&str> = self
            .columns
            .iter()
            .map(|column| column.name)
            .filter(|name| !self.required.contains(name))
            .collect();
        let optional = match optional.len() {
            0..=3 if self.others.is_none() => optional.join(" and "),
            _ => "others".to_owned(),
        };
        format!(
            "has no column {}; the first line names the columns {} and optionally {optional}",
            missing.join(", "),
            self.required.join(", "),
        )
    }
}

/// A row as an object, or all of its problems.
fn object(
    columns: &[FileColumn],
    others: Option<&str>,
    cells: &[&str],
) -> Result<Map<String, Value>, Vec<String>> {
    if cells.len() != columns.len() {
        let noun = if cells.len() == 1 { "cell" } else { "cells" };
        return Err(vec![format!(
            "has {} {noun} where the header has {}",
            cells.len(),
            columns.len()
        )]);
    }
    let (mut object, mut other, mut wrong) = (Map::new(), Map::new(), Vec::new());
    for (column, cell) in columns.iter().zip(cells) {
        let column = match column {
            FileColumn::Known(column) => column,
            FileColumn::Other(_) if others.is_none() => continue,
            FileColumn::Other(name) => {
                let value = Some(*cell).filter(|cell| !cell.trim().is_empty());
                other.insert(name.clone(), Value::from(value));
                continue;
            }
        };
        let value = match (cell.trim().is_empty(), column.may_be_empty) {
            (true, true) => continue,
            (true, false) => Err(ValueError::Empty),
            (false, _) => value(column.kind, cell),
        };
        match value {
            Ok(value) => drop(object.insert(column.name.to_owned(), value)),
            Err(what) => wrong.push(format!("{}: {what}", column.name)),
        }
    }
    if let Some(name) = others {
        object.insert(name.to_owned(), Value::Object(other));
    }
    if wrong.is_empty() {
        Ok(object)
    } else {
        Err(wrong)
    }
}

fn value(kind: CellKind, cell: &str) -> Result<Value, ValueError> {
    let expected = |what| {
        let found = format!("{}{}", quoted(cell), decimal_comma(cell));
        ValueError::expected(what, found)
    };
    match kind {
        CellKind::Text => Ok(Value::from(cell)),
        CellKind::Whole | CellKind::Time | CellKind::Number => match cell.parse::<i64>() {
            Ok(whole) => Ok(Value::from(whole)),
            Err(_) => {
                let number = cell.parse::<f64>().ok().and_then(Number::from_f64);
                number
                    .map(Value::Number)
                    .ok_or_else(|| expected("a number"))
            }
        },
        CellKind::Flag => match cell {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(expected("true or false")),
        },
        CellKind::Texts | CellKind::Messages | CellKind::Json => {
            serde_json::from_str(cell).map_err(|_| expected("JSON"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    static SCHEMA: TableSchema = TableSchema {
        columns: &[
            Column::text("name"),
            Column::number("value"),
            Column::flag("is_new"),
            Column::of("parts", CellKind::Texts).or_null(),
        ],
        required: &["name", "value"],
        is_own: true,
        others: None,
    };

    fn objects(text: &str) -> Vec<Result<String, Vec<String>>> {
        let mut lines = TextLines::new(text.as_bytes(), "f");
        lines.next().unwrap().unwrap();
        let mut table = match TableObjects::new(lines, &SCHEMA) {
            Ok(table) => table,
            Err(problem) => return vec![Err(vec![problem.to_string()])],
        };
        let mut found = Vec::new();
        while let Some(row) = table.next() {
            let told = |problems: Vec<Problem>| problems.iter().map(Problem::to_string).collect();
            let object = |line: TextLine<'_>| {
                let text = std::str::from_utf8(line.bytes).unwrap();
                format!("{} {text}", line.number)
            };
            found.push(row.map(object).map_err(told));
        }
        found
    }

    #[rstest]
    #[case::comma("\nmore, value ,name\n1,.5,\" x\"\n\n ,-2, y \r\n", &["3 {\"value\":0.5,\"name\":\" x\"}", "5 {\"value\":-2,\"name\":\"y\"}"])]
    #[case::tab("name\tvalue\tis_new\na, b\t1\ttrue\n", &["2 {\"name\":\"a, b\",\"value\":1,\"is_new\":true}"])]
    #[case::own("name,value,is_new,parts\n'=x ,1,,\"[\"\"p\"\"]\"\n", &["2 {\"name\":\"=x \",\"value\":1,\"parts\":[\"p\"]}"])]
    #[case::own_in_another_order("more,value,parts,is_new,name\n,1,,,'=x\n", &["2 {\"value\":1,\"name\":\"=x\"}"])]
    #[case::not_own("value,name\n1,'=x\n", &["2 {\"value\":1,\"name\":\"'=x\"}"])]
    fn rows_are_objects(#[case] text: &str, #[case] expected: &[&str]) {
        let found: Vec<String> = objects(text).into_iter().map(Result::unwrap).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::column("name\nx", &["f:1: has no column value; the first line names the columns name, \
                                 value and optionally is_new and parts"])]
    #[case::semicolons("name;value\nx;1,5\n", &["f:1: has semicolons between its cells; save it \
                                                 with commas or tabs between them, and with \
                                                 decimal points"])]
    #[case::twice("name,value,name\nx,1,y\n", &["f:1: has two columns name; remove or rename one \
                                                 of them"])]
    #[case::every_cell("name,value,parts\n,1e999,x", &[
        "f:2: name: is empty", "f:2: value: expected a number, found \"1e999\"", "f:2: parts: expected JSON, found \"x\"",
    ])]
    #[case::decimal_comma("name,value\nx,\"1,5\"\n", &["f:2: value: expected a number, \
                                                        found \"1,5\"; write it with a decimal \
                                                        point: 1.5"])]
    #[case::width("name,value\nx\n\nx,1,2\n", &["f:2: has 1 cell where the header has 2", "f:4: has 3 cells where the header has 2"])]
    #[case::open("name,value\n\"x,1\n", &["f:2: a quoted cell of this row is never closed; add the \
                                           missing quote"])]
    fn what_is_wrong_is_named_with_its_line(#[case] text: &str, #[case] expected: &[&str]) {
        let told: Vec<String> = objects(text)
            .into_iter()
            .filter_map(Result::err)
            .flatten()
            .collect();
        assert_eq!(told, expected);
    }
}
