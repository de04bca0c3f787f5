//! Parquet files as tests read them.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};

/// The rows of a Parquet file as JSON, and its columns with their types.
pub(crate) fn parquet_rows(path: &std::path::Path) -> (Vec<Value>, Vec<String>) {
    let file = std::fs::File::open(path).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter();
    let columns = columns.map(|column| format!("{} {}", column.path(), column.physical_type()));
    let columns = columns.collect();
    let rows = reader.get_row_iter(None).unwrap();
    (rows.map(|row| object(&row.unwrap())).collect(), columns)
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
        Field::Bool(flag) => json!(flag),
        Field::Str(text) => json!(text),
        Field::Long(number) | Field::TimestampMillis(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Group(row) => object(row),
        other => panic!("{other:?}"),
    }
}

/// Whether two values are the same, but for the last digits of numbers, which reading them as text
/// may change.
pub(crate) fn is_near(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(x), Value::Number(y)) => {
            (x.as_f64().unwrap() - y.as_f64().unwrap()).abs() < 1e-12
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_near(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            let both = x.iter().zip(y);
            x.len() == y.len()
                && both
                    .into_iter()
                    .all(|((a, x), (b, y))| a == b && is_near(x, y))
        }
        (x, y) => x == y,
    }
}
