//! The real binary reranking with judges and services: as many calls as the methods need, each
//! bought once, and no query lost to a bad answer.

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::{Fault, Faults};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

pub(crate) const QUERIES: usize = 8;
const DOCUMENTS: usize = 20;
/// Methods with the calls of a query of 20: windows, points of a tournament twice 20 → 10 → 5 → 2 →
/// 1, grades.
const METHODS: [(&str, usize); 3] = [
    ("rankgpt@20:w10:s5/gpt", 3),
    ("tourrank@20:r2/gpt", 8),
    ("pointwise@20:yesno/gpt", 20),
];

/// Queries whose documents state their relevance, in an order that is not that of the relevance.
pub(crate) fn desk() -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"gpt\"\nbase_url = {:?}\n\
         price = {{ input = 1.0, output = 1.0 }}\n\n\
         [[reranker]]\nname = \"ranker\"\nprovider = \"tei\"\nbase_url = {:?}\nbatch = 8\n\n\
         [[reranker]]\nname = \"mine\"\ncommand = [\"/no/such/program\"]\n",
        desk.server.v1(),
        desk.server.root(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let mut lines = String::new();
    for query in 0..QUERIES {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let relevance = f64::from(((at * 7 + query) % DOCUMENTS) as u32) / 20.0;
                json!({"id": format!("d{at}"), "content": format!("relevance={relevance:.2} number {at} of {query}")})
            })
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("question {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    desk
}

fn rerank(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["rerank", "pools.jsonl", "--yes"], more].concat())
}

/// The best document of each query by relevance, as a method found it.
fn best_are_found(desk: &Desk, method: &str) -> usize {
    (0..QUERIES)
        .filter(|query| {
            let best = (0..DOCUMENTS)
                .max_by_key(|at| (at * 7 + query) % DOCUMENTS)
                .unwrap();
            desk.count(&format!(
                "SELECT count(*) FROM rerank_result JOIN query ON query.id = query WHERE name = 'q{query}'
                 AND method = '{method}' AND ranking LIKE '[\"d{best}\",%' AND json_array_length(ranking) = {DOCUMENTS}"
            )) == 1
        })
        .count()
}

fn all_methods() -> Vec<&'static str> {
    METHODS
        .iter()
        .flat_map(|(name, _)| ["--method", name.trim_end_matches("/gpt")])
        .collect()
}

#[test]
fn methods_make_the_calls_they_need_and_buy_none_twice() {
    let desk = desk();
    let methods = [
        &all_methods()[..],
        &["--method", "prp@20:p1", "--method", "zelo@20:b2", "--json"],
    ]
    .concat();
    let dry = rerank(&desk, &[&methods[..], &["--dry-run"]].concat());
    assert_eq!(dry.status.code(), Some(2), "no project yet: {}", told(&dry));
    assert_eq!(desk.run(&["import", "pools.jsonl"]).status.code(), Some(0));
    let dry = json_of(&rerank(&desk, &[&methods[..], &["--dry-run"]].concat()));
    assert_eq!(desk.server.requests().len(), 0);
    let output = rerank(&desk, &methods);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let found = json_of(&output);
    let row = |name: &str| {
        let rows = found["methods"].as_array().unwrap();
        rows.iter()
            .find(|row| row["method"] == name)
            .unwrap()
            .clone()
    };
    for (at, (name, calls)) in METHODS.into_iter().enumerate() {
        assert_eq!(row(name)["calls"], json!(calls * QUERIES), "{name}");
        assert_eq!(
            dry["methods"][at]["expected"]["calls"],
            json!((calls * QUERIES) as f64),
            "{name}"
        );
        assert_eq!(best_are_found(&desk, name), QUERIES, "{name}");
    }
    assert_eq!(row("prp@20:p1/gpt")["calls"], json!(2 * 19 * QUERIES));
    assert_eq!(row("zelo@20:b2/gpt")["calls"], json!(2 * 20 * QUERIES));
    let calls = desk.server.requests().len();
    let kept = desk.count("SELECT count(*) FROM rerank_call");
    assert_eq!(kept as usize, calls);
    let again = rerank(&desk, &methods);
    assert_eq!(
        (again.status.code(), desk.server.requests().len()),
        (Some(0), calls)
    );
    let status = json_of(&desk.run(&["status", "--json"]));
    let spent = desk.count("SELECT CAST(round(1e9 * sum(cost_usd)) AS INTEGER) FROM rerank_call");
    let said = status["spent_usd"].as_f64().unwrap();
    assert!(
        spent > 0 && (said * 1e9 - spent as f64).abs() < 1.0,
        "{said} of {spent}"
    );
}

