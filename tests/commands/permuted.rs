//! The order of the lines of a file changes no number: documents, queries, labels, rankings and
//! candidates in reverse.

use crate::support::Sandbox;
use serde_json::Value;
use std::path::Path;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The lines in reverse, behind the first `head` of them.
fn reversed(text: &str, head: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (head, rest) = lines.split_at(head);
    head.iter()
        .chain(rest.iter().rev())
        .map(|line| format!("{line}\n"))
        .collect()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// The same benchmark twice, in `a` as it is and in `b` with every file in reverse.
fn benchmarks(sandbox: &Sandbox) {
    for (name, head) in [
        ("corpus.jsonl", 0),
        ("queries.jsonl", 0),
        ("qrels/test.tsv", 1),
    ] {
        let text = data(&format!("scifact-small/{name}"));
        for folder in ["a", "b"] {
            let path = sandbox.path(&format!("{folder}/{name}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if folder == "b" {
                reversed(&text, head)
            } else {
                text.clone()
            };
            std::fs::write(path, text).unwrap();
        }
    }
}

#[test]
fn pools_and_measures_of_a_benchmark_do_not_depend_on_the_order_of_its_files() {
    let sandbox = Sandbox::new();
    benchmarks(&sandbox);
    for profile in ["overrule", "duckdb"] {
        let built = |folder: &str| -> Value {
            sandbox.json(&format!(
                "pool build --beir {folder} --profile {profile} --out {folder}.jsonl --run-out {folder}.trec --json"
            ))
        };
        assert_eq!(built("a"), built("b"));
        for ending in ["jsonl", "trec"] {
            let (a, b) = (
                sandbox.read(&format!("a.{ending}")),
                sandbox.read(&format!("b.{ending}")),
            );
            assert_eq!(sorted(&a), sorted(&b), "{ending}");
        }
        std::fs::copy(
            sandbox.path("a.trec"),
            sandbox.path(&format!("{profile}.trec")),
        )
        .unwrap();
        sandbox.write(
            &format!("{profile}-reversed.trec"),
            reversed(&sandbox.read("a.trec"), 0),
        );
    }
    let evaluated = |qrels: &str, run: &str| {
        sandbox.json(&format!(
            "evaluate {qrels}/qrels/test.tsv {run}.trec --json"
        ))["metrics"]
            .clone()
    };
    assert_eq!(
        evaluated("a", "overrule"),
        evaluated("b", "overrule-reversed")
    );
    let compared = |qrels: &str, more: &str| {
        let compare = format!(
            "compare overrule{more}.trec duckdb{more}.trec --truth {qrels}/qrels/test.tsv --json"
        );
        let mut found = sandbox.json(&compare).to_string();
        for name in ["overrule", "duckdb"] {
            found = found.replace(&format!("{name}{more}"), name);
        }
        found.replace(&format!("{qrels}/qrels"), "qrels")
    };
    assert_eq!(compared("a", ""), compared("b", "-reversed"));
}

#[test]
fn scores_and_statistics_of_a_dataset_do_not_depend_on_the_order_of_its_queries() {
    let dataset = data("scifact.jsonl");
    let annotated = |dataset: &str| {
        let sandbox = Sandbox::new();
        sandbox.write("in.jsonl", dataset);
        sandbox.done("annotate in.jsonl out.jsonl --judges offline");
        let out = sandbox.read("out.jsonl");
        let scores: Vec<String> = sorted(&out).into_iter().map(str::to_owned).collect();
        (scores, sandbox.json("judges --json"))
    };
    let (one, other) = (annotated(&dataset), annotated(&reversed(&dataset, 0)));
    assert_eq!(one.0, other.0);
    assert_alike(&one.1, &other.1, "judges");
}

/// Sums of many numbers may differ in their last bits.
fn assert_alike(one: &Value, other: &Value, place: &str) {
    match (one, other) {
        (Value::Object(x), Value::Object(y)) => {
            assert!(x.keys().eq(y.keys()), "{place}");
            // How long calls took is no number of the data.
            for (name, value) in x.iter().filter(|(name, _)| !name.contains("latency")) {
                assert_alike(value, &y[name], &format!("{place}.{name}"));
            }
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{place}");
            for (at, (x, y)) in x.iter().zip(y).enumerate() {
                assert_alike(x, y, &format!("{place}.{at}"));
            }
        }
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            assert!(
                (x - y).abs() <= 1e-9 * x.abs().max(1.0),
                "{place}: {x} and {y}"
            );
        }
        _ => assert_eq!(one, other, "{place}"),
    }
}

#[test]
fn a_boosted_ranking_does_not_depend_on_the_order_of_its_lines() {
    let sandbox = Sandbox::new();
    let rows: String = (0..12)
        .map(|at| format!("{},d{at},{},text of {at}\n", at % 3, (at * 7) % 5))
        .collect();
    let vectors: String = (0..12)
        .map(|at| {
            format!(
                "{{\"docno\": \"d{at}\", \"vector\": [1, {}, {}]}}\n",
                at % 4,
                at % 5
            )
        })
        .collect();
    let input = format!("qid,docno,score,text\n{rows}");
    sandbox.write("a.csv", &input);
    sandbox.write("b.csv", reversed(&input, 1));
    sandbox.write("a-vectors.jsonl", &vectors);
    sandbox.write("b-vectors.jsonl", reversed(&vectors, 0));
    for name in ["a", "b"] {
        sandbox.done(&format!(
            "sbr --in {name}.csv --vectors {name}-vectors.jsonl --out {name}.trec --top-k 2"
        ));
    }
    assert_eq!(sandbox.read("a.trec"), sandbox.read("b.trec"));
}
