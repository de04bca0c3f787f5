//! From predictions to a pointwise training file: `student import`, then `student export --from
//! student`.

use super::{judged, lines};
use crate::support::{Sandbox, dataset};
use serde_json::{Value, json};
use std::fmt::Write as _;

const GOLDEN: &str = include_str!("../../golden/zelo/student_elos.json");

/// A project whose queries nobody has judged, with the golden predictions of each.
fn predicted() -> (Sandbox, Value) {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden.as_array().unwrap();
    let sandbox = Sandbox::new();
    let sizes: Vec<usize> = cases
        .iter()
        .map(|case| case["n"].as_u64().unwrap() as usize)
        .collect();
    let pools: Vec<Value> = lines(&dataset(sizes));
    let mut predictions = String::new();
    for (case, pool) in cases.iter().zip(&pools) {
        for line in case["predictions"].as_array().unwrap() {
            let id = |at: usize| {
                let place = line[at].as_u64().unwrap() as usize;
                pool["documents"][place]["id"].clone()
            };
            let row = json!({
                "query": pool["query"]["id"], "a": id(0), "b": id(1), "p_a": line[2], "p_b": line[3],
            });
            writeln!(predictions, "{row}").unwrap();
        }
    }
    let written: Vec<String> = pools.iter().map(Value::to_string).collect();
    sandbox.write("in.jsonl", written.join("\n"));
    sandbox.write("predictions.jsonl", predictions);
    sandbox.done("import in.jsonl");
    (sandbox, golden)
}

#[test]
fn two_commands_give_the_scores_of_calculate_elos() {
    let (sandbox, golden) = predicted();
    sandbox.refused(
        "student export --form pointwise --from student",
        2,
        &["the project has no student"],
    );
    sandbox.done("student import predictions.jsonl --name llama");
    let pools = lines(&sandbox.read("in.jsonl"));
    for strength in ["equal", "linear", "squared", "root", "worth"] {
        let done = sandbox.done(&format!(
            "student export --form pointwise --from student --model zbench --strength {strength}"
        ));
        done.says("83 lines of 5 queries");
        done.says(&format!("model zbench, strength {strength}"));
        let rows = lines(done.text());
        for (case, pool) in golden.as_array().unwrap().iter().zip(&pools) {
            let elos = case["strengths"][strength]["elos"].as_array().unwrap();
            let documents = pool["documents"].as_array().unwrap();
            for (document, elo) in documents.iter().zip(elos) {
                let row = rows.iter().find(|row| {
                    row["query_id"] == pool["query"]["id"] && row["document_id"] == document["id"]
                });
                let row = row.unwrap();
                let target = row["target"].as_f64().unwrap();
                assert!((target - elo.as_f64().unwrap()).abs() <= 1e-12, "{row}");
                assert_eq!(row["text"], document["content"]);
                assert_eq!(row["query"], pool["query"]["query"]);
                assert_eq!(
                    (&row["target_is"], &row["se"]),
                    (&json!("student"), &Value::Null)
                );
                assert_eq!(row["zelo"], row["target"]);
            }
        }
    }
    // The project's own model is used unless another one is named.
    let of = |more: &str| {
        let command = format!("student export --form pointwise --from student {more}");
        sandbox.done(&command).text().to_owned()
    };
    assert_eq!(of(""), of("--model map --strength equal --student llama"));
    assert_ne!(of(""), of("--model zbench"));
    let zbench = of("--model zbench");
    sandbox.done("config project --model zbench");
    assert_eq!(of(""), zbench);
    sandbox.done("student export --form pointwise --from student --out p.parquet");
}

#[test]
fn probabilities_are_scores_and_not_outcomes() {
    let (sandbox, _) = predicted();
    let pool = &lines(&sandbox.read("in.jsonl"))[0];
    let gap = |p_b: f64| {
        let row = json!({
            "query": pool["query"]["id"], "a": pool["documents"][0]["id"],
            "b": pool["documents"][1]["id"], "p_a": 1.0 - p_b, "p_b": p_b,
        });
        sandbox.write("one.jsonl", row.to_string());
        sandbox.done("student import one.jsonl --name one");
        let done = sandbox
            .done("student export --form pointwise --from student --student one --model mle");
        let rows = lines(done.text());
        rows[1]["target"].as_f64().unwrap() - rows[0]["target"].as_f64().unwrap()
    };
    // One prediction of p is a gap of ln(p / (1 − p)).
    for p in [0.6, 0.83, 0.999] {
        assert!((gap(p) - (p / (1.0 - p)).ln()).abs() < 1e-9, "{p}");
    }
    // As votes, only their direction counts, and the import says so.
    let vote = json!({
        "query": {"id": pool["query"]["id"]}, "a": {"id": pool["documents"][0]["id"]},
        "b": {"id": pool["documents"][1]["id"]}, "by": "model", "kind": "llm", "score": 0.66,
    });
    sandbox.write("votes.jsonl", vote.to_string());
    sandbox
        .done("import votes votes.jsonl")
        .says("1 vote with a margin between −1 and 1: the project counts only the direction");
    sandbox.done("config project --vote-rule margin");
    sandbox.write("votes.jsonl", vote.to_string().replace("0.66", "0.5"));
    let said = sandbox.done("import votes votes.jsonl");
    assert!(
        !said.stderr.contains("counts only the direction"),
        "{}",
        said.stderr
    );
    sandbox.refused(
        "import predictions.jsonl",
        2,
        &["holds predictions of pairs", "overrule student import"],
    );
}

#[test]
fn what_predictions_leave_open_is_said() {
    let sandbox = judged();
    let prediction = |query: &str, a: usize, b: usize, p_b: f64| {
        json!({
            "query": query, "a": format!("{query}-d{a}"), "b": format!("{query}-d{b}"),
            "p_a": 1.0 - p_b, "p_b": p_b,
        })
        .to_string()
    };
    let file = [
        prediction("q0", 0, 1, 0.7),
        prediction("q0", 2, 3, 0.7),
        prediction("q1", 0, 1, 1.0),
        prediction("q2", 0, 1, 0.5),
    ];
    sandbox.write("p.jsonl", file.join("\n"));
    sandbox.done("student import p.jsonl --name few");
    sandbox.write("test.txt", "q2\n");
    let export = "student export --form pointwise --from student";
    let done = sandbox.done(&format!("{export} --test-queries test.txt"));
    done.says("6 lines of 2 queries");
    done.says("10 documents of these queries without a prediction: left out");
    done.says("1 query whose documents fall into groups that no prediction compares");
    done.says("1 query with documents that are certain to win or to lose");
    done.says("set by the prior: q1");
    done.says("skipped 1 query (also test data): q2");
    sandbox
        .done(&format!("{export} --model zbench"))
        .says("set by zBench's stopping rule: q1");
    sandbox.refused(
        &format!("{export} --model mle"),
        2,
        &["query \"q0\"", "do not fix the scores"],
    );
    sandbox.done("student train --name own");
    sandbox.refused(export, 2, &["which student?", "few, own"]);
    sandbox.done("config project --student few");
    sandbox.done(export);
    for (wrong, words) in [
        ("--form sft --from student", "only pointwise"),
        (
            "--form pointwise --strength worth",
            "requires --from student",
        ),
        (
            "--form pointwise --from student --student lama",
            "it has few, own",
        ),
        (
            "--form pointwise --from student --strength much",
            "strength",
        ),
    ] {
        sandbox.refused(&format!("student export {wrong}"), 2, &[words]);
    }
}