/// What a dry run of all methods says about these queries, by method.
fn estimated(desk: &Desk, methods: &[&str], queries: &[usize]) -> Vec<Value> {
    let names: Vec<String> = queries.iter().map(|query| format!("q{query}")).collect();
    let queries: Vec<&str> = names.iter().flat_map(|name| ["--query", name]).collect();
    let options = [methods, &queries, &["--dry-run", "--json"]].concat();
    let dry = json_of(&rerank(desk, &options));
    dry["methods"].as_array().unwrap().clone()
}

#[test]
fn at_most_is_the_sum_over_all_queries() {
    let desk = desk();
    let mut lines = std::fs::read_to_string(desk.path("pools.jsonl")).unwrap();
    // More queries than are measured for the expected cost, and the last one has a long text.
    for query in QUERIES..25 {
        let length = if query == 24 { 600 } else { 3 };
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| json!({"id": format!("d{at}"), "content": "word ".repeat(length + at)}))
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("question {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    assert_eq!(desk.run(&["import", "pools.jsonl"]).status.code(), Some(0));
    let others = [
        "prp@20:p2",
        "setwise@20",
        "zelo@20:b2",
        "infogain@20:r3",
        "mohajer@20:k5",
        "ranker",
    ];
    let others: Vec<&str> = others.iter().flat_map(|name| ["--method", name]).collect();
    let methods = [&all_methods()[..], &others].concat();
    let of = |queries: &[usize]| estimated(&desk, &methods, queries);
    let all: Vec<usize> = (0..25).collect();
    let (whole, most, last) = (of(&all), of(&all[..24]), of(&all[24..]));
    for ((whole, most), last) in whole.iter().zip(most).zip(last) {
        for key in ["calls", "tokens_input", "tokens_output", "usd"] {
            let value = |of: &Value| of["most"][key].as_f64().unwrap();
            let sum = value(&most) + value(&last);
            assert!((value(whole) - sum).abs() <= 1e-9 * sum, "{key}: {whole}");
        }
        assert!(whole["measured"].as_u64().unwrap() < 25, "{whole}");
    }
}

#[test]
fn the_expected_cost_follows_from_earlier_rankings() {
    let desk = desk();
    assert_eq!(desk.run(&["import", "pools.jsonl"]).status.code(), Some(0));
    let methods = &all_methods()[..];
    let before = estimated(&desk, methods, &[5, 6, 7]);
    let run = [methods, &["--query", "q0", "--query", "q1"]].concat();
    assert_eq!(rerank(&desk, &run).status.code(), Some(0));
    for (before, after) in before.iter().zip(estimated(&desk, methods, &[5, 6, 7])) {
        assert_eq!(
            (&before["learnt"], &after["learnt"]),
            (&json!(0), &json!(2))
        );
        assert_eq!(before["most"], after["most"]);
        let sums = |column: &str| {
            let method = after["method"].as_str().unwrap();
            desk.count(&format!(
                "SELECT sum({column}) FROM rerank_result WHERE method = '{method}'"
            )) as f64
        };
        let answered = sums("calls - failed_calls");
        let calls = after["expected"]["calls"].as_f64().unwrap();
        let [input, output] = ["tokens_in", "tokens_out"].map(|of| calls * sums(of) / answered);
        let near = |key: &str, expected: f64, tolerance: f64| {
            let found = after["expected"][key].as_f64().unwrap();
            assert!(
                (found - expected).abs() <= tolerance * expected,
                "{key}: {found} instead of {expected}"
            );
        };
        near("tokens_output", output, 0.05);
        near("tokens_input", input, 0.05);
        let tokens = |key: &str| after["expected"][key].as_f64().unwrap();
        let usd = (tokens("tokens_input") + tokens("tokens_output")) / 1e6;
        near("usd", usd, 0.001);
    }
    // Another price applies at once.
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let dearer = config.replace("input = 1.0, output = 1.0", "input = 3.0, output = 3.0");
    std::fs::write(desk.path("overrule.toml"), dearer).unwrap();
    let after = &estimated(&desk, methods, &[5, 6, 7])[0]["expected"];
    let tokens = after["tokens_input"].as_f64().unwrap() + after["tokens_output"].as_f64().unwrap();
    assert!((after["usd"].as_f64().unwrap() - 3e-6 * tokens).abs() < 3e-9 * tokens);
}

#[test]
fn no_bad_answer_ends_a_run_and_each_is_asked_once_more() {
    let desk = desk();
    desk.server.fail_at_random(Faults {
        seed: 3,
        rates: vec![
            (Fault::RateLimited, 0.05),
            (Fault::Server500, 0.02),
            (Fault::Prose, 0.004),
        ],
        ..Faults::default()
    });
    let methods = [
        &all_methods()[..],
        &["--method", "prp@20:p2", "--method", "setwise@20"],
        &["--method", "pointwise@20:grade", "--method", "zelo@20:b2"],
        &["--method", "infogain@20:r3", "--method", "mohajer@20:k5"],
        &["--json"],
    ]
    .concat();
    let output = rerank(&desk, &methods);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    for row in json_of(&output)["methods"].as_array().unwrap() {
        assert_eq!(
            (&row["ranked"], &row["failed"]),
            (&json!(QUERIES), &json!(0)),
            "{row}"
        );
    }
}

/// A judge that always fails like this.
fn always(fault: Fault) -> Faults {
    Faults {
        doomed: vec![("gpt".to_owned(), fault)],
        ..Faults::default()
    }
}

#[test]
fn words_are_no_ranking_of_any_method() {
    let desk = desk();
    desk.server.fail_at_random(always(Fault::Prose));
    let methods = [
        "rankgpt@10",
        "tourrank@10:r1",
        "setwise@10",
        "prp@10:p1",
        "zelo@10:b2",
    ];
    let grades = ["pointwise@10:grade", "pointwise@10:yesno"];
    for method in methods.into_iter().chain(grades) {
        let more = ["--method", method, "--query", "q0", "--json"];
        let output = rerank(&desk, &more);
        assert_eq!(output.status.code(), Some(3), "{}", told(&output));
        let row = &json_of(&output)["methods"][0];
        assert_eq!(
            (&row["ranked"], &row["failed"]),
            (&json!(0), &json!(1)),
            "{row}"
        );
        assert_eq!(row["repairs"], json!(0), "{row}");
        let why = row["first_failure"].as_str().unwrap();
        assert!(why.contains("malformed reply"), "{why}");
        let calls = desk.server.requests().len();
        // Known to have failed, until it is asked for again.
        assert_eq!(rerank(&desk, &more).status.code(), Some(3));
        assert_eq!(desk.server.requests().len(), calls, "{method}");
    }
    assert_eq!(
        desk.count("SELECT count(*) FROM rerank_result WHERE ranking IS NOT NULL"),
        0
    );
    assert_eq!(
        desk.count("SELECT count(*) FROM rerank_call WHERE readable"),
        0
    );
    desk.server.fail_at_random(Faults::default());
    for method in methods.into_iter().chain(grades) {
        let more = [
            "--method",
            method,
            "--query",
            "q0",
            "--retry-failed",
            "--json",
        ];
        let output = rerank(&desk, &more);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        assert_eq!(
            json_of(&output)["methods"][0]["ranked"],
            json!(1),
            "{method}"
        );
    }
}

#[test]
fn a_judge_that_answers_in_words_is_stopped_after_25_answers() {
    let desk = desk();
    desk.server.fail_at_random(always(Fault::Prose));
    let more = [
        "--method",
        "rankgpt@20",
        "--method",
        "setwise@20",
        "--method",
        "tourrank@20:r2",
    ];
    let more = [&more[..], &["--concurrency", "1"]].concat();
    let output = rerank(&desk, &more);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("gpt stopped"), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), 25);
}

