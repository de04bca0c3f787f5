//! Rows as a table for spreadsheets, or as JSON lines with all there is.

use crate::app::error::AppError;
use crate::app::output_file::{CSV, FileForm, JSON_LINES};
use crate::formats::csv_cell::SafeCsv;
use crate::formats::safe_json;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    Csv,
    /// An object a line.
    Jsonl,
}

impl RowFormat {
    /// The form that a file's name says: JSON lines where it ends so, else CSV.
    pub fn of_name(path: Option<&Path>) -> Self {
        match path.is_some_and(|path| JSON_LINES.names(path)) {
            true => Self::Jsonl,
            false => Self::Csv,
        }
    }

    pub(super) fn form(self) -> FileForm {
        match self {
            Self::Csv => CSV,
            Self::Jsonl => JSON_LINES,
        }
    }
}

pub struct RowWriter<'a, const N: usize> {
    columns: [&'static str; N],
    sink: RowSink<'a>,
}

enum RowSink<'a> {
    Csv(Box<SafeCsv<&'a mut dyn Write>>),
    Jsonl(&'a mut dyn Write),
}

impl<'a, const N: usize> RowWriter<'a, N> {
    /// Starts a table with these columns, or JSON lines.
    pub fn new(
        columns: [&'static str; N],
        format: RowFormat,
        out: &'a mut dyn Write,
    ) -> Result<Self, AppError> {
        let sink = match format {
            RowFormat::Jsonl => RowSink::Jsonl(out),
            RowFormat::Csv => {
                let mut table = SafeCsv::new(out);
                table.row(columns)?;
                RowSink::Csv(Box::new(table))
            }
        };
        Ok(Self { columns, sink })
    }

    /// Writes an object: nothing stands in the cell of a null.
    pub fn write(&mut self, row: &Value) -> Result<(), AppError> {
        let cell = |name: &str| match &row[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match &mut self.sink {
            RowSink::Csv(table) => table.row(self.columns.map(cell))?,
            RowSink::Jsonl(out) => safe_json::write_line(out, row)?,
        }
        Ok(())
    }

    /// Writes what is still buffered.
    pub fn finish(self) -> Result<(), AppError> {
        if let RowSink::Csv(table) = self.sink {
            table.finish()?;
        }
        Ok(())
    }
}
