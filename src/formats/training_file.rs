//! Files that models are trained on: rows under named columns, as JSON Lines or as Parquet, the same in both.

mod parquet;

use super::safe_json;
pub use parquet::ParquetRows;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Number,
    /// A number, or null.
    OptionalNumber,
    /// Messages of a conversation, each with the texts `role` and `content`.
    Messages,
}

/// A name with what stands under it.
pub type Column = (&'static str, ColumnKind);

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    /// `None` only in columns of [`ColumnKind::OptionalNumber`].
    Number(Option<f64>),
    Messages(Vec<Message>),
}

/// What one side of a conversation says.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: &'static str,
    pub content: String,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(Some(number))
    }
}

impl Cell {
    fn json(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text),
            Self::Number(number) => json!(number),
            Self::Messages(messages) => messages
                .into_iter()
                .map(|message| json!({"role": message.role, "content": message.content}))
                .collect(),
        }
    }
}

/// A file that rows are written to, one cell for each of its columns, in their order.
pub trait TrainingRows {
    fn write(&mut self, row: Vec<Cell>) -> io::Result<()>;

    /// Writes what is left; without it a file is not whole.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// An object a row.
pub struct JsonRows<'a> {
    columns: &'a [Column],
    out: &'a mut (dyn Write + Send),
}

impl<'a> JsonRows<'a> {
    pub fn new(columns: &'a [Column], out: &'a mut (dyn Write + Send)) -> Self {
        Self { columns, out }
    }
}

impl TrainingRows for JsonRows<'_> {
    fn write(&mut self, row: Vec<Cell>) -> io::Result<()> {
        check(self.columns, &row)?;
        let names = self.columns.iter().map(|(name, _)| (*name).to_owned());
        let object: Map<String, Value> = names.zip(row.into_iter().map(Cell::json)).collect();
        safe_json::write_line(self.out, &object)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// Refuses a row that is not of these columns.
fn check(columns: &[Column], row: &[Cell]) -> io::Result<()> {
    let fits = |((_, kind), cell): (&Column, &Cell)| {
        matches!(
            (kind, cell),
            (ColumnKind::Text, Cell::Text(_))
                | (ColumnKind::Number, Cell::Number(Some(_)))
                | (ColumnKind::OptionalNumber, Cell::Number(_))
                | (ColumnKind::Messages, Cell::Messages(_))
        )
    };
    match columns.len() == row.len() && columns.iter().zip(row).all(fits) {
        true => Ok(()),
        false => Err(io::Error::other("a row that is not of the file's columns")),
    }
}

#[cfg(test)]
mod tests;
