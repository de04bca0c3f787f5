//! Reads a Parquet file as JSON lines: an object a row. Every reader of JSON lines thereby reads
//! Parquet.

use crate::domain::caught_panic::catch_panic;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Value};
use std::fmt::Display;
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
        Ok(Self {
            rows: guarded(|| Ok(SerializedFileReader::new(file)?.into_iter()))?,
            line: Vec::new(),
            read: 0,
        })
    }

    /// The columns of a file, and its number of rows.
    pub(super) fn describe(file: File) -> io::Result<(Type, u64)> {
        guarded(|| {
            let reader = SerializedFileReader::new(file)?;
            let about = reader.metadata().file_metadata();
            Ok((
                about.schema().clone(),
                about.num_rows().max(0).unsigned_abs(),
            ))
        })
    }
}

impl Read for ParquetLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() {
            let line = guarded(|| self.rows.next().map(|row| Ok(line(&row?))).transpose())?;
            let Some(line) = line else {
                return Ok(0);
            };
            (self.line, self.read) = (line, 0);
        }
        let mut rest = self.line.get(self.read..).unwrap_or_default();
        let read = rest.read(into)?;
        self.read += read;
        Ok(read)
    }
}

/// Reads with the library, which panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    match catch_panic(read) {
        Ok(read) => read.map_err(unreadable),
        Err(panic) => Err(unreadable(panic)),
    }
}

fn unreadable(why: impl Display) -> io::Error {
    let what = format!("is Parquet that cannot be read: {why}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A row as a line of JSON.
fn line(row: &Row) -> Vec<u8> {
    let mut line = object(row).to_string().into_bytes();
    line.push(b'\n');
    line
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
        Field::Float16(number) => Value::from(f32::from(*number)),
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
    use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::io::Write;
    use std::sync::Arc;

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

    /// A file with one column and these values of two bytes.
    fn file_of(column: &str, values: &[[u8; 2]]) -> Vec<u8> {
        let schema = parse_message_type(&format!("message row {{ {column} }}")).unwrap();
        let mut bytes = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<FixedLenByteArray> = values
            .iter()
            .map(|value| FixedLenByteArray::from(value.to_vec()))
            .collect();
        column
            .typed::<FixedLenByteArrayType>()
            .write_batch(&values, None, None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        bytes
    }

    fn lines_of(bytes: &[u8]) -> io::Result<String> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        let mut text = String::new();
        ParquetLines::new(file)?.read_to_string(&mut text)?;
        Ok(text)
    }

    const HALVES: &str = "required fixed_len_byte_array(2) score (FLOAT16);";

    #[test]
    fn half_precision_numbers_are_numbers() {
        let bytes = file_of(HALVES, &[[0x00, 0x38], [0x00, 0xc2], [0x00, 0x7e]]);
        let expected = "{\"score\":0.5}\n{\"score\":-3.0}\n{\"score\":null}\n";
        assert_eq!(lines_of(&bytes).unwrap(), expected);
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic() {
        let whole = file_of(HALVES, &[[0x00, 0x38]; 9]);
        let mut refused = 0;
        for at in 0..whole.len() {
            for value in [0x00, 0x15, 0x7f, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                if let Err(error) = lines_of(&damaged) {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0);
    }

    #[test]
    fn the_key_of_a_map_is_not_quoted() {
        assert_eq!(name(&Field::Str("price".to_owned())), "price");
        assert_eq!(name(&Field::Int(7)), "7");
    }
}
