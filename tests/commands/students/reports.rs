//! `student report` and `student train`: what predictions are worth.

use super::{judged, lines};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write as _;

#[test]
fn a_report_says_what_predictions_are_worth() {
    let sandbox = judged();
    let rows = lines(sandbox.done("student export --form pairwise").text());
    let mut text = String::new();
    for (step, sharpness) in [(100, 0.5), (200, 1.0)] {
        for (at, row) in rows.iter().enumerate() {
            let p = |name: &str| row[name].as_f64().unwrap() * sharpness + (1.0 - sharpness) / 3.0;
            let mut prediction = json!({
                "query": row["query_id"], "a": row["a_id"], "b": row["b_id"], "step": step,
                "p_a": p("p_a"), "p_b": p("p_b"), "p_tie": p("p_tie"),
            });
            writeln!(text, "{prediction}").unwrap();
            if at == 0 {
                // In the other order it favors what comes first.
                prediction["a"] = row["b_id"].clone();
                prediction["b"] = row["a_id"].clone();
                writeln!(text, "{prediction}").unwrap();
            }
        }
    }
    text += "{\"query\":\"q99\",\"a\":\"x\",\"b\":\"y\",\"p_a\":0.5,\"p_b\":0.5}\n";
    sandbox.write("p.jsonl", &text);
    let found = sandbox.json("student report p.jsonl --json");
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1]["step"], 200);
    assert_eq!(steps[1]["figures"]["n"], rows.len());
    assert_eq!(steps[1]["order"]["pairs"], 1);
    let divergence = |at: usize| steps[at]["divergence"].as_f64().unwrap();
    assert!(divergence(1) < divergence(0), "{found}");
    let accuracy = steps[0]["figures"]["consensus_accuracy"]["value"].as_f64();
    assert!(accuracy.unwrap() > 0.95);
    let table = sandbox.done("student report p.jsonl");
    table.says("skipped 1 prediction about queries or documents that are not in the project");
    table.prints("accuracy on consensus");
    table.prints("Segments: strips by expected score");
    let drawn = lines(sandbox.done("student report p.jsonl --rows").text());
    assert_eq!(drawn.len(), 2 * rows.len());
    assert!(
        drawn
            .iter()
            .all(|row| row["bucket"].is_u64() && row["segment"].is_string())
    );
    sandbox.write("bad.csv", "query,a,b,p_a,p_b\nq0,q0-d0,q0-d1,.9,.3\n");
    sandbox.refused(
        "student report bad.csv",
        2,
        &["bad.csv:2: p_a 0.9, p_b 0.3"],
    );
    sandbox.write("far.csv", "query,a,b,p_a,p_b\nq9,x,y,.9,.1\n");
    sandbox.refused(
        "student report far.csv",
        2,
        &["none of its predictions is about a judged pair"],
    );
}

#[test]
fn figures_are_drawn_a_file_each_and_on_one_page() {
    let sandbox = judged();
    let mut lines = String::new();
    for pair in self::lines(sandbox.done("student export --form pairwise").text()) {
        for step in [100, 200] {
            let (a, b) = (pair["p_a"].as_f64().unwrap(), pair["p_b"].as_f64().unwrap());
            let line = json!({"query": pair["query_id"], "a": pair["a_id"], "b": pair["b_id"], "p_a": 0.8 * a + 0.1, "p_b": 0.8 * b + 0.1, "step": step});
            writeln!(lines, "{line}").unwrap();
        }
    }
    sandbox.write("p.jsonl", lines);
    let drawn = sandbox.done("student report p.jsonl --svg figures --html page.html");
    drawn.says("wrote 20 pictures into figures");
    drawn.says("wrote page.html");
    let mut names: Vec<String> = std::fs::read_dir(sandbox.path("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 20, "{names:?}");
    for name in [
        "fig1.svg",
        "fig10-step100.svg",
        "fig2-step200.svg",
        "steps.svg",
    ] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("<h1>Student p</h1>") && page.ends_with("</html>\n"));
    let one = sandbox.path("figures").join("fig3-step100.svg");
    let before = std::fs::read(&one).unwrap();
    sandbox.done("student report p.jsonl --svg figures");
    assert_eq!(std::fs::read(&one).unwrap(), before);
    sandbox.refused(
        "student report p.jsonl --html p.jsonl",
        2,
        &["would overwrite the predictions"],
    );
}

#[test]
fn the_built_in_student_is_measured_on_queries_that_it_did_not_see() {
    let sandbox = judged();
    let found = sandbox.json("student train --predictions p.jsonl --model m.json --json");
    let learned = found["model"]["pairs"].as_u64().unwrap();
    assert_eq!(found["figures"]["n"].as_u64(), Some(learned));
    let accuracy = |at: usize| found["consensus_accuracy"][at]["accuracy"]["value"].as_f64();
    assert_eq!(found["consensus_accuracy"][0]["name"], "student");
    assert_eq!(found["consensus_accuracy"][1]["name"], "BM25");
    assert!(accuracy(0).unwrap() > 0.8, "{found}");
    // The file of predictions has the same figures.
    let report = sandbox.json("student report p.jsonl --json");
    for name in ["calibration", "consensus_accuracy", "segments"] {
        assert_eq!(
            report["steps"][0]["figures"][name], found["figures"][name],
            "{name}"
        );
    }
    let again = sandbox.json("student train --json");
    assert_eq!(again, found);
    let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["features"].as_array().unwrap().len(), 10);
    assert_eq!(model["training_hash"], found["model"]["training_hash"]);
    let told =
        sandbox.json("student train --other-battles --all-pairs --predictions all.jsonl --json");
    assert_eq!(told["model"]["features"][10], "zELO of other battles");
    assert_eq!(told["model"]["features"][11], "zELO of alike texts");
    // Eight documents have 28 pairs.
    assert_eq!(sandbox.read("all.jsonl").lines().count(), 6 * 28);
    // Its own predictions beside it are as good as it is.
    let beside = sandbox.json("student train --beside p.jsonl --json");
    assert_eq!(beside["consensus_accuracy"][1]["name"], "p.jsonl");
    assert_eq!(
        beside["consensus_accuracy"][1]["student_above"]["value"],
        0.0
    );
    assert_eq!(
        beside["consensus_accuracy"][1]["accuracy"],
        found["consensus_accuracy"][0]["accuracy"]
    );
    sandbox.refused(
        "student train --beside nobody",
        2,
        &["no student \"nobody\""],
    );
    let table = sandbox.done("student train");
    table.prints("all numbers below are for held-out queries, in 5 folds");
    table.prints("first stage");
}

#[test]
fn one_query_is_not_enough_to_learn_from() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([5]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25 --yes");
    sandbox.refused(
        "student train",
        2,
        &["judged pairs of at least two queries"],
    );
    sandbox.refused("student sample --pairs 9", 2, &["the maximum is 2"]);
}
