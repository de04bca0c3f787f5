//! List calls through batches: half the price, nothing bought twice, whoever fetches.

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::BatchFaults;
use crate::lists::{QUERIES, pools, scripted};
use serde_json::{Value, json};
use std::process::Output;

/// One call to each of the three judges is made before its batch.
const TESTS: usize = 3;

/// All calls of [`RANDOM`].
const CALLS: usize = 6 * QUERIES;

/// A run that needs only one round.
const RANDOM: [&str; 6] = ["--size", "4", "--calls", "6", "--plan", "random"];

/// Three judges with batch endpoints, and the queries of the tests of lists.
fn desk(more: &str) -> Desk {
    let desk = Desk::new(more);
    pools(&desk);
    desk
}

fn ask(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["lists", "ask", "--yes"], &RANDOM[..], more].concat())
}

/// Runs `lists ask --batch`, which must end with this code.
#[track_caller]
fn submitted(desk: &Desk, more: &[&str], code: i32) -> Value {
    let output = ask(desk, &[&["--batch", "--json"], more].concat());
    assert_eq!(output.status.code(), Some(code), "{}", told(&output));
    json_of(&output)
}

#[track_caller]
fn fetch(desk: &Desk) -> String {
    let output = desk.run(&["batch", "fetch"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    told(&output)
}

fn answers(desk: &Desk) -> i64 {
    desk.count("SELECT count(*) FROM rerank_call WHERE readable")
}

#[track_caller]
fn assert_paid_once(desk: &Desk, calls: usize) {
    assert_eq!(desk.server.total_calls(), calls);
    assert!(desk.server.calls().values().all(|times| *times == 1));
    assert_eq!(desk.count("SELECT count(*) FROM list_call"), calls as i64);
}

fn spent(desk: &Desk) -> f64 {
    let status = desk.reported(&["status", "--json"], 0);
    status["spent_usd"].as_f64().unwrap()
}

#[test]
fn a_round_goes_through_batches_and_is_paid_for_once() {
    let desk = desk("");
    let dry = [&["lists", "ask", "--dry-run", "--json"], &RANDOM[..]].concat();
    let [alone, batched] =
        [&dry[..], &[&dry[..], &["--batch"]].concat()].map(|options| desk.reported(options, 0));
    assert_eq!(batched["expected"]["calls"], json!(CALLS as f64));
    for price in ["expected", "most"] {
        let usd = |of: &Value| of[price]["usd"].as_f64().unwrap();
        let ratio = usd(&batched) / usd(&alone);
        assert!((0.5..0.7).contains(&ratio), "{price}: {ratio}");
    }
    // So are the votes that they are compared with.
    let votes = |of: &Value| of["votes"]["usd"].as_f64().unwrap();
    let ratio = votes(&batched) / votes(&alone);
    assert!((0.49..0.51).contains(&ratio), "{ratio}");
    let told_first = submitted(&desk, &[], 3);
    assert_eq!(
        (&told_first["calls_made"], &told_first["in_batches"]),
        (&json!(TESTS), &json!(CALLS - TESTS)),
        "{told_first}"
    );
    assert_eq!(told_first["batches_submitted"], json!(3));
    assert_eq!(told_first["missing_answers"], json!(0));
    // Neither the same command nor one without --batch buys what the batches are working on.
    assert_eq!(submitted(&desk, &[], 3)["calls_made"], json!(0));
    let output = ask(&desk, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("overrule batch fetch"),
        "{}",
        told(&output)
    );
    assert!(!told(&output).contains("incomplete"), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), TESTS);
    assert_eq!(desk.count("SELECT count(*) FROM batch"), 3);
    let shown = desk.reported(&["lists", "show", "--query", "q1", "--json"], 0);
    let shown = shown.as_array().unwrap();
    assert!(
        shown.iter().any(|list| list["in_batch"] == true),
        "{shown:?}"
    );
    let status = desk.reported(&["batch", "status", "--json"], 0);
    assert_eq!(status[0]["about"], "lists", "{status}");

    desk.server.finish_batches();
    let told_last = submitted(&desk, &[], 0);
    assert_eq!(
        (&told_last["in_batches"], &told_last["missing_answers"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(answers(&desk), CALLS as i64);
    assert_paid_once(&desk, CALLS);
    let direct = self::desk("");
    assert_eq!(ask(&direct, &[]).status.code(), Some(0));
    let ratio = (spent(&desk) / spent(&direct) - TESTS as f64 / CALLS as f64)
        / (1.0 - TESTS as f64 / CALLS as f64);
    assert!(
        (ratio - 0.5).abs() < 0.05,
        "batches cost {ratio} of the price"
    );
    assert_eq!(ask(&desk, &[]).status.code(), Some(0));
    assert_paid_once(&desk, CALLS);
}

#[test]
fn swiss_rounds_go_through_batches_one_after_another() {
    let desk = desk("");
    let options = ["--calls", "8", "--size", "5", "--judges", "gpt,claude"];
    let ask = || {
        let output = desk.run(&[&["lists", "ask", "--yes", "--batch"], &options[..]].concat());
        desk.server.finish_batches();
        output
    };
    let mut rounds = 1;
    let mut output = ask();
    // The two lists of the first query were the test calls; three others wait.
    assert!(
        told(&output).contains("18 of later rounds"),
        "{}",
        told(&output)
    );
    while output.status.code() == Some(3) && rounds < 9 {
        output = ask();
        rounds += 1;
    }
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // Two lists show ten documents; the last command finds everything answered.
    assert_eq!(rounds, 5);
    assert_eq!(answers(&desk), 8 * QUERIES as i64);
    assert_paid_once(&desk, 8 * QUERIES);
}

#[test]
fn a_judge_whose_first_call_fails_submits_nothing() {
    let desk = desk("");
    desk.server
        .answer_marked("question 0", 200, scripted("I cannot decide."));
    let options = ["--judges", "gpt"];
    let told_first = submitted(&desk, &options, 3);
    assert_eq!(told_first["batches_submitted"], json!(0), "{told_first}");
    assert_eq!(told_first["calls_made"], json!(1));
    assert_eq!(told_first["missing_answers"], json!(CALLS - 1));
    // The malformed answer is kept; the next test is another list.
    desk.server.forget_marked();
    assert_eq!(
        submitted(&desk, &options, 3)["in_batches"],
        json!(CALLS - 2)
    );
    desk.server.finish_batches();
    assert_eq!(submitted(&desk, &options, 0)["calls_made"], json!(0));
    assert_paid_once(&desk, CALLS);
}

#[test]
fn what_a_batch_did_not_make_is_asked_again_and_errors_cost_nothing() {
    let desk = desk("");
    submitted(&desk, &["--judges", "gpt,claude"], 3);
    desk.server.expire_batches(4);
    let words = fetch(&desk);
    assert!(
        words.contains("4 lists, 0 failures, 7 calls not made"),
        "{words}"
    );
    desk.server.set_batch_faults(BatchFaults {
        failing: 2,
        unusable: 1,
        ..BatchFaults::default()
    });
    submitted(&desk, &["--judges", "gpt,claude"], 3);
    desk.server.finish_batches();
    let words = fetch(&desk);
    assert!(
        words.contains("3 lists, 3 failures, 0 calls not made"),
        "{words}"
    );
    let (failed, malformed) = (
        desk.count("SELECT count(*) FROM rerank_call WHERE answer IS NULL"),
        desk.count("SELECT count(*) FROM rerank_call WHERE answer IS NOT NULL AND NOT readable"),
    );
    assert_eq!((failed, malformed), (4, 2));
    // An error is asked again, and a malformed answer is not.
    desk.server.set_batch_faults(BatchFaults::default());
    let asked = ask(&desk, &["--judges", "gpt,claude", "--json"]);
    assert_eq!(asked.status.code(), Some(0), "{}", told(&asked));
    assert_eq!(json_of(&asked)["calls_made"], json!(4));
    assert_eq!(answers(&desk), CALLS as i64 - 2);
}

#[test]
fn a_test_call_is_not_submitted_for_another_query_with_the_same_texts() {
    let desk = desk("");
    let line = |id: &str| {
        let documents = ["d0", "d1", "d2"].map(|id| json!({"id": id, "content": id}));
        json!({"query": {"id": id, "query": "same"}, "documents": documents}).to_string()
    };
    std::fs::write(desk.path("same.jsonl"), line("one") + "\n" + &line("two")).unwrap();
    desk.reported(&["import", "same.jsonl", "--json"], 0);
    let options = [
        "--size", "3", "--plan", "random", "--judges", "gpt", "--yes",
    ];
    let queries = [
        "lists", "ask", "--query", "one", "--query", "two", "--batch",
    ];
    let ask = || desk.run(&[&queries[..], &options[..]].concat());
    assert_eq!(ask().status.code(), Some(3));
    desk.server.finish_batches();
    let output = ask();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // Three documents have six orders.
    assert_eq!(desk.count("SELECT count(*) FROM list_call"), 12);
    assert_eq!(answers(&desk), 6);
    assert_eq!(desk.server.total_calls(), 6);
}

#[test]
fn a_usable_answer_is_kept_after_an_error_for_the_same_call() {
    let desk = desk("");
    desk.server.set_batch_faults(BatchFaults {
        failing: CALLS,
        ..BatchFaults::default()
    });
    submitted(&desk, &["--judges", "gpt"], 3);
    let remote = "SELECT remote FROM batch";
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    let remote: String = project.query_row(remote, [], |row| row.get(0)).unwrap();
    drop(project);
    desk.server.finish_batches();
    fetch(&desk);
    assert_eq!(answers(&desk), 1);
    // The provider has answers after all.
    desk.server.clear_batch_errors();
    let adopted = desk.run(&["batch", "adopt", "1", &remote]);
    assert_eq!(adopted.status.code(), Some(0), "{}", told(&adopted));
    fetch(&desk);
    assert_eq!(answers(&desk), CALLS as i64);
    assert_eq!(
        submitted(&desk, &["--judges", "gpt"], 0)["calls_made"],
        json!(0)
    );
}

#[test]
fn a_list_that_always_fails_does_not_keep_its_judge_from_batches() {
    let desk = desk("");
    let error = json!({"error": {"message": "too long", "type": "invalid_request_error"}});
    desk.server.answer_marked("question 0", 400, error);
    let options = ["--judges", "gpt"];
    let output = ask(&desk, &[&["--batch"], &options[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("1 of 1 call made"),
        "{}",
        told(&output)
    );
    assert!(told(&output).contains("another list"), "{}", told(&output));
    let next = submitted(&desk, &options, 3);
    assert_eq!(
        next["batches_submitted"],
        json!(0),
        "another list of it fails, too: {next}"
    );
    let tested = "SELECT count(DISTINCT key) FROM rerank_call";
    assert_eq!(desk.count(tested), 2);
    for _ in 2..6 {
        submitted(&desk, &options, 3);
    }
    // All six lists of the query have failed; a list of another query passes.
    assert_eq!(submitted(&desk, &options, 3)["batches_submitted"], json!(1));
}

#[test]
fn a_batch_of_more_lists_than_are_wanted_now_holds_nothing_up() {
    let desk = desk("");
    submitted(&desk, &["--judges", "gpt"], 3);
    let fewer = [
        "lists", "ask", "--yes", "--judges", "gpt", "--size", "4", "--plan", "random",
    ];
    let query = ["--query", "q0", "--calls", "1"];
    let output = desk.run(&[&fewer[..], &query].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // More lists of a random plan do not wait for those in the batch.
    let more = ["--query", "q0", "--calls", "8", "--json"];
    let told_more = desk.reported(&[&fewer[..], &more].concat(), 3);
    assert_eq!(
        (&told_more["calls_made"], &told_more["in_batches"]),
        (&json!(2), &json!(5)),
        "{told_more}"
    );
    assert_eq!(told_more["missing_answers"], json!(0));
}

#[test]
fn a_ranking_waits_for_a_batch_that_makes_one_of_its_calls() {
    let desk = desk("");
    let rerank = || {
        let method = [
            "rerank",
            "--method",
            "rankgpt:strict",
            "--judges",
            "gpt",
            "--yes",
        ];
        desk.run(&[&method[..], &["--query", "q0"]].concat())
    };
    assert_eq!(rerank().status.code(), Some(0));
    let asked = desk.server.total_calls();
    submitted(&desk, &["--judges", "gpt"], 3);
    let before = desk.server.total_calls();
    desk.change(
        "UPDATE batch_call SET call_key = (SELECT key FROM rerank_call ORDER BY id LIMIT 1)
             WHERE number = 0;
         DELETE FROM rerank_result;
         DELETE FROM rerank_call WHERE id = 1;",
    );
    let output = rerank();
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("waits for"), "{}", told(&output));
    assert_eq!(desk.server.total_calls(), before);
    assert!(asked > 0);
}

#[test]
fn lists_in_a_batch_are_not_asked_again_under_another_name_of_their_judge() {
    let desk = desk("price = { input = 10.0, output = 10.0 }");
    desk.server.set_batch_faults(BatchFaults {
        no_usage: true,
        ..BatchFaults::default()
    });
    submitted(&desk, &["--judges", "gpt"], 3);
    let output = desk.run(&["config", "judges", "--rename", "gpt", "oracle"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let path = desk.path("overrule.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, config.replace("\"gpt\"", "\"oracle\"")).unwrap();
    let options = ["--judges", "oracle"];
    let pending = submitted(&desk, &options, 3);
    assert_eq!(
        (&pending["calls_made"], &pending["in_batches"]),
        (&json!(0), &json!(CALLS - 1))
    );
    desk.server.finish_batches();
    assert_eq!(submitted(&desk, &options, 0)["in_batches"], json!(0));
    assert_paid_once(&desk, CALLS);
    assert_eq!(submitted(&desk, &options, 0)["calls_made"], json!(0));
    // Answers without usage are assumed at the highest price, under the name that was asked.
    let status = desk.reported(&["status", "--json"], 0);
    assert_eq!(status["calls_without_price"], json!(0), "{status}");
}

#[test]
fn a_batch_of_lists_that_two_projects_fetch_is_paid_for_once() {
    for fetches_here in [false, true] {
        let here = desk("");
        here.server.set_batch_faults(BatchFaults {
            failing: 2,
            unusable: 1,
            no_usage: true,
            ..BatchFaults::default()
        });
        submitted(&here, &["--judges", "gpt"], 3);
        here.server.finish_batches();
        let there = tempfile::tempdir().unwrap();
        for name in ["overrule.db", "overrule.toml"] {
            std::fs::copy(here.path(name), there.path().join(name)).unwrap();
        }
        let mut command = here.command(&["batch", "fetch"]);
        let output = command.current_dir(there.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        if fetches_here {
            fetch(&here);
        }
        // Both have the same records, whoever fetched them when.
        let mut command = here.command(&["export", "lists", "--out", "lists.jsonl"]);
        let output = command.current_dir(there.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        let exported = there.path().join("lists.jsonl");
        let import = ["import", "lists", exported.to_str().unwrap(), "--json"];
        let added = here.reported(&import, 0)["calls_added"].clone();
        assert_eq!(added == json!(0), fetches_here, "{added}");
        let other = there.path().join("overrule.db");
        let merged = here.run(&["merge", other.to_str().unwrap()]);
        assert_eq!(merged.status.code(), Some(0), "{}", told(&merged));
        let fetched = fetch(&here);
        assert!(fetched.contains("no open batch"), "{fetched}");
        for (table, rows) in [("rerank_call", CALLS), ("call", CALLS - 1 - 2)] {
            let count = here.count(&format!("SELECT count(*) FROM {table}"));
            assert_eq!(count, rows as i64, "{table} {fetches_here}");
        }
    }
}

#[test]
fn the_budget_counts_what_batches_of_lists_may_cost() {
    let desk = desk("price = { input = 1000.0, output = 1000.0 }\nmax_output_tokens = 100");
    let dry = [
        "lists",
        "ask",
        "--judges",
        "gpt",
        "--batch",
        "--dry-run",
        "--json",
    ];
    let most = desk.reported(&[&dry[..], &RANDOM[..]].concat(), 0)["most"]["usd"].clone();
    let budget = most.as_f64().unwrap() / 2.0;
    let options = ["--judges", "gpt", "--budget", &budget.to_string()];
    let told_first = submitted(&desk, &options, 3);
    assert_eq!(told_first["budget_reached"], json!(true), "{told_first}");
    let handed = told_first["calls_submitted"].as_u64().unwrap();
    assert!(0 < handed && handed < CALLS as u64 - 1, "{told_first}");
    desk.server.finish_batches();
    fetch(&desk);
    assert!(spent(&desk) <= budget, "{} of {budget}", spent(&desk));
}

#[test]
fn a_dataset_is_annotated_by_lists_in_batches() {
    let desk = desk("");
    let options = [
        "annotate",
        "pools.jsonl",
        "scored.jsonl",
        "--lists",
        "4",
        "--list-calls",
        "6",
        "--list-plan",
        "random",
        "--yes",
        "--json",
        "--batch",
    ];
    let told_first = desk.reported(&options, 3);
    assert_eq!(
        told_first["in_batches"],
        json!(CALLS - TESTS),
        "{told_first}"
    );
    desk.server.finish_batches();
    let output = desk.run(&options);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("do not count yet"),
        "{}",
        told(&output)
    );
    assert_eq!(answers(&desk), CALLS as i64);
    assert_paid_once(&desk, CALLS);
    let mixed = desk.run(&[&options[..], &["--mix", "20%"]].concat());
    assert!(
        told(&mixed).contains("cannot be used with"),
        "{}",
        told(&mixed)
    );
}

#[test]
fn judges_without_a_batch_endpoint_are_refused() {
    let desk = crate::lists::desk();
    let output = ask(&desk, &["--batch"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("no batch endpoint"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), 0);
}

#[test]
fn metadata_that_an_open_batch_of_lists_shows_is_not_replaced() {
    let desk = Desk::new("metadata = [\"price\"]");
    let import = |price: u32| {
        let documents = (0..6).map(|at| {
            json!({"id": format!("d{at}"), "content": format!("text {at}"), "metadata": {"price": price}})
        });
        let documents: Vec<Value> = documents.collect();
        let line = json!({"query": {"id": "q", "query": "trams"}, "documents": documents});
        std::fs::write(desk.path("priced.jsonl"), format!("{line}\n")).unwrap();
        desk.run(&["import", "priced.jsonl"])
    };
    assert_eq!(import(100).status.code(), Some(0));
    submitted(&desk, &["--judges", "gpt"], 3);
    let refused = import(900);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    let why = "open batch of \"gpt\"";
    assert!(told(&refused).contains(why), "{}", told(&refused));
    desk.server.finish_batches();
    fetch(&desk);
    assert_eq!(import(900).status.code(), Some(0));
}
