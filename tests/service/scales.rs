//! The real binary putting queries on one scale: as many grades as there are anchors, each bought once, and an offset that says
//! which queries have good documents.

use crate::desk::{Desk, told};
use crate::fake_provider::Fault;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::Output;

const QUERIES: usize = 8;
const DOCUMENTS: usize = 12;
const ANCHORS: usize = 4;

/// Queries whose documents state their relevance: those of even numbers have good ones, the others only poor ones.
fn desk() -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"gpt\"\nbase_url = {:?}\n\
         price = {{ input = 1.0, output = 1.0 }}\n",
        desk.server.v1(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let mut lines = String::new();
    for query in 0..QUERIES {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let place = f64::from(((at * 5 + query) % DOCUMENTS) as u32) / 12.0;
                let relevance = if query % 2 == 0 { 0.3 + 0.7 * place } else { 0.4 * place };
                json!({"id": format!("d{at}"), "content": format!("relevance={relevance:.2} number {at} of {query}")})
            })
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("question {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    let output = desk.run(&[
        "annotate",
        "pools.jsonl",
        "out.jsonl",
        "--judges",
        "gpt",
        "--cycles",
        "3",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

fn scale(desk: &Desk, more: &[&str]) -> Output {
    let count = ANCHORS.to_string();
    desk.run(
        &[
            &["scale", "--anchors", &count, "--judge", "gpt", "--json"],
            more,
        ]
        .concat(),
    )
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

#[test]
fn anchors_are_bought_once_and_say_which_queries_have_good_documents() {
    let desk = desk();
    let before = desk.server.requests().len();
    let annotated = desk.run(&["export", "annotated"]);
    assert!(!told(&annotated).contains("zelo_linked"));
    let shown = desk.run(&["scale"]);
    assert_eq!(shown.status.code(), Some(2), "{}", told(&shown));
    assert!(told(&shown).contains("no common zero"), "{}", told(&shown));
    let dry = json_of(&scale(&desk, &["--dry-run"]));
    assert_eq!(
        dry["estimates"][0]["expected"]["calls"],
        json!((QUERIES * ANCHORS) as f64)
    );
    assert_eq!(desk.server.requests().len(), before);

    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        told(&output).contains("gpt has the provider of gpt, which fought the battles"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), before + QUERIES * ANCHORS);
    assert_eq!(
        desk.count("SELECT count(*) FROM rerank_call"),
        (QUERIES * ANCHORS) as i64
    );
    assert_eq!(desk.count("SELECT count(*) FROM rerank_result"), 0);
    let told_by = json_of(&output);
    let rows = told_by["queries"].as_array().unwrap();
    let of = |query: usize, key: &str| rows[query][key].as_f64().unwrap();
    assert_eq!(rows.len(), QUERIES);
    for even in (0..QUERIES).step_by(2) {
        for odd in (1..QUERIES).step_by(2) {
            assert!(of(even, "b") > of(odd, "b") + 0.5, "{told_by:#}");
            assert!(of(even, "expected_relevant") > of(odd, "expected_relevant") + 1.0);
        }
    }
    let sum: f64 = (0..QUERIES).map(|query| of(query, "b")).sum();
    assert!(sum.abs() < 1e-6 && of(0, "se") > 0.0);
    assert_eq!(told_by["cut_points"]["from"], "judge");
    assert_eq!(told_by["drift"], Value::Null);

    // Nothing is bought twice, also where more votes have moved the scores.
    let again = scale(&desk, &[]);
    assert_eq!(json_of(&again), told_by);
    let more = desk.run(&[
        "annotate",
        "pools.jsonl",
        "out.jsonl",
        "--judges",
        "gpt",
        "--cycles",
        "4",
    ]);
    assert_eq!(more.status.code(), Some(0), "{}", told(&more));
    let calls = desk.server.requests().len();
    assert_eq!(scale(&desk, &[]).status.code(), Some(0));
    assert_eq!(desk.server.requests().len(), calls);

    // The ledger knows them, and the ranking methods do not.
    let status = json_of(&desk.run(&["status", "--json"]));
    let votes = desk.spent();
    let graded = desk.count("SELECT CAST(round(1e9 * sum(cost_usd)) AS INTEGER) FROM rerank_call")
        as f64
        / 1e9;
    assert!((status["spent_usd"].as_f64().unwrap() - votes - graded).abs() < 1e-6);
}

#[test]
fn exports_have_the_scale_where_it_was_measured_and_say_so() {
    let desk = desk();
    let output = scale(&desk, &["--query", "q0", "--query", "q1"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let lines = |desk: &Desk| -> Vec<Value> {
        let output = desk.run(&["export", "annotated"]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for (at, line) in lines(&desk).iter().enumerate() {
        for document in line["documents"].as_array().unwrap() {
            assert_eq!(document["zelo_linked"].is_f64(), at < 2, "{document}");
            assert_eq!(document["zelo_linked_se"].is_f64(), at < 2, "{document}");
        }
    }
    let qrels = desk.run(&["export", "qrels", "--from", "zelo"]);
    assert!(
        told(&qrels).contains(
            "one scale over queries is not used: 6 of 8 queries with scores have no anchors"
        ),
        "{}",
        told(&qrels)
    );
    assert_eq!(scale(&desk, &[]).status.code(), Some(0));
    let told_by = json_of(&scale(&desk, &["--documents"]));
    for (line, row) in lines(&desk)
        .iter()
        .zip(told_by["queries"].as_array().unwrap())
    {
        let b = row["b"].as_f64().unwrap();
        for document in line["documents"].as_array().unwrap() {
            let of = |key: &str| document[key].as_f64().unwrap();
            assert!((of("zelo_linked") - of("score") - b).abs() < 1e-9);
            assert!(of("zelo_linked_se") > row["se"].as_f64().unwrap());
        }
    }
    for document in told_by["documents"].as_array().unwrap() {
        let each = document["probabilities"].as_array().unwrap().iter();
        let sum: f64 = each.map(|one| one.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{document}");
    }
    let qrels = desk.run(&["export", "qrels", "--from", "zelo"]);
    assert!(
        told(&qrels).contains("one scale over queries: 32 anchors in 8 queries graded by gpt"),
        "{}",
        told(&qrels)
    );
    // Poor queries have no document of a grade, as the judge says of their anchors.
    let text = String::from_utf8(qrels.stdout).unwrap();
    let highest = |query: &str| {
        let rows = text
            .lines()
            .filter(|line| line.starts_with(&format!("{query} ")));
        rows.map(|line| {
            line.rsplit([' ', '\t'])
                .next()
                .unwrap()
                .parse::<i32>()
                .unwrap()
        })
        .max()
        .unwrap()
    };
    assert!(highest("q0") > highest("q1"), "{text}");
    let queries = json_of(&desk.run(&["queries", "--json"]));
    let relevant = queries[0]["expected_relevant"].as_f64().unwrap();
    assert!((relevant - told_by["queries"][0]["expected_relevant"].as_f64().unwrap()).abs() < 1e-9);

    // Another project has them after a merge.
    std::fs::rename(desk.path("overrule.db"), desk.path("theirs.db")).unwrap();
    let import = desk.run(&["import", "pools.jsonl"]);
    assert_eq!(import.status.code(), Some(0), "{}", told(&import));
    let merged = json_of(&desk.run(&["merge", "theirs.db", "--json"]));
    assert_eq!(
        (&merged["anchors"], &merged["rerank_calls"]),
        (&json!(8), &json!(32)),
        "{merged}"
    );
    let there = json_of(&desk.run(&["scale", "--json"]));
    assert_eq!(there["queries"], told_by["queries"]);
}

#[test]
fn a_failed_query_is_asked_again_when_wanted_and_a_budget_is_kept() {
    let desk = desk();
    let before = desk.server.requests().len();
    let spent = json_of(&desk.run(&["status", "--json"]))["spent_usd"]
        .as_f64()
        .unwrap();
    let budget = (spent + 0.01).to_string();
    let output = scale(&desk, &["--budget", &budget, "--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let first = desk.server.requests().len() - before;
    assert!((1..QUERIES * ANCHORS).contains(&first), "{first}");
    let now = json_of(&desk.run(&["status", "--json"]))["spent_usd"]
        .as_f64()
        .unwrap();
    assert!(now <= spent + 0.01);
    desk.server.fail_next(&[Fault::Unauthorised]);
    let output = scale(&desk, &["--concurrency", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let output = scale(&desk, &["--retry-failed"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // The one that failed is the only one that was asked twice.
    assert_eq!(desk.server.requests().len(), before + QUERIES * ANCHORS + 1);
}
