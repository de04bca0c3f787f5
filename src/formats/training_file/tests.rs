use super::*;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};

const COLUMNS: [Column; 4] = [
    ("id", ColumnKind::Text),
    ("prompt", ColumnKind::Messages),
    ("target", ColumnKind::Number),
    ("se", ColumnKind::OptionalNumber),
];

fn row(at: usize) -> Vec<Cell> {
    let message = |number: usize| Message {
        role: if number == 0 { "system" } else { "user" },
        content: format!("π {at} {number} {}", "long ".repeat(9 * at)),
    };
    vec![
        Cell::Text(format!("row {at}")),
        Cell::Messages((0..at % 3).map(message).collect()),
        Cell::from(at as f64 / 8.0),
        Cell::Number(at.is_multiple_of(2).then_some(0.25 * at as f64)),
    ]
}

/// The rows of a Parquet file, as JSON.
fn read_back(file: &[u8]) -> Vec<Value> {
    let mut written = tempfile::tempfile().unwrap();
    written.write_all(file).unwrap();
    let reader = SerializedFileReader::new(written).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| object(&row.unwrap())).collect()
}

fn object(row: &Row) -> Value {
    let members = row.get_column_iter();
    let members = members.map(|(name, field)| (name.clone(), value(field)));
    Value::Object(members.collect())
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => json!(text),
        Field::Double(number) => json!(number),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Group(row) => object(row),
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_forms_hold_the_same() {
    let (mut json, mut parquet) = (Vec::new(), Vec::new());
    let mut lines: Box<dyn TrainingRows> = Box::new(JsonRows::new(&COLUMNS, &mut json));
    let mut groups: Box<dyn TrainingRows> =
        Box::new(ParquetRows::new(&COLUMNS, &mut parquet).unwrap());
    for at in 0..50 {
        lines.write(row(at)).unwrap();
        groups.write(row(at)).unwrap();
    }
    lines.finish().unwrap();
    groups.finish().unwrap();
    let lines = String::from_utf8(json).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 50);
    assert_eq!(lines[1]["prompt"][0]["role"], "system");
    assert!(lines[1]["se"].is_null() && lines[0]["prompt"] == json!([]));
    assert_eq!(read_back(&parquet), lines);
}

#[test]
fn a_file_without_rows_is_whole() {
    let mut file = Vec::new();
    let rows = Box::new(ParquetRows::new(&COLUMNS, &mut file).unwrap());
    rows.finish().unwrap();
    assert_eq!(read_back(&file), Vec::<Value>::new());
}

#[test]
fn a_row_of_other_columns_is_refused() {
    let mut file = Vec::new();
    let mut rows = JsonRows::new(&COLUMNS, &mut file);
    assert!(rows.write(row(0)[1..].to_vec()).is_err());
    let mut mixed = row(0);
    mixed[2] = Cell::Number(None);
    assert!(rows.write(mixed).is_err());
}