#[test]
fn a_part_of_an_answer_is_repaired_and_counted() {
    let desk = desk();
    // Numbers of nobody, and one that is shown.
    let says = |text| desk.server.fail_at_random(always(Fault::Says(text)));
    says("{\"ranking\": [3, 77, 3]}");
    let output = rerank(&desk, &["--method", "rankgpt@20", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let row = &json_of(&output)["methods"][0];
    assert_eq!(
        (&row["ranked"], &row["repairs"]),
        (&json!(QUERIES), &json!(QUERIES))
    );
    let first = desk.count(
        "SELECT count(*) FROM rerank_result WHERE ranking LIKE '[\"d2\",\"d0\",\"d1\",\"d3\",%'",
    );
    assert_eq!(first as usize, QUERIES);
    // None of them is shown.
    says("{\"ranking\": [0, 77]}");
    let output = rerank(&desk, &["--method", "rankgpt@19", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let row = &json_of(&output)["methods"][0];
    assert_eq!(
        (&row["ranked"], &row["failed"]),
        (&json!(0), &json!(QUERIES))
    );
}

#[test]
fn a_strict_query_fails_alone_and_is_tried_again_when_asked() {
    let desk = desk();
    desk.server.fail_next(&[Fault::Prose]);
    let methods = [
        "--method",
        "rankgpt@20:strict",
        "--concurrency",
        "1",
        "--json",
    ];
    let output = rerank(&desk, &methods);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let row = &json_of(&output)["methods"][0];
    assert_eq!(
        (&row["ranked"], &row["failed"]),
        (&json!(QUERIES - 1), &json!(1))
    );
    let calls = desk.server.requests().len();
    assert_eq!(calls, QUERIES);
    // Not tried again unasked, and what failed is asked for once more when it is.
    assert_eq!(rerank(&desk, &methods).status.code(), Some(3));
    assert_eq!(desk.server.requests().len(), calls);
    let output = rerank(&desk, &[&methods[..], &["--retry-failed"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), calls + 1);
}

#[test]
fn queries_are_ranked_one_after_the_other_to_tell_a_methods_own_time() {
    let desk = desk();
    desk.server.set_latency(Duration::from_millis(5));
    let output = rerank(&desk, &["--method", "rankgpt@20", "--one-at-a-time"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let books = desk.server.books();
    // A call a query.
    assert_eq!((books.answered, books.most_in_flight), (QUERIES, 1));
}

#[test]
fn what_a_failed_query_no_longer_needs_is_not_bought() {
    let desk = desk();
    desk.server.fail_next(&[Fault::Prose]);
    desk.server.set_latency(Duration::from_millis(100));
    let method = "pointwise@20:yesno:strict";
    let more = ["--method", method, "--query", "q0", "--concurrency", "1"];
    let output = rerank(&desk, &more);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    // Some go out while the answer that fails the query is put away.
    let calls = desk.server.requests().len();
    assert!((1..DOCUMENTS / 2).contains(&calls), "{calls}");
    assert_eq!(
        desk.count("SELECT count(*) FROM call WHERE ended_ms IS NULL"),
        0
    );
}

#[test]
fn a_budget_ends_a_run_that_goes_on_with_a_larger_one() {
    let desk = desk();
    let method = ["--method", "pointwise@20:yesno", "--json"];
    let run = |budget: f64| {
        let budget = budget.to_string();
        rerank(&desk, &[&method[..], &["--budget", &budget]].concat())
    };
    let output = run(0.02);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("larger --budget"),
        "{}",
        told(&output)
    );
    let spent = || {
        let status = json_of(&desk.run(&["status", "--json"]));
        status["spent_usd"].as_f64().unwrap()
    };
    let calls = desk.server.requests().len();
    assert!((1..QUERIES * DOCUMENTS).contains(&calls), "{calls}");
    assert!(spent() > 0.0 && spent() <= 0.02, "{}", spent());
    let output = run(5.0);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), QUERIES * DOCUMENTS);
    assert_eq!(json_of(&output)["methods"][0]["ranked"], json!(QUERIES));
}

#[test]
fn a_budget_wants_a_price_of_everybody_that_is_asked() {
    let desk = desk();
    let unpriced = format!(
        "[[reranker]]\nname = \"dear\"\nprovider = \"compatible\"\nmodel = \"m\"\nbase_url = {:?}\nkey_env = \"OPENAI_API_KEY\"\n",
        desk.server.root()
    );
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    std::fs::write(desk.path("overrule.toml"), config + &unpriced).unwrap();
    let with_budget = |method: &str| rerank(&desk, &["--method", method, "--budget", "1"]);
    let output = with_budget("dear@20");
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let why = "no price is known for the reranker dear; set `price` in overrule.toml";
    assert!(told(&output).contains(why), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), 0);
    let output = with_budget("ranker@20");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn answers_of_a_merged_project_are_not_bought_again() {
    let desk = desk();
    let methods = ["--method", "rankgpt@20", "--method", "ranker@20", "--json"];
    let first = rerank(&desk, &methods);
    assert_eq!(first.status.code(), Some(0), "{}", told(&first));
    let calls = desk.server.requests().len();
    let other = |more: &[&str]| {
        let output = desk.run(&[&["--project", "other.db"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        output
    };
    other(&["import", "pools.jsonl"]);
    other(&["merge", "overrule.db"]);
    let again = [&["rerank", "pools.jsonl", "--yes"], &methods[..]].concat();
    let rows = json_of(&other(&again));
    assert_eq!(rows["methods"], json_of(&first)["methods"]);
    // Also where only the answers are left of it.
    let merged = rusqlite::Connection::open(desk.path("other.db")).unwrap();
    merged.execute_batch("DELETE FROM rerank_result").unwrap();
    drop(merged);
    let rows = json_of(&other(&again));
    assert_eq!(rows["methods"][0]["ranked"], json!(QUERIES));
    assert_eq!(desk.server.requests().len(), calls);
}

#[test]
fn a_dataset_is_all_that_is_ranked_of_a_project() {
    let desk = desk();
    let all = std::fs::read_to_string(desk.path("pools.jsonl")).unwrap();
    let two: Vec<&str> = all.lines().take(2).collect();
    std::fs::write(desk.path("two.jsonl"), two.join("\n") + "\n").unwrap();
    assert_eq!(desk.run(&["import", "two.jsonl"]).status.code(), Some(0));
    // What the project does not hold is not ranked, nor passed over in silence.
    let dry = rerank(&desk, &["--method", "rankgpt", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(2), "{}", told(&dry));
    assert!(
        told(&dry).contains("\"q2\" of pools.jsonl"),
        "{}",
        told(&dry)
    );
    assert!(told(&dry).contains("overrule import"), "{}", told(&dry));
    assert_eq!(desk.run(&["import", "pools.jsonl"]).status.code(), Some(0));
    let two = [
        "rerank",
        "two.jsonl",
        "--method",
        "rankgpt",
        "--yes",
        "--json",
    ];
    let dry = json_of(&desk.run(&[&two[..], &["--dry-run"]].concat()));
    assert_eq!(dry["queries"], json!(2));
    let output = desk.run(&two);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(json_of(&output)["methods"][0]["ranked"], json!(2));
    assert_eq!(desk.count("SELECT count(*) FROM rerank_result"), 2);
    // A file of candidates may hold more queries than are asked for.
    std::fs::write(
        desk.path("three.tsv"),
        "query\tdoc\nq0\td3\nq0\td5\nq1\td2\nq2\td1\n",
    )
    .unwrap();
    let one = [&two[..], &["--candidates", "three.tsv", "--query", "q0"]].concat();
    let output = desk.run(&one);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(json_of(&output)["queries"], json!(1));
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    const KILLS: usize = 10;
    let desk = desk();
    desk.server.set_latency(Duration::from_millis(20));
    let more = [
        "rerank",
        "pools.jsonl",
        "--yes",
        "--method",
        "prp@20:p2",
        "--concurrency",
        "2",
    ];
    for _ in 0..KILLS {
        let mut command = desk.command(&more);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let before = desk.server.requests().len();
        while desk.server.requests().len() < before + 12 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.server.set_latency(Duration::ZERO);
    let output = desk.run(&[&more[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let needed = json_of(&output)["methods"][0]["calls"].as_u64().unwrap() as usize;
    let calls = desk.server.requests().len();
    // Two in flight, and two whose answers came in the moment of the kill.
    assert!(
        (needed..=needed + KILLS * 4).contains(&calls),
        "{calls} for {needed}"
    );
}

#[test]
fn services_score_in_batches_and_a_missing_program_fails_its_queries() {
    let desk = desk();
    let output = rerank(&desk, &["--method", "ranker@20", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let row = &json_of(&output)["methods"][0];
    // Batches of 8, 8 and 4.
    assert_eq!(row["calls"], json!(3 * QUERIES), "{row}");
    assert_eq!(best_are_found(&desk, "ranker@20"), QUERIES);
    let allowed = desk.run(&["allow", "--yes"]);
    assert!(allowed.status.success(), "{}", told(&allowed));
    let output = rerank(&desk, &["--method", "mine@20", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let row = &json_of(&output)["methods"][0];
    assert_eq!(
        (&row["ranked"], &row["cost_usd"]),
        (&json!(0), &json!(0.0)),
        "{row}"
    );
}

#[test]
fn a_run_file_is_a_method_and_a_file_says_which_documents_are_candidates() {
    let desk = desk();
    let mut run = String::new();
    for query in 0..QUERIES {
        for (rank, document) in [5, 3, 9].into_iter().enumerate() {
            writeln!(
                run,
                "q{query} Q0 d{document} {} {} mine",
                rank + 1,
                9 - rank
            )
            .unwrap();
        }
    }
    std::fs::write(desk.path("mine.trec"), run).unwrap();
    let output = rerank(
        &desk,
        &[
            "--method",
            "mine.trec",
            "--method",
            "rankgpt",
            "--candidates",
            "mine.trec",
            "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let orders = desk.count(
        "SELECT count(*) FROM rerank_result WHERE method = 'mine.trec' AND ranking = '[\"d5\",\"d3\",\"d9\"]' AND calls = 0",
    );
    assert_eq!(orders as usize, QUERIES);
    std::fs::write(desk.path("strange.tsv"), "query\tdoc\nq0\td77\n").unwrap();
    let output = rerank(
        &desk,
        &["--method", "rankgpt", "--candidates", "strange.tsv"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("d77"), "{}", told(&output));
    let output = rerank(&desk, &["--method", "cohera@20"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("ranker"), "{}", told(&output));
}

#[test]
fn mixed_pools_are_ranked_from_the_order_of_the_first_stage() {
    let desk = desk();
    let document = |id: &str, rank: Option<u32>| match rank {
        Some(rank) => {
            json!({"id": id, "content": format!("text {id}"), "metadata": {"first_stage_rank": rank}})
        }
        None => {
            json!({"id": id, "content": format!("text {id}"), "metadata": {"source": "label-missed"}})
        }
    };
    let documents = [("x", Some(3)), ("y", None), ("z", Some(1)), ("w", Some(2))]
        .map(|(id, rank)| document(id, rank));
    let line = json!({"query": {"id": "q", "query": "question"}, "documents": documents});
    std::fs::write(desk.path("pools.jsonl"), format!("{line}\n")).unwrap();
    let output = rerank(&desk, &["--method", "original"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let orders = desk
        .count("SELECT count(*) FROM rerank_result WHERE ranking = '[\"z\",\"w\",\"x\",\"y\"]'");
    assert_eq!(orders, 1);
}
