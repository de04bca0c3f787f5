//! `scale`: anchors, and one scale from their grades.

use crate::support::Sandbox;
use serde_json::Value;
use std::fmt::Write as _;

#[test]
fn grades_of_anchors_put_queries_on_one_scale() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([12; 8]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25 --yes");
    let anchors = sandbox.json("scale anchors --count 4 --json");
    let anchors = anchors.as_array().unwrap();
    assert_eq!(anchors.len(), 32);
    let ranks: Vec<u64> = anchors[..4]
        .iter()
        .map(|of| of["rank"].as_u64().unwrap())
        .collect();
    assert_eq!(ranks, [1, 3, 6, 8]);
    let listed = sandbox.done("scale anchors --count 1");
    listed.prints("query\tdocument\trank\nq0\t");
    // The judge finds much in the last queries, little in the first, and nothing is said of q7.
    let mut grades = String::new();
    for of in anchors {
        let (query, document) = (
            of["query"].as_str().unwrap(),
            of["document"].as_str().unwrap(),
        );
        let level: u64 = query[1..].parse().unwrap();
        if level < 7 {
            let grade = (6 + level).saturating_sub(of["rank"].as_u64().unwrap()) / 3;
            writeln!(grades, "{query} 0 {document} {}", grade.min(3)).unwrap();
        }
    }
    grades += "q0 0 nobody 1\n";
    sandbox.write("grades.qrels", grades);
    let found = sandbox.json("scale fit grades.qrels --out linked.jsonl --json");
    let queries = found["queries"].as_array().unwrap();
    let offset = |at: usize| queries[at]["offset"].as_f64().unwrap();
    assert!(offset(6) > offset(3) && offset(3) > offset(0), "{found}");
    assert!(queries[7]["offset"].is_null());
    assert!(queries[7]["expected_relevant"].is_null());
    assert!(queries[7]["documents"].as_array().unwrap().is_empty());
    assert!(queries[6]["expected_relevant"].as_f64() > queries[0]["expected_relevant"].as_f64());
    let lines: Vec<Value> = sandbox
        .read("linked.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 7 * 12);
    for line in &lines {
        let at: usize = line["query"].as_str().unwrap()[1..].parse().unwrap();
        let linked = line["zelo"].as_f64().unwrap() + offset(at);
        assert!((line["zelo_linked"].as_f64().unwrap() - linked).abs() < 1e-9);
        let sum: f64 = line["probabilities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_f64().unwrap())
            .sum();
        assert!((sum - 1.0).abs() < 1e-9);
        assert!(line["zelo_linked_se"].as_f64() > line["se"].as_f64());
    }
    let told = sandbox.done("scale fit grades.qrels");
    told.prints("expected relevant");
    told.says("1 query without an anchor: it is not known how it compares");
    told.prints("7 of 8 queries on one scale by grades.qrels; standard deviation of their offsets");
    told.says("skipped 1 grade of queries or documents without a zELO score");
    told.says("cut points of the anchors' judge");
    sandbox.write("zeros.qrels", "q0 0 d1 0\nq1 0 d2 0\n");
    sandbox.refused(
        "scale fit zeros.qrels",
        2,
        &["2 of 2 grades are", "make no scale"],
    );
    sandbox.write("one.qrels", "q0 0 d1 1\n");
    sandbox.refused(
        "scale fit one.qrels",
        2,
        &["1 of 1 grade is for a document", "makes no scale"],
    );
    sandbox.refused(
        "scale fit",
        2,
        &["nobody has graded anchors", "scale run --judge NAME"],
    );
    sandbox.refused("scale run --judge offline", 2, &["is 3 judges", "name one"]);
}
