//! The built-in student, taught by judges that see the true relevance of documents through noise.

use crate::desk::{Desk, told};
use crate::fake_provider::normal;
use serde_json::{Value, json};
use std::fmt::Write as _;

const BUNDLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/scifact-small");
/// Names a whole benchmark in BEIR's folder instead, to measure there what the test holds on the
/// bundled claims.
const BENCHMARK: &str = "OVERRULE_TEST_BEIR";

/// The claims with twelve abstracts each. What stands in front of an abstract is its true
/// relevance: mostly whether it has a label, then how many of the claim's words are in it, and then
/// what no text says.
fn pools(desk: &Desk) -> String {
    let benchmark = std::env::var(BENCHMARK).unwrap_or_else(|_| BUNDLED.to_owned());
    let built = desk.run(&[
        "pool",
        "build",
        "--beir",
        &benchmark,
        "--depth",
        "12",
        "--out",
        "pools.jsonl",
    ]);
    assert_eq!(built.status.code(), Some(0), "{}", told(&built));
    let text = std::fs::read_to_string(desk.path("pools.jsonl")).unwrap();
    let mut lines = String::new();
    for line in text.lines() {
        let mut pool: Value = serde_json::from_str(line).unwrap();
        let query = pool["query"]["query"].as_str().unwrap().to_owned();
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        for document in pool["documents"].as_array_mut().unwrap() {
            let content = document["content"].as_str().unwrap().to_owned();
            let lower = content.to_lowercase();
            let found = words.iter().filter(|word| lower.contains(*word)).count();
            let share = found as f64 / words.len() as f64;
            let grade = document["metadata"]["grade"].as_f64().unwrap_or(0.0);
            let hidden = normal(&["hidden", &query, document["id"].as_str().unwrap()]);
            let relevance = 1.5 * grade + 3.0 * share + 0.4 * hidden;
            document["content"] = json!(format!("relevance {relevance:.3} {content}"));
        }
        pool["query"]["query"] = json!(format!("noise 0.40 {query}"));
        writeln!(lines, "{pool}").unwrap();
    }
    lines
}

/// What `student train` says of the student, which has seen no vote on the queries that it is
/// measured on, or, told of other battles, none on the pairs.
fn trained(desk: &Desk, more: &[&str]) -> Value {
    let trained = desk.run(&[&["student", "train", "--json"], more].concat());
    assert_eq!(trained.status.code(), Some(0), "{}", told(&trained));
    let found: Value = serde_json::from_slice(&trained.stdout).unwrap();
    println!("{} battles {more:?}", found["figures"]["n"]);
    for of in found["consensus_accuracy"].as_array().unwrap() {
        println!(
            "{}: {}, the student above it by {}",
            of["name"], of["accuracy"], of["student_above"]
        );
    }
    println!("ECE {}", found["figures"]["calibration"]["ece"]);
    found
}

fn of_model<'a>(found: &'a Value, name: &str) -> &'a Value {
    let all = found["consensus_accuracy"].as_array().unwrap();
    all.iter().find(|of| of["name"] == name).unwrap()
}

fn check_calibration(found: &Value) {
    let calibration = &found["figures"]["calibration"];
    let ece = calibration["ece"]["value"].as_f64().unwrap();
    let chance = calibration["ece_by_chance"].as_f64().unwrap();
    assert!(ece < chance + 0.03, "{ece} {chance}");
}

#[test]
fn the_built_in_student_is_above_each_offline_judge_and_calibrated() {
    let desk = Desk::new("");
    std::fs::write(desk.path("in.jsonl"), pools(&desk)).unwrap();
    let done = desk.annotate(&["--cycles", "2", "--probe", "0"]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    let found = trained(&desk, &[]);
    let with_battles = trained(&desk, &["--other-battles"]);
    if std::env::var(BENCHMARK).is_err() {
        assert_eq!(found["figures"]["n"], 480);
    }
    let above = |found: &Value, judge: &str| {
        let above = &of_model(found, judge)["student_above"];
        let interval = above["interval"][0].as_f64().unwrap();
        (above["value"].as_f64().unwrap(), interval)
    };
    for judge in ["BM25", "proximity", "n-grams"] {
        // On 20 claims the difference alone is told; on a benchmark it is beyond chance.
        let (difference, least) = above(&found, judge);
        let least = std::env::var(BENCHMARK).map_or(difference, |_| least);
        assert!(least > 0.0, "{judge}: {found}");
        // What the query's other votes say of both documents is beyond chance on 20 claims too.
        let (_, least) = above(&with_battles, judge);
        assert!(least > 0.0, "{judge}: {with_battles}");
    }
    check_calibration(&found);
    check_calibration(&with_battles);
}
