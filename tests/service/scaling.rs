//! The real binary having a judge grade anchors: each answer bought once and kept, a failed call
//! never a grade, and the scale that follows.

mod links;

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::{Fault, Faults};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

const QUERIES: usize = 6;
const DOCUMENTS: usize = 12;
const ANCHORS: usize = 5;
const ALL: usize = QUERIES * ANCHORS;

/// Queries whose battles an offline judge has fought, and a judge who sees how relevant a document
/// is: less and less from the top of the ranking down, and more from query to query.
fn desk() -> Desk {
    desk_of(QUERIES)
}

fn desk_of(queries: usize) -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"gpt\"\nbase_url = {:?}\n\
         price = {{ input = 1.0, output = 1.0 }}\n",
        desk.server.v1(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let mut lines = String::new();
    for query in 0..queries {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let relevance = (at + query) as f64 / 12.0 - 0.2;
                let words = "question ".repeat(at);
                json!({"id": format!("d{at:02}"), "content": format!("relevance={relevance:.2} {words}number {at} of {query}")})
            })
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("question {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    let judged = desk.run(&["annotate", "pools.jsonl", "out.jsonl", "--judges", "bm25"]);
    assert_eq!(judged.status.code(), Some(0), "{}", told(&judged));
    desk
}

fn scale(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["scale", "run", "--judge", "gpt", "--json"], more].concat())
}

fn offset(report: &Value, query: usize) -> f64 {
    report["queries"][query]["offset"].as_f64().unwrap()
}

#[test]
fn anchors_are_graded_once_and_put_queries_on_one_scale() {
    let desk = desk();
    let dry = json_of(&scale(&desk, &["--dry-run"]));
    assert_eq!(dry["methods"][0]["expected"]["calls"], json!(ALL as f64));
    assert!(dry["methods"][0]["most"]["usd"].as_f64() > Some(0.0));
    assert_eq!(desk.server.requests().len(), 0);
    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let found = json_of(&output);
    assert_eq!(
        (&found["graded"], &found["ungraded"]),
        (&json!(ALL), &json!(0))
    );
    assert_eq!(desk.server.requests().len(), ALL);
    let report = &found["scale"];
    assert!(offset(report, 5) > offset(report, 3), "{report}");
    assert!(offset(report, 3) > offset(report, 0), "{report}");
    // The same again asks nobody; `scale fit` finds what was found.
    assert_eq!(json_of(&scale(&desk, &[]))["scale"], *report);
    assert_eq!(json_of(&desk.run(&["scale", "fit", "--json"])), *report);
    assert_eq!(desk.server.requests().len(), ALL);
    // The log has them, an entry a judge and day (the run may be on two).
    let log = json_of(&desk.run(&["log", "--query", "q3", "--json"]));
    let entries = log.as_array().unwrap();
    let days = entries.iter().filter(|row| row["event"] == "anchors");
    let days: Vec<&Value> = days.collect();
    assert_eq!(days.len(), 1, "{log}");
    let about = format!("gpt graded {ANCHORS} documents of 1 query");
    assert_eq!(days[0]["about"], about);
    let whole = told(&desk.run(&["log"]));
    assert!(whole.contains(" anchors "), "{whole}");
    // More of them keeps those that are there, and asks for the others only.
    let more = json_of(&scale(&desk, &["--anchors", "7"]));
    assert_eq!(more["graded"], json!(7 * QUERIES));
    assert_eq!(desk.server.requests().len(), 7 * QUERIES);
    assert_eq!(json_of(&scale(&desk, &[]))["graded"], json!(7 * QUERIES));
    assert_eq!(desk.server.requests().len(), 7 * QUERIES);
    // It is spent, and it is no method among methods.
    let status = json_of(&desk.run(&["status", "--json"]));
    assert_eq!(
        status["calls"],
        json!(7 * QUERIES + status["votes"].as_u64().unwrap() as usize)
    );
    assert_eq!(
        status["anchors"],
        json!([{"judge": "gpt", "queries": QUERIES, "grades": 7 * QUERIES}])
    );
    let methods = desk.run(&["methods"]);
    assert!(
        told(&methods).contains("no method has been run"),
        "{}",
        told(&methods)
    );
}

