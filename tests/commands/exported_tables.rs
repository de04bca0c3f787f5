//! `export` of tables: CSV, JSON lines and Parquet have the same rows and columns.

use crate::duels::{answer, choosing, duel, table};
use crate::ruling::picked;
use crate::students::{PREDICTIONS, judged};
use crate::support::Sandbox;
use crate::support::parquet::{is_near, parquet_rows};
use serde_json::Value;

/// Exports a table in its three forms and compares them; returns its rows and the columns of the
/// Parquet file with their types.
pub(crate) fn same_in_all(sandbox: &Sandbox, what: &str) -> (Vec<Value>, Vec<String>) {
    for name in ["t.csv", "t.jsonl", "t.parquet"] {
        sandbox.done(&format!("export {what} --out {name}"));
    }
    let (rows, columns) = parquet_rows(&sandbox.path("t.parquet"));
    let lines = sandbox.read("t.jsonl");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            // The pool of a query is no column of a table.
            row.as_object_mut().unwrap().remove("pool");
            row
        })
        .collect();
    assert!(!rows.is_empty(), "{what}");
    assert_eq!(rows.len(), lines.len(), "{what}");
    let differ = |(row, line): &(&Value, &Value)| !is_near(row, line);
    assert_eq!(rows.iter().zip(&lines).find(differ), None, "{what}");
    let cells = table(&sandbox.read("t.csv"));
    assert_eq!(cells.len(), rows.len(), "{what}");
    for (row, cells) in rows.iter().zip(&cells) {
        let values = row.as_object().unwrap().values();
        assert_eq!(values.len(), cells.len());
        for (value, cell) in values.zip(cells) {
            match value {
                Value::Null => assert_eq!(cell, ""),
                // A formula is guarded against in CSV alone.
                Value::String(text) => assert_eq!(cell.trim_start_matches('\''), text),
                Value::Number(number) => {
                    let read: f64 = cell.parse().unwrap();
                    assert!((read - number.as_f64().unwrap()).abs() < 1e-9);
                }
                other => assert_eq!(cell, other.to_string()),
            }
        }
    }
    let plain = columns.iter().map(|column| column.replace('"', ""));
    (rows, plain.collect())
}

#[test]
fn votes_verdicts_and_predictions_are_the_same_in_all_forms() {
    let sandbox = judged();
    sandbox.done(&[
        "override",
        "--query",
        "q1",
        "--a",
        "q1-d0",
        "--b",
        "q1-d1",
        "--verdict",
        "a",
        "--note",
        "=1+1",
    ]);
    sandbox.write("p.csv", PREDICTIONS);
    sandbox.done("student import p.csv --name llama --step 7");
    let (votes, columns) = same_in_all(&sandbox, "votes");
    assert!(votes.iter().all(|row| row["counts"] == true));
    let expected = [
        "game INT64",
        "counts BOOLEAN",
        "margin DOUBLE",
        "failure BYTE_ARRAY",
        "asked.list.element BYTE_ARRAY",
    ];
    for column in expected {
        assert!(columns.contains(&column.to_owned()), "{columns:?}");
    }
    let (verdicts, _) = same_in_all(&sandbox, "verdicts");
    assert_eq!(verdicts[0]["note"], "=1+1");
    assert!(sandbox.read("t.csv").contains(",'=1+1,"));
    let (predictions, columns) = same_in_all(&sandbox, "predictions --student llama");
    assert_eq!(predictions.len(), 4);
    assert_eq!(predictions[0]["step"], 7);
    let types =
        ["BYTE_ARRAY", "DOUBLE"].map(|kind| columns.iter().filter(|of| of.ends_with(kind)).count());
    assert_eq!(types, [3, 3]);
    // Of one query alone, as in the other forms.
    let (some, _) = same_in_all(&sandbox, "votes --query q1");
    assert!(some.len() < votes.len() && some.iter().all(|row| row["query"] == "q1"));
    sandbox.refused(
        "export votes --format parquet",
        2,
        &["Parquet is binary: expected a file, with --out FILE"],
    );
    sandbox.refused(
        "export votes --out v.parquet.gz",
        2,
        &[
            "v.parquet.gz: Parquet files are already compressed",
            "without .gz",
        ],
    );
}

#[test]
fn rulings_and_duels_are_the_same_in_all_forms() {
    let sandbox = picked();
    sandbox
        .done("rule --query 2 --document d3 --ruling relevant --cause label-missing --note =1+1");
    let (rulings, _) = same_in_all(&sandbox, "rulings");
    assert_eq!(
        (&rulings[0]["note"], &rulings[0]["before"]),
        (&"=1+1".into(), &Value::Null)
    );
    let (sandbox, made) = duel();
    answer(&sandbox, "ada", &choosing(&made, "top-of-a"));
    let (judged, _) = same_in_all(&sandbox, "duel");
    assert!(
        judged
            .iter()
            .any(|row| row["selected"] == true && row["end"] == 5)
    );
    let (events, _) = same_in_all(&sandbox, "duel --form events");
    assert!(events.len() > 8);
    let whole = std::fs::read(sandbox.path("t.parquet")).unwrap();
    sandbox.done("duel --export d.parquet --form events");
    assert_eq!(std::fs::read(sandbox.path("d.parquet")).unwrap(), whole);
}
