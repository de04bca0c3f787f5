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
use serde_json::{Map, Value};
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
    columns: &'a [Column],
    sink: Sink<'a>,
}

enum Sink<'a> {
    Csv(Box<SafeCsv<&'a mut (dyn Write + Send)>>),
    Jsonl(&'a mut (dyn Write + Send)),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetTable<'a>>),
}

impl<'a> TableWriter<'a> {
    pub fn new(
        columns: &'a [Column],
        format: TableFormat,
        out: &'a mut (dyn Write + Send),
    ) -> io::Result<Self> {
        let sink = match format {
            TableFormat::Csv => {
                let mut table = SafeCsv::new(out);
                table
                    .row(columns.iter().map(|column| column.name))
                    .map_err(of_csv)?;
                Sink::Csv(Box::new(table))
            }
            TableFormat::Jsonl => Sink::Jsonl(out),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Sink::Parquet(Box::new(ParquetTable::new(columns, out)?)),
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, WITHOUT_PARQUET));
            }
        };
        Ok(Self { columns, sink })
    }

    /// Writes an object with a member for each column; missing members are null.
    pub fn write(&mut self, row: Value) -> io::Result<()> {
        let cells = self.cells(row)?;
        match &mut self.sink {
            Sink::Csv(table) => {
                let cells = cells.into_iter().map(|cell| match cell {
                    Value::Null => String::new(),
                    Value::String(text) => text,
                    other => other.to_string(),
                });
                table.row(cells).map_err(of_csv)
            }
            Sink::Jsonl(out) => {
                let is_there = |(column, cell): &(&Column, Value)| {
                    column.kind != CellKind::Json || !cell.is_null()
                };
                let object: Map<String, Value> = self
                    .columns
                    .iter()
                    .zip(cells)
                    .filter(is_there)
                    .map(|(column, cell)| (column.name.to_owned(), cell))
                    .collect();
                safe_json::write_line(*out, &object)
            }
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => table.write(cells),
        }
    }

    /// Writes the remaining rows; without this call the file is incomplete.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Csv(table) => table.finish().map(drop).map_err(of_csv),
            Sink::Jsonl(out) => out.flush(),
            #[cfg(feature = "parquet")]
            Sink::Parquet(table) => table.finish(),
        }
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
