//! Reads a Parquet file as JSON lines: an object a row. Every reader of JSON lines thereby reads
//! Parquet.

use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};

/// The rows of a file as text, with one of them in memory at a time.
pub(super) struct ParquetLines {
    rows: RowIter<'static>,
    line: Vec<u8>,
    /// Number of bytes of the line that were read.
    read: usize,
}

impl ParquetLines {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let rows = SerializedFileReader::new(file).map_err(|error| unreadable(&error))?;
        Ok(Self {
            rows: rows.into_iter(),
            line: Vec::new(),
            read: 0,
        })
    }
}

impl Read for ParquetLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() {
            let Some(row) = self.rows.next() else {
                return Ok(0);
            };
            let row = row.map_err(|error| unreadable(&error))?;
            self.line = object(&row).to_string().into_bytes();
            self.line.push(b'\n');
            self.read = 0;
        }
        let mut rest = self.line.get(self.read..).unwrap_or_default();
        let read = rest.read(into)?;
        self.read += read;
        Ok(read)
    }
}

fn unreadable(error: &ParquetError) -> io::Error {
    let what = format!("is Parquet that cannot be read: {error}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn object(row: &Row) -> Value {
    let members = row.get_column_iter();
    Value::Object(
        members
            .map(|(name, field)| (name.clone(), value(field)))
            .collect(),
    )
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => Value::from(*flag),
        Field::Byte(number) => Value::from(*number),
        Field::Short(number) => Value::from(*number),
        Field::Int(number) => Value::from(*number),
        Field::Long(number) => Value::from(*number),
        Field::UByte(number) => Value::from(*number),
        Field::UShort(number) => Value::from(*number),
        Field::UInt(number) => Value::from(*number),
        Field::ULong(number) => Value::from(*number),
        Field::Float(number) => Value::from(*number),
        Field::Double(number) => Value::from(*number),
        Field::Str(text) => Value::from(text.as_str()),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|(key, field)| (key.to_string(), value(field)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        // Dates, decimals and bytes, as text.
        other => Value::from(other.to_string()),
    }
}
