use super::*;
use crate::suites::parquet_file::parquet_rows;
use serde_json::json;

const COLUMNS: [Column; 9] = [
    Column::text("id"),
    Column::of("prompt", CellKind::Messages),
    Column::number("target"),
    Column::number("se").or_null(),
    Column::text("note").or_null(),
    Column::whole("rank").or_null(),
    Column::flag("counts"),
    Column::of("asked", CellKind::Texts).or_null(),
    Column::of("about", CellKind::Json).or_null(),
];

fn row(at: usize) -> Value {
    let message = |number: usize| {
        let role = if number == 0 { "system" } else { "user" };
        let content = format!("π {at} {number} {}", "long ".repeat(9 * at));
        json!({"role": role, "content": content})
    };
    json!({
        "counts": at.is_multiple_of(3),
        "id": format!("=row {at}"),
        "prompt": (0..at % 3).map(message).collect::<Vec<_>>(),
        "target": at as f64 / 8.0,
        "se": at.is_multiple_of(2).then_some(0.25 * at as f64),
        "note": (!at.is_multiple_of(4)).then(|| "\u{1b}é,\n".repeat(at % 4 - 1)),
        "rank": (!at.is_multiple_of(5)).then_some(at as i64 - 7),
        "asked": (!at.is_multiple_of(4)).then(|| vec!["one", "two"][..at % 4 - 1].to_vec()),
    })
}

fn written(format: TableFormat, rows: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut table = TableWriter::new(&COLUMNS, format, &mut file).unwrap();
    rows.for_each(|row| table.write(row).unwrap());
    table.finish().unwrap();
    file
}

/// The rows of a Parquet file, as JSON.
fn read_back(file: &[u8]) -> Vec<Value> {
    let mut written = tempfile::NamedTempFile::new().unwrap();
    written.write_all(file).unwrap();
    parquet_rows(written.path()).0
}

#[test]
fn lines_and_parquet_hold_the_same() {
    let json = written(TableFormat::Jsonl, (0..50).map(row));
    let lines = String::from_utf8(json).unwrap();
    let mut lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line.get("about").is_none()));
    for line in &mut lines {
        line["about"] = Value::Null;
    }
    assert_eq!(lines.len(), 50);
    assert_eq!(lines[1]["prompt"][0]["role"], "system");
    assert!(lines[1]["se"].is_null() && lines[0]["prompt"] == json!([]));
    // Null, an empty list and a nonempty list are distinct.
    let asked = [0, 1, 2].map(|at| lines[at]["asked"].clone());
    assert_eq!(asked, [json!(null), json!([]), json!(["one"])]);
    assert!(lines[0]["note"].is_null() && lines[1]["note"] == "");
    let parquet = written(TableFormat::Parquet, (0..50).map(row));
    assert_eq!(read_back(&parquet), lines);
}

#[test]
fn what_has_no_kind_of_its_own_is_text_in_parquet() {
    let mut about = row(0);
    about["about"] = json!({"a": [1, null]});
    let found = read_back(&written(TableFormat::Parquet, std::iter::once(about)));
    assert_eq!(found[0]["about"], r#"{"a":[1,null]}"#);
}

#[test]
fn formulas_are_guarded_against_in_csv_alone() {
    let of = |format| written(format, std::iter::once(row(0)));
    let csv = String::from_utf8(of(TableFormat::Csv)).unwrap();
    assert_eq!(
        csv,
        "id,prompt,target,se,note,rank,counts,asked,about\n'=row 0,[],0.0,0.0,,,true,,\n"
    );
    assert_eq!(read_back(&of(TableFormat::Parquet))[0]["id"], "=row 0");
    let line: Value = serde_json::from_slice(&of(TableFormat::Jsonl)).unwrap();
    assert_eq!(line["id"], "=row 0");
}

#[test]
fn a_file_without_rows_is_whole() {
    let file = written(TableFormat::Parquet, std::iter::empty());
    assert_eq!(read_back(&file), Vec::<Value>::new());
}

#[test]
fn a_row_of_other_columns_is_refused() {
    let changed = |name: &str, value: Value| {
        let mut row = row(1);
        row[name] = value;
        row
    };
    for (wrong, name) in [
        (changed("target", Value::Null), "target"),
        (changed("rank", json!(0.5)), "rank"),
        (changed("counts", json!(1)), "counts"),
        (changed("asked", json!([1])), "asked"),
        (changed("prompt", json!([{"role": "user"}])), "prompt"),
        (changed("other", json!(1)), "other"),
    ] {
        let mut file = Vec::new();
        let mut table = TableWriter::new(&COLUMNS, TableFormat::Jsonl, &mut file).unwrap();
        let error = table.write(wrong).unwrap_err().to_string();
        assert!(error.ends_with(&format!(": {name}")), "{error}");
    }
}