#[test]
fn training_files_of_single_documents_have_linked_scores_where_there_are_any() {
    let desk = desk();
    let export = |desk: &Desk| {
        let output = desk.run(&["student", "export", "--form", "pointwise"]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        let lines = String::from_utf8(output.stdout.clone()).unwrap();
        let rows: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        (rows, told(&output))
    };
    let (before, notes) = export(&desk);
    assert_eq!(before.len(), QUERIES * DOCUMENTS);
    assert!(notes.contains("target is zelo, which is comparable only within a query"));
    for row in &before {
        assert_eq!(row["target_is"], "zelo");
        assert_eq!(
            (&row["target"], &row["target_se"]),
            (&row["zelo"], &row["se"])
        );
        assert!(row["expected_grade"].is_null());
    }
    // Of q5 nobody grades anything.
    let graded: Vec<String> = (0..QUERIES - 1).map(|at| format!("q{at}")).collect();
    let named = graded.iter().flat_map(|name| ["--query", name]);
    let output = scale(&desk, &named.collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let report = json_of(&desk.run(&["scale", "fit", "--json"]));
    let (rows, notes) = export(&desk);
    assert!(
        notes.contains("on one scale by anchors of gpt; cut points"),
        "{notes}"
    );
    assert!(notes.contains("1 query not on that scale"), "{notes}");
    for (row, alone) in rows.iter().zip(&before) {
        let query = row["query_id"].as_str().unwrap();
        assert_eq!((&row["zelo"], &row["se"]), (&alone["zelo"], &alone["se"]));
        if query == "q5" {
            assert_eq!(row, alone);
            continue;
        }
        let at: usize = query[1..].parse().unwrap();
        let mut documents = report["queries"][at]["documents"]
            .as_array()
            .unwrap()
            .iter();
        let linked = documents
            .find(|of| of["document"] == row["document_id"])
            .unwrap();
        assert_eq!(row["target_is"], "zelo_linked");
        assert_eq!(row["target"], linked["zelo_linked"]);
        assert_eq!(row["target_se"], linked["zelo_linked_se"]);
        assert_eq!(row["expected_grade"], linked["expected_grade"]);
        assert!(row["target_se"].as_f64() > row["se"].as_f64(), "{row}");
    }
    // A student that counts in the project's scores moves them and the offsets, and is in no score
    // that a student learns.
    let mut predictions = String::new();
    for rows in rows.chunks(DOCUMENTS) {
        for (at, a) in rows.iter().enumerate() {
            for b in &rows[at + 1..] {
                let line = json!({"query": a["query_id"], "a": a["document_id"], "b": b["document_id"], "p_a": 0.8, "p_b": 0.05});
                writeln!(predictions, "{line}").unwrap();
            }
        }
    }
    std::fs::write(desk.path("p.jsonl"), predictions).unwrap();
    let done = desk.run(&["student", "import", "p.jsonl", "--name", "other"]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    let done = desk.run(&[
        "config",
        "project",
        "--student",
        "other",
        "--student-weight",
        "3",
    ]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    assert_ne!(json_of(&desk.run(&["scale", "fit", "--json"])), report);
    assert_eq!(export(&desk).0, rows);
}

#[test]
fn an_answer_that_cannot_be_read_is_no_grade_and_is_asked_again_when_wanted() {
    let desk = desk();
    // Asked once more, in vain.
    desk.server.fail_next(&[Fault::Prose, Fault::Prose]);
    let output = scale(&desk, &["--query", "q0", "--anchors", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("1 of 1 document without a grade"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), 2);
    // Not asked again unasked, and no anchor of the scale.
    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let found = json_of(&output);
    assert_eq!(
        (&found["graded"], &found["ungraded"]),
        (&json!(ALL - 1), &json!(1))
    );
    let anchors: u64 = found["scale"]["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|query| query["anchors"].as_u64().unwrap())
        .sum();
    assert_eq!(anchors as usize, ALL - 1);
    let calls = desk.server.requests().len();
    assert_eq!(calls, ALL + 1);
    assert_eq!(scale(&desk, &[]).status.code(), Some(3));
    assert_eq!(desk.server.requests().len(), calls);
    let output = scale(&desk, &["--retry-failed"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(json_of(&output)["graded"], json!(ALL));
    assert_eq!(desk.server.requests().len(), calls + 1);
}

#[test]
fn no_fault_of_a_provider_becomes_a_grade() {
    let desk = desk();
    desk.server.fail_at_random(Faults {
        seed: 5,
        rates: vec![
            (Fault::RateLimited, 0.1),
            (Fault::Server500, 0.05),
            (Fault::Prose, 0.1),
        ],
        ..Faults::default()
    });
    let found = json_of(&scale(&desk, &[]));
    let whole = json_of(&scale(&desk, &["--retry-failed"]));
    for report in [&found, &whole] {
        let sum = report["graded"].as_u64().unwrap() + report["ungraded"].as_u64().unwrap();
        assert!(sum <= ALL as u64, "{report}");
    }
    // There are as many grades as answers that could be read.
    let calls =
        desk.count("SELECT count(*) FROM rerank_call WHERE readable AND answer IS NOT NULL");
    assert_eq!(whole["graded"].as_u64().unwrap() as i64, calls);
}

#[test]
fn a_budget_ends_a_run_that_goes_on_with_a_larger_one() {
    let desk = desk();
    let output = scale(&desk, &["--budget", "0.008"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("larger --budget"),
        "{}",
        told(&output)
    );
    let calls = desk.server.requests().len();
    assert!((1..ALL).contains(&calls), "{calls}");
    let status = json_of(&desk.run(&["status", "--json"]));
    let spent = status["spent_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent <= 0.008, "{spent}");
    let output = scale(&desk, &["--budget", "5"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), ALL);
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    const KILLS: usize = 3;
    // Two in flight, and two whose answers came in the moment of the kill. With twice as many a
    // kill the count is beyond the bound if nothing outlasts one.
    const LOST: usize = 4;
    let desk = desk();
    desk.server.set_latency(Duration::from_millis(20));
    let more = ["scale", "run", "--judge", "gpt", "--concurrency", "2"];
    for _ in 0..KILLS {
        let mut command = desk.command(&more);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let before = desk.server.requests().len();
        while desk.server.requests().len() < before + 2 * LOST
            && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.server.set_latency(Duration::ZERO);
    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(json_of(&output)["graded"], json!(ALL));
    let calls = desk.server.requests().len();
    assert!((ALL..=ALL + KILLS * LOST).contains(&calls), "{calls}");
}

#[test]
fn grades_of_a_merged_project_and_of_a_method_are_not_bought_again() {
    let desk = desk();
    let first = scale(&desk, &[]);
    assert_eq!(first.status.code(), Some(0), "{}", told(&first));
    let other = |more: &[&str]| {
        let output = desk.run(&[&["--project", "other.db"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        output
    };
    other(&["import", "pools.jsonl"]);
    other(&["merge", "overrule.db"]);
    let again = ["scale", "run", "--judge", "gpt", "--json"];
    assert_eq!(json_of(&other(&again))["scale"], json_of(&first)["scale"]);
    // A method that asks the same pays for what was not asked.
    let method = [
        "rerank",
        "--method",
        "pointwise:grade",
        "--judges",
        "gpt",
        "--yes",
    ];
    let output = desk.run(&method);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), QUERIES * DOCUMENTS);
}

#[test]
fn graded_labels_rest_on_the_scale_where_all_queries_are_on_it() {
    let desk = desk();
    let export = |name: &str| {
        let output = desk.run(&["export", "qrels", "--from", "zelo", "--out", name]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        (
            told(&output),
            std::fs::read_to_string(desk.path(name)).unwrap(),
        )
    };
    let (words, before) = export("before.qrels");
    assert!(!words.contains("one scale"), "{words}");
    let output = scale(&desk, &["--query", "q0", "--query", "q5"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let (words, partly) = export("partly.qrels");
    assert!(
        words.contains("not on one scale: 4 of 6 queries"),
        "{words}"
    );
    assert_eq!(partly, before);
    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let (words, after) = export("after.qrels");
    assert!(words.contains("on one scale by anchors of gpt"), "{words}");
    assert!(words.contains("the anchors' judge"), "{words}");
    let sum = |text: &str, query: &str| -> i32 {
        let lines = text.lines().filter(|line| line.starts_with(query));
        lines
            .map(|line| line.rsplit(' ').next().unwrap().parse::<i32>().unwrap())
            .sum()
    };
    assert_eq!(sum(&before, "q0 "), sum(&before, "q5 "));
    assert!(sum(&after, "q5 ") > sum(&after, "q0 ") + 5, "{after}");
}

#[test]
fn linked_scores_stand_wherever_scores_do_and_only_where_there_is_a_scale() {
    let desk = desk();
    let matrix = |query: &str| json_of(&desk.run(&["matrix", "--query", query, "--json"]));
    let queries = || json_of(&desk.run(&["queries", "--json"]));
    let csv = |query: &str| told(&desk.run(&["matrix", "--query", query, "--format", "csv"]));
    assert!(matrix("q0")["documents"][0].get("zelo_linked").is_none());
    assert!(matrix("q0").get("scale").is_none());
    assert!(!csv("q0").contains("zelo_linked"));
    assert!(queries()[0].get("expected_relevant").is_none());
    let output = scale(&desk, &["--query", "q0", "--query", "q3", "--query", "q5"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let report = json_of(&output)["scale"].clone();
    let found = matrix("q5");
    assert_eq!(found["scale"], "anchors of gpt");
    for document in found["documents"].as_array().unwrap() {
        let linked = document["zelo"].as_f64().unwrap() + offset(&report, 5);
        assert!((document["zelo_linked"].as_f64().unwrap() - linked).abs() < 1e-9);
        assert!(document["zelo_linked_se"].as_f64() > document["se"].as_f64());
    }
    // A query without an anchor has none, and says so by a null.
    assert!(matrix("q1")["documents"][0]["zelo_linked"].is_null());
    assert!(
        csv("q5")
            .starts_with("rank,document,zelo,se,rank_low,rank_high,zelo_linked,zelo_linked_se,")
    );
    let rows = queries();
    assert_eq!(
        rows[5]["expected_relevant"],
        report["queries"][5]["expected_relevant"]
    );
    assert!(rows[1]["expected_relevant"].is_null());
    let told_queries = told(&desk.run(&["queries"]));
    assert!(told_queries.contains("expected relevant"), "{told_queries}");
    let output = desk.run(&["scale", "fit", "--out", "linked.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let table = std::fs::read_to_string(desk.path("linked.csv")).unwrap();
    assert!(
        table.starts_with(
            "query,document,zelo,se,zelo_linked,zelo_linked_se,grade,expected_grade,probabilities"
        ),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + 3 * DOCUMENTS);
}

#[test]
fn queries_without_a_fit_are_on_no_scale_and_break_no_reading() {
    let desk = desk();
    let output = scale(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // Without a prior the votes do not fix the scores.
    let output = desk.run(&["config", "project", "--model", "mle"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for command in [&["matrix", "--query", "q2", "--json"][..], &["queries"]] {
        let output = desk.run(command);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert!(!told(&output).contains("zelo_linked"), "{}", told(&output));
    }
    let output = desk.run(&["scale", "fit"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("skipped 6 queries without a fit"),
        "{}",
        told(&output)
    );
}
