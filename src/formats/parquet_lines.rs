//! Reads a Parquet file as JSON lines: an object a row. Every reader of JSON lines thereby reads
//! Parquet.

use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};

/// Number of days before and after 1970 whose moments the library can write: it panics some years
/// beyond them.
const DAYS: i64 = 36_000_000;

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
            let entries = entries.map(|(key, field)| (name(key), value(field)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Field::Date(days) if !is_writable(i64::from(*days), 1) => Value::from(*days),
        Field::TimestampMillis(ms) if !is_writable(*ms, 86_400_000) => Value::from(*ms),
        Field::TimestampMicros(us) if !is_writable(*us, 86_400_000_000) => Value::from(*us),
        // Dates, decimals and bytes, as text.
        other => Value::from(other.to_string()),
    }
}

/// The name of a member from the key of a map.
fn name(key: &Field) -> String {
    match value(key) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Whether the library can write a moment, given in these units since 1970, as text.
fn is_writable(moment: i64, units_per_day: i64) -> bool {
    (moment / units_per_day).abs() < DAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_that_the_library_cannot_write_are_numbers() {
        assert_eq!(value(&Field::Date(1)), Value::from("1970-01-02"));
        assert_eq!(value(&Field::Date(i32::MAX)), Value::from(i32::MAX));
        for moment in [i64::MIN, i64::MAX] {
            let (ms, us) = (
                Field::TimestampMillis(moment),
                Field::TimestampMicros(moment),
            );
            assert_eq!(value(&ms), Value::from(moment));
            assert_eq!(value(&us), Value::from(moment));
        }
    }

    #[test]
    fn the_key_of_a_map_is_not_quoted() {
        assert_eq!(name(&Field::Str("price".to_owned())), "price");
        assert_eq!(name(&Field::Int(7)), "7");
    }
}
