//! What is reported of each query that a method ranked: how it ended, what it took, and how much of
//! its documents was shown.

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::Fault;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Output;
use std::time::Duration;

/// Pools with these numbers of documents, each of so many words, and a judge and a reranker with
/// these further settings.
fn desk(documents: &[usize], words: usize, judge: &str, reranker: &str) -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"gpt\"\nbase_url = {:?}\n\
         price = {{ input = 1.0, output = 1.0 }}\n{judge}\n\n\
         [[reranker]]\nname = \"ranker\"\nprovider = \"tei\"\nbase_url = {:?}\n{reranker}\n",
        desk.server.v1(),
        desk.server.root(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let (mut lines, mut labels) = (String::new(), String::new());
    for (query, count) in documents.iter().enumerate() {
        let documents: Vec<Value> = (0..*count)
            .map(|at| {
                let relevance = f64::from(((at * 7 + query) % 10) as u32) / 10.0;
                let text: Vec<String> = (0..words).map(|word| format!("d{at}w{word}")).collect();
                let content = format!("relevance={relevance:.2} {}", text.join(" "));
                json!({"id": format!("d{at}"), "content": content})
            })
            .collect();
        let line = json!({
            "query": {"id": format!("q{query}"), "query": format!("question {query}")},
            "documents": documents,
        });
        writeln!(lines, "{line}").unwrap();
        writeln!(labels, "q{query} 0 d0 1").unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    std::fs::write(desk.path("labels.qrels"), labels).unwrap();
    let imported = desk.run(&["import", "pools.jsonl", "labels.qrels"]);
    assert_eq!(imported.status.code(), Some(0), "{}", told(&imported));
    desk
}

fn rerank(desk: &Desk, code: i32, more: &[&str]) -> Output {
    let output = desk.run(&[&["rerank", "--yes"], more].concat());
    assert_eq!(output.status.code(), Some(code), "{}", told(&output));
    output
}

/// The results per query of the artifact.
fn per_query(desk: &Desk) -> Vec<Value> {
    let output = desk.run(&["methods", "--export", "artifact.json", "--partial"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let artifact = std::fs::read_to_string(desk.path("artifact.json")).unwrap();
    let artifact: Value = serde_json::from_str(&artifact).unwrap();
    artifact["per_query"].as_array().unwrap().clone()
}

fn row<'a>(rows: &'a [Value], method: &str, query: &str) -> &'a Value {
    rows.iter()
        .find(|row| row["algorithm"] == method && row["query_id"] == query)
        .unwrap_or_else(|| panic!("no {method} on {query}"))
}

#[test]
fn a_failed_query_counts_as_zero_and_is_not_one_that_was_not_run() {
    let desk = desk(&[4, 4, 4], 3, "", "");
    rerank(&desk, 0, &["--method", "original"]);
    desk.server.fail_next(&[Fault::Prose]);
    let more = ["--method", "rankgpt@4:strict", "--one-at-a-time"];
    let output = rerank(
        &desk,
        3,
        &[&more[..], &["--query", "q0", "--query", "q1"]].concat(),
    );
    assert!(told(&output).contains("; failed: q0"), "{}", told(&output));
    let rows = per_query(&desk);
    let method = "rankgpt@4:strict/gpt";
    let [failed, ranked, missing] = ["q0", "q1", "q2"].map(|query| row(&rows, method, query));
    assert_eq!(
        [&failed["status"], &ranked["status"], &missing["status"]],
        ["failed", "ranked", "not_run"]
    );
    assert_eq!(
        [&failed["valid"], &ranked["valid"], &missing["valid"]],
        [&json!(false), &json!(true), &Value::Null]
    );
    assert_eq!(failed["failure_type"], "llm_output_invalid");
    let why = failed["error"].as_str().unwrap();
    assert!(why.starts_with("malformed reply: "), "{why}");
    assert_eq!(failed["metrics"]["ndcg@10"], 0.0);
    assert_eq!(missing["metrics"]["ndcg@10"], Value::Null);
    assert!(ranked["metrics"]["ndcg@10"].as_f64().unwrap() > 0.0);
    for row in [failed, ranked] {
        assert_eq!(
            (&row["llm_calls"], &row["shared_calls"]),
            (&json!(1), &json!(0))
        );
        let tokens = |key: &str| row["usage"][key].as_u64().unwrap();
        assert!(tokens("prompt_tokens") > 0 && tokens("completion_tokens") > 0);
        assert_eq!(
            tokens("total_tokens"),
            tokens("prompt_tokens") + tokens("completion_tokens")
        );
        let cost = row["cost"].as_f64().unwrap();
        assert!(
            (cost - tokens("total_tokens") as f64 / 1e6).abs() < 1e-12,
            "{row}"
        );
        assert!(row["latency_ms"].is_u64(), "{row}");
    }
    for key in [
        "failure_type",
        "error",
        "latency_ms",
        "usage",
        "llm_calls",
        "cost",
    ] {
        assert_eq!(missing[key], Value::Null, "{key}");
    }
    let report = json_of(&desk.run(&["methods", "--json", "--partial"]));
    let report = &report["methods"][1];
    assert_eq!(report["failures"][0]["query"], "q0");
    assert_eq!(report["not_run"], json!(["q2"]));
    let shown = desk.run(&["methods"]);
    let words = "rankgpt@4:strict/gpt: query q0 failed (llm_output_invalid): malformed reply";
    assert!(told(&shown).contains(words), "{}", told(&shown));
    // The provider's failures have another type.
    desk.server.fail_next(&[Fault::BadRequest]);
    rerank(&desk, 3, &[&more[..], &["--query", "q2"]].concat());
    let rows = per_query(&desk);
    assert_eq!(row(&rows, method, "q2")["failure_type"], "provider_error");
}

#[test]
fn a_run_counts_the_calls_that_it_made_and_shared_answers_have_no_time() {
    let desk = desk(&[6, 6, 6, 1], 3, "", "");
    desk.server.set_latency(Duration::from_millis(30));
    let methods = ["--method", "prp@6:p3", "--method", "prp@6:p1", "--json"];
    let output = rerank(&desk, 0, &methods);
    let found = json_of(&output);
    let calls = desk.server.requests().len();
    assert_eq!(found["calls_made"], json!(calls));
    let words = format!("8 of 8 rankings: 0 failed, {calls} calls, $");
    assert!(told(&output).contains(&words), "{}", told(&output));
    let sum = |key: &str| {
        let methods = found["methods"].as_array().unwrap().iter();
        methods.map(|row| row[key].as_u64().unwrap()).sum::<u64>() as usize
    };
    assert!(sum("shared_calls") >= 3 * 2 * 5);
    assert_eq!(sum("calls") - sum("shared_calls"), calls);
    let spent = desk.count("SELECT CAST(round(1e9 * sum(cost_usd)) AS INTEGER) FROM rerank_call");
    let said = found["spent"]["spent_usd"].as_f64().unwrap();
    assert!((said * 1e9 - spent as f64).abs() < 1.0, "{said}");
    // All answers of two passes are there.
    let output = rerank(&desk, 0, &["--method", "prp@6:p2", "--json"]);
    let found = json_of(&output);
    assert_eq!(
        (desk.server.requests().len(), &found["calls_made"]),
        (calls, &json!(0))
    );
    let method = &found["methods"][0];
    assert_eq!(method["calls"], method["shared_calls"]);
    assert_eq!(method["median_ms"], Value::Null, "{method}");
    let rows = per_query(&desk);
    for query in ["q0", "q1", "q2"] {
        assert_eq!(row(&rows, "prp@6:p2/gpt", query)["latency_ms"], Value::Null);
        // A pass asks about one pair after the other, in both orders at once.
        let latency = row(&rows, "prp@6:p3/gpt", query)["latency_ms"]
            .as_u64()
            .unwrap();
        assert!(latency >= 5 * 30, "{latency}");
    }
    let table = desk.run(&["methods", "--csv"]);
    let table = String::from_utf8(table.stdout).unwrap();
    let line = table
        .lines()
        .find(|line| line.starts_with("prp@6:p2/gpt"))
        .unwrap();
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let cells: Vec<&str> = line.split(',').collect();
    assert_eq!(header.len(), cells.len(), "{line}");
    for name in ["wall_ms_p50", "wall_ms_p95"] {
        let column = header.iter().position(|column| *column == name).unwrap();
        assert_eq!(cells[column], "", "{name}: {line}");
    }
    // A query of which some answers are there takes as long as if it had made all calls.
    let third = "DELETE FROM rerank_result; DELETE FROM rerank_call WHERE id % 3 = 0";
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    project.execute_batch(third).unwrap();
    drop(project);
    let output = rerank(&desk, 0, &["--method", "prp@6:p1", "--json"]);
    let method = &json_of(&output)["methods"][0];
    let shared = method["shared_calls"].as_u64().unwrap();
    assert!((1..30).contains(&shared), "{method}");
    assert!(method["median_ms"].as_u64().unwrap() >= 5 * 30, "{method}");
}

#[test]
fn one_document_is_treated_as_in_ranksmith() {
    let desk = desk(&[1], 3, "", "");
    let calls = |method: &str, code: i32| {
        let before = desk.server.requests().len();
        let output = rerank(&desk, code, &["--method", method, "--json"]);
        let told = json_of(&output)["methods"][0].clone();
        (desk.server.requests().len() - before, told)
    };
    assert_eq!(calls("rankgpt@20", 0).0, 1);
    assert_eq!(calls("prp@20", 0).0, 0);
    for method in ["tourrank@20:r2", "tourrank@20:r2:cpython:strict"] {
        let (made, told) = calls(method, 3);
        assert_eq!((made, &told["failed"]), (0, &json!(1)));
        let failure = &told["failures"][0];
        assert_eq!(failure["failure_type"], "input_error");
        assert_eq!(failure["query_ids"], json!(["q0"]));
        assert_eq!(
            failure["first"],
            "tourrank needs at least 2 candidates, found 1"
        );
    }
}

#[test]
fn nothing_is_spent_without_a_terminal_and_without_yes() {
    let desk = desk(&[4], 3, "", "");
    let refused = desk.run(&["rerank", "--method", "rankgpt@4"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("--yes"), "{}", told(&refused));
    assert_eq!(desk.server.requests().len(), 0);
    // What costs nothing needs no permission.
    for free in ["original", "ranker@4"] {
        let ran = desk.run(&["rerank", "--method", free]);
        assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    }
    let ran = desk.run(&["rerank", "--method", "rankgpt@4", "--judges", "bm25"]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    rerank(&desk, 0, &["--method", "rankgpt@4"]);
}

#[test]
fn a_strict_method_is_estimated_with_each_call_once() {
    let desk = desk(&[6, 6], 3, "", "");
    let most = |method: &str| {
        let output = desk.run(&["rerank", "--method", method, "--dry-run", "--json"]);
        json_of(&output)["methods"][0]["most"].clone()
    };
    for (method, calls) in [("rankgpt@6", 2.0), ("tourrank@6:r2", 8.0)] {
        let strict = most(&format!("{method}:strict"));
        assert_eq!(strict["calls"], json!(calls), "{method}");
        let lenient = most(method);
        assert_eq!(lenient["calls"], json!(5.0 * calls), "{method}");
        assert!(strict["usd"].as_f64() < lenient["usd"].as_f64());
    }
    // A call that may have been charged is not made again.
    desk.server.fail_next(&[Fault::CutBody]);
    let before = desk.server.requests().len();
    rerank(
        &desk,
        3,
        &["--method", "rankgpt@6:strict", "--one-at-a-time"],
    );
    assert_eq!(desk.server.requests().len(), before + 2);
}

/// The last word of each document that a request shows, by document.
fn last_words(text: &str) -> Vec<(String, usize)> {
    let mut last = std::collections::BTreeMap::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let parts = word.strip_prefix('d').and_then(|rest| rest.split_once('w'));
        if let Some((document, Ok(at))) = parts.map(|(of, at)| (of, at.parse::<usize>())) {
            let known = last.entry(document.to_owned()).or_insert(at);
            *known = at.max(*known);
        }
    }
    last.into_iter().collect()
}

const EVERY: [&str; 9] = [
    "rankgpt@4",
    "tourrank@4:r1",
    "setwise@4",
    "prp@4:p1",
    "pointwise@4:yesno",
    "zelo@4:b1",
    "infogain@4:r2",
    "mohajer@4:k2",
    "ranker@4",
];

fn every() -> Vec<&'static str> {
    EVERY
        .iter()
        .flat_map(|method| ["--method", method])
        .collect()
}

#[test]
fn all_methods_rank_the_same_part_of_long_documents() {
    let desk = desk(
        &[4, 4],
        500,
        "max_document_chars = 2000",
        "max_document_chars = 900",
    );
    let output = rerank(&desk, 0, &[&every()[..], &["--json"]].concat());
    let note = "truncated to 900 characters for every method: 8 documents of 2 queries";
    assert!(told(&output).contains(note), "{}", told(&output));
    let shown: BTreeSet<(String, usize)> = desk
        .server
        .requests()
        .iter()
        .flat_map(|request| last_words(&request.body.to_string()))
        .collect();
    assert_eq!(shown.len(), 4, "one length of each document: {shown:?}");
    for method in json_of(&output)["methods"].as_array().unwrap() {
        assert_eq!(method["truncated_documents"], json!(8), "{method}");
        assert_eq!(method["max_document_chars"], json!(900), "{method}");
    }
    let rows = per_query(&desk);
    for row in rows.iter().filter(|row| row["algorithm"] != "original") {
        let all = json!(["d0", "d1", "d2", "d3"]);
        assert_eq!(row["truncated_documents"], all, "{row}");
        assert_eq!(row["max_document_chars"], json!(900));
    }
    let table = desk.run(&["methods"]);
    let note = "8 documents of 2 queries truncated to 900 characters";
    assert!(told(&table).contains(note), "{}", told(&table));
    assert!(
        !told(&table).contains("different texts"),
        "{}",
        told(&table)
    );
    // Another limit is another text, ranked when it is asked for.
    let calls = desk.server.requests().len();
    let other = ["--method", "prp@4:p1", "--max-document-chars", "300"];
    rerank(&desk, 0, &other);
    assert!(desk.server.requests().len() > calls);
    let table = desk.run(&["methods"]);
    let words = "different texts: long documents were shown with 300 characters for prp@4:p1/gpt";
    assert!(told(&table).contains(words), "{}", told(&table));
}

#[test]
fn metadata_counts_towards_the_limit() {
    // A document has 2,704 characters, and 22 of metadata are shown before it.
    let limit = ["--max-document-chars", "2710", "--method", "prp@4:p1"];
    for (judge, cut) in [("", 0), ("metadata = \"all\"", 8)] {
        let desk = desk(&[4, 4], 400, judge, "");
        let found = json_of(&rerank(&desk, 0, &[&limit[..], &["--json"]].concat()));
        assert_eq!(found["methods"][0]["truncated_documents"], json!(cut));
        let refusing = [&limit[..], &["--refuse-long"]].concat();
        let output = rerank(&desk, if cut == 0 { 0 } else { 3 }, &refusing);
        let why = "characters, which is more than 2710";
        assert_eq!(told(&output).contains(why), cut > 0, "{}", told(&output));
    }
}

#[test]
fn results_of_earlier_versions_are_kept_until_a_limit_is_asked_for() {
    let desk = desk(&[4, 4], 500, "", "max_document_chars = 900");
    rerank(&desk, 0, &["--method", "rankgpt@4", "--method", "prp@4:p1"]);
    let calls = desk.server.requests().len();
    let earlier = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    earlier
        .execute_batch(
            "UPDATE rerank_result SET cut = NULL, document_chars = NULL, shared_calls = NULL, truncated = 4",
        )
        .unwrap();
    drop(earlier);
    // With the reranker, the limit is lower than those texts.
    let all = [
        "--method",
        "rankgpt@4",
        "--method",
        "prp@4:p1",
        "--method",
        "ranker@4",
    ];
    rerank(&desk, 0, &all);
    let paid = |desk: &Desk| {
        let requests = desk.server.requests();
        requests
            .iter()
            .filter(|request| request.target.contains("chat"))
            .count()
    };
    assert_eq!(paid(&desk), calls);
    let table = desk.run(&["methods"]);
    let words = "prp@4:p1/gpt, rankgpt@4/gpt: an earlier version truncated documents";
    assert!(told(&table).contains(words), "{}", told(&table));
    rerank(
        &desk,
        0,
        &[&all[..], &["--max-document-chars", "900"]].concat(),
    );
    assert!(paid(&desk) > calls);
}

#[test]
fn long_documents_are_refused_by_name_where_asked() {
    let desk = desk(&[4], 500, "max_document_chars = 2000", "");
    for more in [
        &["--method", "rankgpt@4:strict"][..],
        &["--method", "rankgpt@4", "--refuse-long"],
        &["--method", "prp@4", "--refuse-long"],
        &[
            "--method",
            "ranker@4",
            "--method",
            "zelo@4",
            "--refuse-long",
        ],
    ] {
        let output = rerank(&desk, 3, &[more, &["--json"]].concat());
        for method in json_of(&output)["methods"].as_array().unwrap() {
            let failure = &method["failures"][0];
            assert_eq!(failure["failure_type"], "input_error");
            let why = failure["first"].as_str().unwrap();
            assert!(why.starts_with("document \"d0\" has "), "{why}");
        }
        assert!(
            told(&output).contains("which is more than"),
            "{}",
            told(&output)
        );
    }
    assert_eq!(desk.server.requests().len(), 0);
    let dry = [
        "rerank",
        "--method",
        "rankgpt@4:strict",
        "--retry-failed",
        "--dry-run",
        "--json",
    ];
    let dry = json_of(&desk.run(&dry));
    assert_eq!(dry["methods"][0]["most"]["calls"], json!(0.0));
    // Not asked to refuse, they are truncated.
    rerank(&desk, 0, &["--method", "rankgpt@4"]);
    assert_eq!(desk.server.requests().len(), 1);
}
