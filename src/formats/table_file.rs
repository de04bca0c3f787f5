//! Writes tables as files: rows with named columns, as CSV, JSON Lines or Parquet. One list of
//! columns describes all three.

mod column;
#[cfg(feature = "parquet")]
mod parquet;

use super::csv_cell::SafeCsv;
use super::safe_json;
use clap::ValueEnum;
pub use column::{CellKind, Column};
#[cfg(feature = "parquet")]
use parquet::ParquetTable;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::io::{self, Write};

/// The format of a table. A header and cells that no spreadsheet evaluates as formulas are in CSV
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    Csv,
    /// An object a line, all columns on each
    Jsonl,
    /// Compressed with gzip; needs --out
    Parquet,
}

/// The error of a build that cannot write Parquet.
pub const WITHOUT_PARQUET: &str = "this overrule was built without Parquet; write .csv or .jsonl, \
                                   or build it with `cargo install --path . --features parquet`";

#[cfg(not(feature = "parquet"))]
fn without_parquet() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, WITHOUT_PARQUET)
}

impl TableFormat {
    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    /// Whether this build can write it.
    pub const fn is_available(self) -> bool {
        cfg!(feature = "parquet") || !matches!(self, Self::Parquet)
    }
}

/// A table that is being written.
pub struct TableWriter<'a> {
    rows: RowEncoder<'a>,
    sink: Sink<'a>,
}

enum Sink<'a> {
    Text(&'a mut (dyn Write + Send)),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetTable<'a>>),
}

/// Turns the rows of a table into what its file contains. Threads may share it.
#[derive(Clone, Copy, Debug)]
pub struct RowEncoder<'a> {
    columns: &'a [Column],
    format: TableFormat,
}

/// Rows that only need to be appended to their file.
#[derive(Debug)]
pub struct EncodedRows(Encoded);

#[derive(Debug)]
enum Encoded {
    Text(Vec<u8>),
    #[cfg(feature = "parquet")]
    Cells(Vec<Vec<Value>>),
}

impl<'a> RowEncoder<'a> {
    /// Encodes objects with a member for each column; missing members are null.
    pub fn encode(&self, rows: impl IntoIterator<Item = Value>) -> io::Result<EncodedRows> {
        let cells = rows.into_iter().map(|row| self.cells(row));
        Ok(EncodedRows(match self.format {
            TableFormat::Csv => {
                let mut table = SafeCsv::new(Vec::new());
                for cells in cells {
                    let texts = cells?.into_iter().map(|cell| match cell {
                        Value::Null => String::new(),
                        Value::String(text) => text,
                        other => other.to_string(),
                    });
                    table.row(texts).map_err(of_csv)?;
                }
                Encoded::Text(table.finish().map_err(of_csv)?)
            }
            TableFormat::Jsonl => {
                let mut text = Vec::new();
                for cells in cells {
                    let (columns, cells) = (self.columns, cells?);
                    safe_json::write_line(&mut text, &JsonRow { columns, cells })?;
                }
                Encoded::Text(text)
            }
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Encoded::Cells(cells.collect::<io::Result<_>>()?),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(without_parquet()),
        }))
    }

    /// One cell per column; rejects a row with other members.
    fn cells(&self, mut row: Value) -> io::Result<Vec<Value>> {
        let wrong = |what: &str| {
            let words = format!("a row that is not of the table's columns: {what}");
            Err(io::Error::other(words))
        };
        let Value::Object(members) = &mut row else {
            return wrong("no object");
        };
        let mut cells = Vec::with_capacity(self.columns.len());
        for column in self.columns {
            let cell = members.get_mut(column.name).map(Value::take);
            let cell = cell.unwrap_or_default();
            if !column.takes(&cell) {
                return wrong(column.name);
            }
            cells.push(cell);
        }
        let known = |name: &String| self.columns.iter().any(|column| column.name == name);
        match members.keys().find(|name| !known(name)) {
            Some(other) => wrong(other),
            None => Ok(cells),
        }
    }
}

/// A row as an object. Cells of JSON that are null are left out.
struct JsonRow<'a> {
    columns: &'a [Column],
    cells: Vec<Value>,
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_there =
            |(column, cell): &(&Column, &Value)| column.kind != CellKind::Json || !cell.is_null();
        let members = self.columns.iter().zip(&self.cells).filter(is_there);
        serializer.collect_map(members.map(|(column, cell)| (column.name, cell)))
    }
}

impl<'a> TableWriter<'a> {
    pub fn new(
        columns: &'a [Column],
        format: TableFormat,
        out: &'a mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let sink = match format {
            TableFormat::Csv => {
                let mut header = SafeCsv::new(&mut *out);
                header
                    .row(columns.iter().map(|column| column.name))
                    .map_err(of_csv)?;
                header.finish().map_err(of_csv)?;
                Sink::Text(out)
            }
            TableFormat::Jsonl => Sink::Text(out),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Sink::Parquet(Box::new(ParquetTable::new(columns, out)?)),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => return Err(without_parquet()),
        };
        let rows = RowEncoder { columns, format };
        Ok(Self { rows, sink })
    }

    /// The encoder of its rows, for threads that prepare them.
    pub fn encoder(&self) -> RowEncoder<'a> {
        self.rows
    }

    /// Writes an object with a member for each column; missing members are null.
    pub fn write(&mut self, row: Value) -> io::Result<()> {
        let encoded = self.rows.encode([row])?;
        self.append(encoded)
    }

    /// Writes rows of [`TableWriter::encoder`].
    pub fn append(&mut self, rows: EncodedRows) -> io::Result<()> {
        match (rows.0, &mut self.sink) {
            (Encoded::Text(text), Sink::Text(out)) => out.write_all(&text),
            #[cfg(feature = "parquet")]
            (Encoded::Cells(rows), Sink::Parquet(table)) => {
                rows.into_iter().try_for_each(|cells| table.write(cells))
            }
            #[cfg(feature = "parquet")]
            _ => Err(io::Error::other("rows of a table of another format")),
        }
    }

    /// Writes the remaining rows; without this call the file is incomplete.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Text(out) => out.flush(),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => table.finish(),
        }
    }
}

/// Unwraps I/O errors: the caller reports whether the disk is full.
fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests;
