//! `student`: samples, training files and reports, by the binary.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A project of six judged queries whose documents are nobody else's.
fn judged() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for (at, line) in crate::support::dataset([8; 6]).lines().enumerate() {
        let mut pool: Value = serde_json::from_str(line).unwrap();
        for (place, document) in pool["documents"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
        {
            document["id"] = json!(format!("q{at}-d{place}"));
        }
        writeln!(lines, "{pool}").unwrap();
    }
    sandbox.write("in.jsonl", lines);
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25,ngram,proximity --yes");
    sandbox
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_sample_is_even_uses_no_document_twice_and_splits_by_query() {
    let sandbox = judged();
    let drawn = sandbox.done("student sample --pairs 12 --train 8 --seed 3");
    drawn.says("12 pairs: 4 queries to learn from, 2 queries to test on; 2 pairs a query");
    let pairs = lines(drawn.text());
    let mut documents = BTreeSet::new();
    let mut sides: [BTreeSet<&str>; 2] = Default::default();
    for pair in &pairs {
        for name in ["a", "b"] {
            assert!(documents.insert(pair[name].as_str().unwrap()), "{pair}");
        }
        let side = usize::from(pair["side"] == "test");
        sides[side].insert(pair["query"].as_str().unwrap());
    }
    assert!(sides[0].is_disjoint(&sides[1]));
    assert_eq!((sides[0].len(), sides[1].len()), (4, 2));
    let again = sandbox.done("student sample --pairs 12 --train 8 --seed 3");
    assert_eq!(again.text(), drawn.text());
    sandbox.refused(
        "student sample --pairs 25 --train 20",
        2,
        &["25 pairs cannot be had", "the greatest number is 24"],
    );
    sandbox.refused(
        "student sample --pairs 18446744073709551615",
        2,
        &["the greatest number is 24"],
    );
    sandbox.refused(
        "student sample --pairs 2 --train 3",
        2,
        &["3 to learn from are more than 2 in all"],
    );
}

#[test]
fn training_files_have_the_same_keys_and_types_on_every_line() {
    let sandbox = judged();
    sandbox.done("student sample --pairs 12 --train 8 --out sample.jsonl");
    for (form, count, names) in [
        ("sft", 8, vec!["prompt", "completion"]),
        ("dpo", 8, vec!["prompt", "chosen", "rejected", "margin"]),
        ("pairwise", 8, vec!["query", "text_a", "text_b", "weight"]),
        (
            "pointwise",
            32,
            vec!["query", "document_id", "text", "zelo", "se"],
        ),
    ] {
        let written = sandbox.done(&format!(
            "student export --form {form} --sample sample.jsonl --side train"
        ));
        let rows = lines(written.text());
        assert_eq!(rows.len(), count, "{form}");
        let kinds = |row: &Value| -> Vec<(String, u8)> {
            let members = row.as_object().unwrap().iter();
            let kind = |value: &Value| match value {
                Value::Null => 0,
                Value::Bool(_) => 1,
                Value::Number(number) => 2 + u8::from(number.is_f64()),
                Value::String(_) => 4,
                Value::Array(_) => 5,
                Value::Object(_) => 6,
            };
            members
                .map(|(name, value)| (name.clone(), kind(value)))
                .collect()
        };
        for row in &rows {
            assert_eq!(kinds(row), kinds(&rows[0]), "{form}");
            for name in &names {
                assert!(!row[*name].is_null(), "{form}: {name}");
            }
            if form == "pointwise" {
                continue;
            }
            let number = |name: &str| row[name].as_f64().unwrap();
            let (target, tie) = (number("target"), number("p_tie"));
            assert!((number("p_b") + tie / 2.0 - target).abs() < 1e-12);
            assert!((tie - (1.0 - 2.0 * (target - 0.5).abs())).abs() < 1e-12);
            if form == "sft" {
                assert_eq!(row["prompt"][0]["role"], "system");
                assert_eq!(row["prompt"][1]["role"], "user");
                let letter = row["completion"][0]["content"].as_str().unwrap();
                let p = [("A", "p_a"), ("B", "p_b"), ("T", "p_tie")];
                let said = p.iter().find(|(of, _)| *of == letter).unwrap().1;
                assert!(p.iter().all(|(_, name)| number(name) <= number(said)));
            }
        }
    }
    // Both documents are A now and then.
    let all = lines(sandbox.done("student export --form pairwise").text());
    let first = |row: &&Value| row["a_id"].as_str() < row["b_id"].as_str();
    let share = all.iter().filter(first).count() as f64 / all.len() as f64;
    assert!((0.3..0.7).contains(&share), "{share}");
}

#[test]
fn verdicts_count_in_targets_and_held_out_queries_stay_out() {
    let sandbox = judged();
    let before = lines(sandbox.done("student export --form pairwise").text());
    let decided = |row: &&Value| row["query_id"] == "q2" && row["target"] == 1.0;
    let row = before.iter().find(decided).unwrap();
    let (a, b) = (row["a_id"].as_str().unwrap(), row["b_id"].as_str().unwrap());
    sandbox.done(&format!("override --query q2 --a {a} --b {b} --verdict a"));
    let after = lines(sandbox.done("student export --form pairwise").text());
    let same = |other: &&Value| other["a_id"] == a && other["b_id"] == b;
    let overruled = after.iter().find(same).unwrap();
    assert!(overruled["target"].as_f64().unwrap() < 0.5, "{overruled}");
    assert_eq!(after.len(), before.len());
    sandbox.write("test.qrels", "q1 0 q1-d0 1\nq1 0 q1-d1 0\n");
    let held = sandbox.done("student export --form pairwise --held-out test.qrels");
    held.says("1 query left out, also test data: q1");
    assert!(lines(held.text()).iter().all(|row| row["query_id"] != "q1"));
    sandbox.done("import test.qrels");
    sandbox
        .done("student export --form pairwise")
        .says("1 query of the project with labels of people");
}

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
                // In the other order it favours what comes first.
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
    table.says("1 prediction about queries or documents that the project does not have");
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
    assert_eq!(model["features"].as_array().unwrap().len(), 6);
    assert_eq!(model["training_hash"], found["model"]["training_hash"]);
    let told =
        sandbox.json("student train --other-battles --all-pairs --predictions all.jsonl --json");
    assert_eq!(told["model"]["features"][6], "zELO of other battles");
    // Eight documents have 28 pairs.
    assert_eq!(sandbox.read("all.jsonl").lines().count(), 6 * 28);
    let table = sandbox.done("student train");
    table.prints("every number below is of queries left out, in 5 groups");
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
        &["judged pairs of two queries at least"],
    );
    sandbox.refused("student sample --pairs 9", 2, &["the greatest number is 2"]);
}
