//! `export` of tables: CSV, JSON lines and Parquet have the same rows and columns.

use crate::duels::{answer, choosing, duel, table};
use crate::ruling::picked;
use crate::students::{PREDICTIONS, judged};
use crate::support::parquet::{is_near, parquet_rows};
use crate::support::{Sandbox, benchmark};
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

/// The tables of a folder with their columns, without types.
fn folder(sandbox: &Sandbox, name: &str, table: &str) -> (Vec<Value>, Vec<String>) {
    let (rows, columns) = parquet_rows(&sandbox.path(&format!("{name}/{table}.parquet")));
    let names = columns.iter().map(|column| column.replace('"', ""));
    let names = names.map(|column| column.split(' ').next().unwrap().to_owned());
    (rows, names.collect())
}

#[test]
fn a_project_is_a_folder_of_tables_before_and_after_picks() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.done("pool build --beir beir --depth 4 --run-out bm25.trec");
    sandbox.done("import bm25.trec --name bm25");
    sandbox
        .done("export tables --out tables")
        .says("wrote tables");
    for (table, columns) in [
        ("docs", "doc_id title text"),
        ("queries", "query_id text"),
        ("qrels", "query_id doc_id relevance iteration"),
        ("candidates", "query_id doc_id rank source"),
        ("judge_set", "query_id doc_id slot source"),
        (
            "judge_items_for_llm",
            "query_id query_text n_rel doc_id title text slot",
        ),
        (
            "ollama_picks",
            "query_id slot doc_id model prompt_v created_at judge permutation",
        ),
        (
            "eval_per_query",
            "query_id n_rel n_rel_retrieved recall_at_10 mrr_at_10 source",
        ),
        (
            "eval_summary",
            "avg_recall_at_10 avg_mrr_at_10 n_queries source",
        ),
    ] {
        let (rows, found) = folder(&sandbox, "tables", table);
        assert_eq!(found.join(" "), columns, "{table}");
        assert_eq!(rows.is_empty(), table == "ollama_picks", "{table}");
    }
    for table in ["votes", "verdicts", "rulings"] {
        assert!(folder(&sandbox, "tables", table).0.is_empty());
    }
    let views = sandbox.read("tables/views.sql");
    assert!(
        views.contains(
            "CREATE OR REPLACE VIEW eval_summary AS SELECT * FROM 'eval_summary.parquet';"
        )
    );
    // The metrics are those of `evaluate`.
    sandbox.done("export qrels --out q.qrels");
    let found = sandbox
        .json("evaluate q.qrels bm25.trec --metrics recall@10,mrr@10 --count-missing --json");
    let (summary, _) = folder(&sandbox, "tables", "eval_summary");
    assert_eq!(
        summary[0]["avg_recall_at_10"],
        found["metrics"]["recall@10"]["mean"]
    );
    assert_eq!(
        summary[0]["avg_mrr_at_10"],
        found["metrics"]["mrr@10"]["mean"]
    );
    assert_eq!(summary[0]["source"], "bm25");
    // Before there is a pick, the table by query has the first stage.
    sandbox.done("adjudication --csv before.csv");
    let rows = table(&sandbox.read("before.csv"));
    let (mut per_query, _) = folder(&sandbox, "tables", "eval_per_query");
    per_query.retain(|row| row["source"] == "bm25");
    assert_eq!(rows.len(), per_query.len());
    for row in &rows {
        let expected = per_query.iter().find(|one| one["query_id"] == row[0]);
        let expected = expected.unwrap()["recall_at_10"].as_f64().unwrap();
        assert!((row[3].parse::<f64>().unwrap() - expected).abs() < 1e-12);
        assert_eq!(&row[5], "", "no judge");
    }
    sandbox.done("pick --judges bm25");
    sandbox.done("export tables --out tables");
    let (picks, _) = folder(&sandbox, "tables", "ollama_picks");
    let (judge_set, _) = folder(&sandbox, "tables", "judge_set");
    assert!(!picks.is_empty());
    for pick in &picks {
        assert!(judge_set.iter().any(|one| {
            ["query_id", "doc_id", "slot"]
                .iter()
                .all(|name| one[*name] == pick[*name])
        }));
        assert!(pick["created_at"].as_i64() > Some(0) && pick["judge"] == "bm25");
    }
    let one = sandbox.done("export tables --query 2 --format csv --out one");
    one.says("wrote one");
    assert_eq!(table(&sandbox.read("one/queries.csv")).len(), 1);
    sandbox.refused("export tables", 2, &["--out DIR"]);
    sandbox.refused("export tables --out bm25.trec", 2, &["is a file"]);
}

#[test]
fn files_in_text_formats_of_other_programs_are_tables_in_parquet_too() {
    let sandbox = picked();
    sandbox.done("pool build --beir beir --depth 4 --layout original --out pools.jsonl");
    sandbox.done("annotate pools.jsonl out.jsonl --cycles 1");
    let both = |what: &str, text: &str| {
        sandbox.done(&format!("export {what} --out {text}"));
        sandbox.done(&format!("export {what} --out t.parquet"));
        let (rows, _) = parquet_rows(&sandbox.path("t.parquet"));
        assert!(!rows.is_empty(), "{what}");
        (sandbox.read(text), rows)
    };
    let word = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let (run, rows) = both("run", "run.trec");
    let lines = rows.iter().map(|row| {
        let (query, document, tag) = (word(row, "query"), word(row, "document"), word(row, "tag"));
        let score = row["score"].as_f64().unwrap();
        (
            vec![
                query,
                "Q0".to_owned(),
                document,
                row["rank"].to_string(),
                tag,
            ],
            score,
        )
    });
    for ((words, score), line) in lines.zip(run.lines()) {
        let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let written: f64 = cells.remove(4).parse().unwrap();
        assert_eq!(words, cells);
        assert!((score - written).abs() < 1e-9, "{line}");
    }
    assert_eq!(rows.len(), run.lines().count());
    let (qrels, rows) = both("qrels", "labels.qrels");
    let lines = rows.iter().map(|row| {
        let (query, document) = (word(row, "query"), word(row, "document"));
        format!("{query} 0 {document} {}", row["grade"])
    });
    assert_eq!(lines.collect::<Vec<_>>(), qrels.lines().collect::<Vec<_>>());
    let (annotated, rows) = both("annotated", "scored.jsonl");
    let mut documents = rows.iter();
    for line in annotated.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for document in line["documents"].as_array().unwrap() {
            let row = documents.next().unwrap();
            assert_eq!(row["query"], line["query"]["id"]);
            for name in ["content", "score"] {
                assert!(is_near(&row[name], &document[name]), "{row} {document}");
            }
        }
    }
    assert!(documents.next().is_none());
    let (picks, rows) = both("picks", "picks.jsonl");
    for (row, line) in rows.iter().zip(picks.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["order"], line["order"]);
        let slots = row["slots"]
            .as_str()
            .map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(slots.unwrap_or(Value::Null), line["slots"]);
    }
    assert_eq!(rows.len(), picks.lines().count());
    sandbox.refused(
        "export run --format csv --out r.csv",
        2,
        &["--format parquet"],
    );
    sandbox.refused(
        "export run --format parquet --out r.jsonl",
        2,
        &["Parquet (.parquet)"],
    );
    sandbox.refused(
        "export qrels --diff --out d.parquet",
        2,
        &["TREC's columns"],
    );
    sandbox.refused("export picks --format parquet", 2, &["Parquet is binary"]);
}
