//! `overrule lists`: list calls are planned, bought once, never repaired, and touch no score.

use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

pub(crate) const QUERIES: usize = 4;
const DOCUMENTS: usize = 10;

/// Queries with votes: as many as a qualification needs.
const VOTED: usize = 10;

/// Queries whose documents state their relevance, in an order that is not that of the relevance,
/// and two judges that order by it.
pub(crate) fn desk() -> Desk {
    let desk = Desk::new("");
    let judge = |name: &str| {
        format!(
            "[[judge]]\nname = {name:?}\nprovider = \"compatible\"\nmodel = {name:?}\n\
             base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n\n",
            desk.server.v1(),
        )
    };
    let config = judge("one") + &judge("two");
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    pools(&desk);
    desk
}

/// Imports the queries of [`desk`].
pub(crate) fn pools(desk: &Desk) {
    let mut lines = String::new();
    for query in 0..QUERIES {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let relevance = relevance(query, at) as f64 / 20.0;
                let text = format!("relevance={relevance:.2} number {at} of {query}");
                json!({"id": format!("d{at}"), "content": text})
            })
            .collect();
        let query = json!({"id": format!("q{query}"), "query": format!("question {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("pools.jsonl"), lines).unwrap();
    let output = desk.run(&["import", "pools.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

fn relevance(query: usize, document: usize) -> usize {
    (document * 7 + query) % DOCUMENTS
}

fn ask(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["lists", "ask", "--yes"], more].concat())
}

#[track_caller]
fn asked(desk: &Desk, more: &[&str]) -> Value {
    let output = ask(desk, &[more, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output)
}

fn lists(desk: &Desk, query: &str) -> Vec<Value> {
    let output = desk.run(&["lists", "show", "--query", query, "--json"]);
    json_of(&output).as_array().unwrap().clone()
}

pub(crate) fn scripted(content: &str) -> Value {
    json!({
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5},
        "model": "one",
    })
}

#[test]
fn every_plan_buys_its_calls_once_and_changes_no_score() {
    for (plan, answer) in [
        ("random", "best-worst"),
        ("swiss", "order"),
        ("top", "best:2"),
    ] {
        let desk = desk();
        let votes = desk.run(&[
            "annotate",
            "pools.jsonl",
            "--yes",
            "--probe",
            "0",
            "--cycles",
            "1",
        ]);
        assert_eq!(votes.status.code(), Some(0), "{}", told(&votes));
        let matrix = || json_of(&desk.run(&["matrix", "--query", "q1", "--json"]));
        let (scores, before) = (matrix(), desk.server.requests().len());
        let options = [
            "--size", "4", "--calls", "7", "--plan", plan, "--answer", answer,
        ];
        let dry = desk.run(&[&["lists", "ask", "--dry-run", "--json"], &options[..]].concat());
        let dry = json_of(&dry);
        assert_eq!(dry["expected"]["calls"], json!(28.0), "{dry}");
        assert!(dry["expected"]["usd"].as_f64().unwrap() <= dry["most"]["usd"].as_f64().unwrap());
        assert_eq!(desk.server.requests().len(), before);
        let told = asked(&desk, &options);
        assert_eq!(
            (&told["calls_made"], &told["missing_answers"]),
            (&json!(28), &json!(0))
        );
        assert_eq!(desk.server.requests().len() - before, 28, "{plan}");
        assert_eq!(asked(&desk, &options)["calls_made"], json!(0));
        assert_eq!(matrix(), scores, "{plan}");
        for query in 0..QUERIES {
            let lists = lists(&desk, &format!("q{query}"));
            assert_eq!(lists.len(), 7);
            for list in &lists {
                assert_eq!(list["shown"].as_array().unwrap().len(), 4);
                let order: Vec<usize> = list["order"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| relevance(query, id.as_str().unwrap()[1..].parse().unwrap()))
                    .collect();
                assert_eq!(order.len(), if answer == "order" { 4 } else { 2 });
                assert!(order.is_sorted_by(|x, y| x > y), "{list}");
            }
            let of_one = lists.iter().filter(|list| list["judge"] == "one").count();
            assert_eq!(of_one, 4, "the judges take turns");
        }
        let spent = told["spent_usd"].as_f64().unwrap();
        let overview = json_of(&desk.run(&["lists", "show", "--json"]));
        let stored: f64 = (overview.as_array().unwrap().iter())
            .map(|row| row["cost_usd"].as_f64().unwrap())
            .sum();
        assert!(
            spent > 0.0 && (spent - stored).abs() < 1e-9,
            "{spent} {stored}"
        );
    }
}

#[test]
fn the_judges_of_lists_are_also_asked_about_their_pairs() {
    let desk = desk();
    let options = ["--size", "4", "--plan", "random", "--mix", "40%"];
    let of = |calls| [&options[..], &["--calls", calls]].concat();
    let dry = [&["lists", "ask", "--dry-run", "--json"], &of("10")[..]].concat();
    let dry = desk.reported(&dry, 0);
    // 6 lists and one pair per query, which two judges judge in both orders.
    assert_eq!(
        (&dry["expected"]["calls"], &dry["pairs"]["calls"]),
        (&json!(24.0), &json!(16)),
        "{dry}"
    );
    let usd = |key: &str| dry["pairs"][key].as_f64().unwrap();
    assert!(0.0 < usd("usd") && usd("usd") <= usd("most_usd"), "{dry}");
    let output = ask(&desk, &[&of("10")[..], &["--budget", "0"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(desk.server.requests().len(), 0);
    let counts = |told: &Value| {
        let keys = [
            "calls_made",
            "missing_answers",
            "votes_made",
            "missing_votes",
        ];
        keys.map(|key| told[key].as_u64().unwrap())
    };
    let first = asked(&desk, &of("10"));
    assert_eq!(counts(&first), [24, 0, 16, 0], "{first}");
    assert_eq!(desk.server.requests().len(), 40);
    assert_eq!(counts(&asked(&desk, &of("10"))), [0, 0, 0, 0]);
    let status = desk.reported(&["status", "--json"], 0);
    let spent = first["spent_usd"].as_f64().unwrap();
    assert!((status["spent_usd"].as_f64().unwrap() - spent).abs() < 1e-9);
    // Further calls add to these pairs.
    assert_eq!(counts(&asked(&desk, &of("20"))), [24, 0, 16, 0]);
    assert_eq!(desk.server.requests().len(), 80);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 32);
    assert_eq!(desk.count("SELECT sum(swapped) FROM vote"), 16);
    let shown = "SELECT count(*) FROM battle
        JOIN document AS a ON a.query = battle.query AND a.position = battle.a
        JOIN document AS b ON b.query = battle.query AND b.position = battle.b
        JOIN query ON query.id = battle.query
        WHERE EXISTS (SELECT 1 FROM list_call WHERE list_call.query = query.name
            AND a.name IN (SELECT value FROM json_each(shown))
            AND b.name IN (SELECT value FROM json_each(shown)))";
    assert_eq!(desk.count("SELECT count(*) FROM battle"), 16);
    assert_eq!(desk.count(shown), 16);
    for (more, why) in [
        (["--calls", "20", "--judges", "one"], "judged by one,two"),
        (
            ["--calls", "1", "--query", "q0"],
            "--mix: a pair takes 4 calls",
        ),
    ] {
        let output = ask(&desk, &[&options[..], &more].concat());
        assert_ne!(output.status.code(), Some(0));
        assert!(told(&output).contains(why), "{}", told(&output));
    }
    assert_eq!(desk.server.requests().len(), 80);
}

#[test]
fn a_dataset_is_annotated_by_lists_instead_of_pairs() {
    let desk = desk();
    let dry = [
        "--project",
        "new.db",
        "annotate",
        "pools.jsonl",
        "--lists",
        "5",
        "--dry-run",
        "--json",
    ];
    // Each of 10 documents is shown eight times, five at once.
    let price = desk.reported(&dry, 0);
    assert_eq!(
        price["expected"]["calls"],
        json!(16.0 * QUERIES as f64),
        "{price}"
    );
    assert!(!desk.path("new.db").exists());
    assert_eq!(desk.server.requests().len(), 0);
    voted(&desk, true);
    std::fs::remove_file(desk.path("overrule.db")).unwrap();
    let voted = desk.run(&["annotate", "long.jsonl", "--yes", "--cycles", "9"]);
    assert_eq!(voted.status.code(), Some(0), "{}", told(&voted));
    let before = desk.server.requests().len();
    let options = ["annotate", "pools.jsonl", "scored.jsonl", "--lists", "5"];
    let options = [&options[..], &["--list-calls", "4", "--yes", "--json"]].concat();
    let output = desk.run(&options);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(json_of(&output)["calls_made"], json!(4 * QUERIES));
    assert!(
        told(&output).contains("do not count yet"),
        "{}",
        told(&output)
    );
    assert!(!desk.path("scored.jsonl").exists());
    assert_eq!(desk.server.requests().len() - before, 4 * QUERIES);
    qualify(&desk, 0);
    desk.reported(&["lists", "count", "--json"], 0);
    assert_eq!(desk.reported(&options, 0)["calls_made"], json!(0));
    let scored = std::fs::read_to_string(desk.path("scored.jsonl")).unwrap();
    assert_eq!(scored.lines().count(), QUERIES);
    assert_eq!(scored.matches("\"score\":").count(), QUERIES * DOCUMENTS);
    for (wrong, why) in [
        (["--cycles", "2"], "cannot be used with"),
        (["--shard", "1/2"], "cannot be used with"),
        (["--list-answer", "best:7"], "--list-answer"),
        (["--top", "3"], "cannot be used with"),
        (["--judges", "two"], "two"),
    ] {
        let output = desk.run(&[&options[..], &wrong].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(told(&output).contains(why), "{}", told(&output));
    }
    let output = desk.run(&["annotate", "pools.jsonl", "--mix", "20%"]);
    assert!(told(&output).contains("--lists"), "{}", told(&output));
    // Nothing is asked about the other queries of the project.
    std::fs::write(desk.path("bad.jsonl"), "{\n").unwrap();
    let bad = [
        "annotate",
        "bad.jsonl",
        "--lists",
        "5",
        "--skip-bad",
        "--yes",
    ];
    let (output, before) = (desk.run(&bad), desk.server.requests().len());
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("no valid query"),
        "{}",
        told(&output)
    );
    assert_eq!(desk.server.requests().len(), before);
}

#[test]
fn a_judge_never_gets_a_list_twice_in_the_same_order() {
    let desk = desk();
    let pools = std::fs::read_to_string(desk.path("pools.jsonl")).unwrap();
    let mut pool: Value = serde_json::from_str(pools.lines().next().unwrap()).unwrap();
    pool["query"]["id"] = json!("small");
    pool["documents"].as_array_mut().unwrap().truncate(3);
    std::fs::write(desk.path("small.jsonl"), format!("{pool}\n")).unwrap();
    let imported = desk.run(&["import", "small.jsonl"]);
    assert_eq!(imported.status.code(), Some(0), "{}", told(&imported));
    let options = ["--size", "3", "--query", "small", "--judges", "one"];
    // Eight would show each document eight times, but three documents have six orders.
    let told = asked(&desk, &options);
    assert_eq!(
        (&told["calls_made"], &told["missing_answers"]),
        (&json!(6), &json!(0))
    );
    assert_eq!(asked(&desk, &options)["calls_made"], json!(0));
    assert_eq!(desk.server.requests().len(), 6);
    assert_eq!(desk.count("SELECT count(DISTINCT key) FROM list_call"), 6);
    let calls = "SELECT count(*) FROM rerank_call";
    assert_eq!(desk.count(calls), 6);
}

#[test]
fn a_malformed_answer_is_kept_as_such_and_not_asked_again() {
    let desk = desk();
    // A document is missing, and one is named twice.
    desk.server
        .answer_marked("question 0", 200, scripted("{\"ranking\": [1, 2, 3]}"));
    desk.server
        .answer_marked("question 1", 200, scripted("{\"ranking\": [1, 2, 3, 3]}"));
    desk.server
        .answer_marked("question 2", 200, scripted("I cannot decide."));
    let options = ["--size", "4", "--calls", "2", "--plan", "random"];
    assert_eq!(asked(&desk, &options)["calls_made"], json!(2 * QUERIES));
    for (query, malformed) in [("q0", true), ("q1", true), ("q2", true), ("q3", false)] {
        for list in lists(&desk, query) {
            assert_eq!(list["malformed"].is_string(), malformed, "{list}");
            assert_eq!(list["order"].is_null(), malformed, "{list}");
            assert!(list["reply"].is_string(), "{list}");
        }
    }
    desk.server.forget_marked();
    assert_eq!(asked(&desk, &options)["calls_made"], json!(0));
    let overview = json_of(&desk.run(&["lists", "show", "--json"]));
    assert_eq!(
        (&overview[0]["malformed"], &overview[0]["answered"]),
        (&json!(3), &json!(1))
    );
}

#[test]
fn failed_calls_and_a_budget_leave_calls_to_the_next_run() {
    let desk = desk();
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    desk.server.answer_marked("question 0", 400, error);
    let options = ["--size", "4", "--calls", "2", "--plan", "random"];
    let output = ask(&desk, &options);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("2 answers missing"),
        "{}",
        told(&output)
    );
    desk.server.forget_marked();
    let output = ask(&desk, &[&options[..], &["--budget", "0"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains("larger --budget"),
        "{}",
        told(&output)
    );
    // Only as many of the calls that were planned as are wanted now.
    let fewer = ["--size", "4", "--calls", "1", "--plan", "random"];
    let dry = [&["lists", "ask", "--dry-run", "--json"], &fewer[..]].concat();
    let dry = json_of(&desk.run(&dry));
    assert_eq!(dry["expected"]["calls"], json!(1.0), "{dry}");
    assert_eq!(asked(&desk, &fewer)["calls_made"], json!(1));
    assert_eq!(asked(&desk, &options)["calls_made"], json!(1));
    assert_eq!(
        desk.count("SELECT count(*) FROM list_call"),
        2 * QUERIES as i64
    );
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    const KILLS: usize = 4;
    let desk = desk();
    desk.server.set_latency(Duration::from_millis(20));
    let options = [
        "lists",
        "ask",
        "--yes",
        "--size",
        "3",
        "--calls",
        "20",
        "--concurrency",
        "2",
    ];
    for _ in 0..KILLS {
        let mut command = desk.command(&options);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let before = desk.server.requests().len();
        while desk.server.requests().len() < before + 8 {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    desk.server.set_latency(Duration::ZERO);
    let output = desk.run(&options);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let calls = desk.server.requests().len();
    let needed = 20 * QUERIES;
    // Two in flight per judge, and as many whose answers came in the moment of the kill.
    assert!((needed..=needed + KILLS * 8).contains(&calls), "{calls}");
    assert_eq!(desk.count("SELECT count(*) FROM list_call"), needed as i64);
}

#[test]
fn a_merge_brings_list_calls_with_their_answers() {
    let (here, there) = (desk(), desk());
    let options = ["--size", "4", "--calls", "3", "--plan", "random"];
    asked(&there, &options);
    let path = there.path("overrule.db");
    let merge = ["merge", path.to_str().unwrap(), "--json"];
    assert_eq!(json_of(&here.run(&merge))["list_calls"], json!(3 * QUERIES));
    assert_eq!(json_of(&here.run(&merge))["list_calls"], json!(0));
    assert_eq!(lists(&here, "q2"), lists(&there, "q2"));
}

/// A desk with the same texts and judges, and no list calls.
fn copy(desk: &Desk) -> Desk {
    let copy = self::desk();
    for name in ["overrule.db", "overrule.toml"] {
        std::fs::copy(desk.path(name), copy.path(name)).unwrap();
    }
    copy
}

/// All rows of list calls and their calls, without the order in which they were stored.
fn rows(desk: &Desk) -> Vec<String> {
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    let sql =
        "SELECT json_array(uid, query, judge, hex(identity), form, shown, plan, round, hex(key),
                   created_ms) FROM list_call
               UNION ALL
               SELECT json_array(hex(uid), hex(key), service, answer, readable, cause, tokens_input,
                   tokens_output, format('%.17g', cost_usd), format('%.17g', latency_ms), truncated,
                   model, created_ms, message, raw) FROM rerank_call
               ORDER BY 1";
    let mut statement = project.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn exported(desk: &Desk) -> String {
    let path = desk.path("lists.jsonl");
    let path = path.to_str().unwrap();
    let output = desk.run(&["export", "lists", "--out", path]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!told(&output).contains("skipped"), "{}", told(&output));
    path.to_owned()
}

/// Number of list calls in a file, new ones, calls made for them, and new ones.
#[track_caller]
fn imported(desk: &Desk, path: &str) -> [u64; 4] {
    let import = desk.reported(&["import", "lists", path, "--json"], 0);
    ["lists", "lists_added", "calls", "calls_added"].map(|key| import[key].as_u64().unwrap())
}

fn spending(desk: &Desk) -> Value {
    let project = rusqlite::Connection::open(desk.path("overrule.db")).unwrap();
    let sql = "SELECT json_array(count(*), format('%.12g', sum(cost_usd))) FROM rerank_call";
    let text: String = project.query_row(sql, [], |row| row.get(0)).unwrap();
    let spent = desk.reported(&["status", "--json"], 0)["spent_usd"].clone();
    json!([text, spent])
}

#[test]
fn exported_lists_are_imported_row_by_row_and_not_bought_again() {
    let there = desk();
    let (here, merged) = (copy(&there), copy(&there));
    // Some calls fail, one of them is asked again, and others have malformed answers.
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    there.server.answer_marked("question 0", 400, error);
    there
        .server
        .answer_marked("question 1", 200, scripted("{\"ranking\": [1, 2, 3]}"));
    let options = ["--size", "4", "--calls", "3", "--plan", "random"];
    assert_eq!(ask(&there, &options).status.code(), Some(3));
    there.server.forget_marked();
    let again = ["--size", "4", "--calls", "1", "--plan", "random"];
    asked(&there, &[&again[..], &["--query", "q0"]].concat());
    let failed = "SELECT count(*) FROM rerank_call WHERE answer IS NULL";
    assert_eq!(there.count(failed), 3);
    let path = exported(&there);
    let dry = here.reported(&["import", "lists", &path, "--dry-run", "--json"], 0);
    assert_eq!(
        (&dry["lists_added"], &dry["calls_added"], &dry["dry_run"]),
        (&json!(12), &json!(13), &json!(true))
    );
    assert_eq!(rows(&here), [""; 0]);
    assert_eq!(imported(&here, &path), [12, 12, 13, 13]);
    assert_eq!(rows(&here), rows(&there));
    assert_eq!(imported(&here, &path), [12, 0, 13, 0]);
    assert_eq!(rows(&here), rows(&there));
    let text = std::fs::read(&path).unwrap();
    assert_eq!(here.run(&["export", "lists"]).stdout, text);
    // An import and a merge bring the same calls, in either order.
    let project = there.path("overrule.db");
    let merge = ["merge", project.to_str().unwrap(), "--json"];
    assert_eq!(here.reported(&merge, 0)["rerank_calls"], json!(0));
    assert_eq!(merged.reported(&merge, 0)["rerank_calls"], json!(13));
    assert_eq!(imported(&merged, &path), [12, 0, 13, 0]);
    for desk in [&here, &merged] {
        assert_eq!(rows(desk), rows(&there));
        assert_eq!(spending(desk), spending(&there));
    }
    // Only the failed calls are asked again.
    assert_eq!(asked(&here, &options)["calls_made"], json!(2));
    // A project with other texts.
    let other = Desk::new("");
    std::fs::write(
        other.path("pools.jsonl"),
        std::fs::read_to_string(there.path("pools.jsonl"))
            .unwrap()
            .replace("number", "no."),
    )
    .unwrap();
    let output = other.run(&["import", "pools.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let output = other.run(&["import", "lists", &path]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("lists.jsonl:1: document_sha256: document"),
        "{}",
        told(&output)
    );
    assert_eq!(rows(&other), [""; 0]);
    let table = ["export", "lists", "--format", "csv"];
    assert!(told(&there.run(&table)).contains("written as jsonl"));
    // No judge has voted, and the configuration is not valid.
    std::fs::write(there.path("overrule.toml"), "[[judge]]\n").unwrap();
    let output = there.run(&["export", "lists"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(output.stdout, b"");
    for message in [
        "judge not available: one",
        "judge not available: two",
        "the configured judges cannot be read: ",
    ] {
        assert!(told(&output).contains(message), "{}", told(&output));
    }
}

#[test]
fn lists_of_all_forms_are_exported() {
    let there = desk();
    let here = copy(&there);
    for form in ["order", "best-worst", "best:1", "best:2", "best:3"] {
        let options = ["--size", "4", "--calls", "2", "--query", "q0"];
        asked(&there, &[&options[..], &["--answer", form]].concat());
    }
    assert_eq!(imported(&here, &exported(&there)), [10, 10, 10, 10]);
    assert_eq!(rows(&here), rows(&there));
}

#[test]
fn imported_probes_qualify_a_judge_as_they_did_where_they_were_asked() {
    let there = desk();
    voted(&there, true);
    let here = copy(&there);
    asked(&there, &["--calls", "6", "--query", "long1"]);
    let passed = qualify(&there, 0);
    let path = exported(&there);
    // Lists of another model with the same name do not count.
    let other = copy(&here);
    let config = std::fs::read_to_string(other.path("overrule.toml")).unwrap();
    let changed = config.replace("longest", "shortest");
    std::fs::write(other.path("overrule.toml"), changed).unwrap();
    imported(&other, &path);
    let overview = other.reported(&["lists", "qualify", "--dry-run", "--json"], 0);
    assert_eq!(overview["expected"]["calls"], json!(60.0), "{overview}");
    // The judge is renamed in one of the projects.
    let rename = |desk: &Desk| {
        let output = desk.run(&["config", "judges", "--rename", "one", "uno"]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        let path = desk.path("overrule.toml");
        let config = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, config.replace("\"one\"", "\"uno\"")).unwrap();
    };
    let (renamed, unrenamed, voted_as_uno) = (copy(&here), copy(&here), copy(&here));
    rename(&voted_as_uno);
    imported(&here, &path);
    assert_eq!(rows(&here), rows(&there));
    // All copies ask the same server.
    let before = there.server.requests().len();
    assert_eq!(qualify(&here, 0), passed);
    let ranked = |desk: &Desk| json_of(&ranking(desk, "long1"));
    assert_eq!(ranked(&here), ranked(&there));
    rename(&there);
    rename(&renamed);
    imported(&renamed, &exported(&there));
    let uno = qualify(&renamed, 0);
    assert_eq!(
        (&uno["judge"], &uno["figures"]),
        (&json!("uno"), &passed["figures"])
    );
    assert_eq!(ranked(&renamed), ranked(&here));
    assert_eq!(imported(&here, &exported(&renamed)), [66, 0, 66, 0]);
    // Without lists, the names of its judges decide.
    for (from, to, name) in [(&renamed, &unrenamed, "one"), (&here, &voted_as_uno, "uno")] {
        assert_eq!(imported(to, &exported(from)), [66, 66, 66, 66]);
        assert_eq!(qualify(to, 0)["judge"], name);
        assert_eq!(ranked(to), ranked(&here));
    }
    assert_eq!(there.server.requests().len(), before);
    // Judges that have voted are known without a configuration.
    let text = std::fs::read(exported(&here)).unwrap();
    std::fs::write(here.path("overrule.toml"), "[[judge]]\n").unwrap();
    assert_eq!(here.run(&["export", "lists"]).stdout, text);
}

/// Lets the judge `one` be a model that votes for the longer document, and annotates. The documents
/// state a relevance that grows with their length, or none: lists then ignore the length. Every pair
/// has a vote in both orders.
fn voted(desk: &Desk, is_stated: bool) {
    let config = format!(
        "[[judge]]\nname = \"one\"\nprovider = \"compatible\"\nmodel = \"longest\"\n\
         base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n",
        desk.server.v1(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let mut lines = String::new();
    for query in 0..VOTED {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                let length = relevance(query, at);
                let stated = format!("relevance=0.{length}0 ");
                let text = format!(
                    "{}{}",
                    if is_stated { &stated } else { "" },
                    format!("w{at}q{query} ").repeat(3 + length)
                );
                json!({"id": format!("d{at}"), "content": text})
            })
            .collect();
        let query = json!({"id": format!("long{query}"), "query": format!("trams {query}")});
        writeln!(lines, "{}", json!({"query": query, "documents": documents})).unwrap();
    }
    std::fs::write(desk.path("long.jsonl"), lines).unwrap();
    let arguments = ["annotate", "long.jsonl", "--yes", "--cycles", "9"];
    let output = desk.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

fn qualify(desk: &Desk, code: i32) -> Value {
    let output = desk.run(&["lists", "qualify", "--yes", "--json"]);
    assert_eq!(output.status.code(), Some(code), "{}", told(&output));
    json_of(&output)["judges"][0].clone()
}

pub(crate) fn ranking(desk: &Desk, query: &str) -> Output {
    desk.run(&["lists", "ranking", "--query", query, "--json"])
}

/// Checks that a ranking of the second query has all documents with intervals, the best one first.
#[track_caller]
pub(crate) fn assert_ranked(found: &Value) {
    let documents = found["documents"].as_array().unwrap();
    assert_eq!(documents.len(), DOCUMENTS);
    let best: usize = documents[0]["id"].as_str().unwrap()[1..].parse().unwrap();
    assert_eq!(relevance(1, best), DOCUMENTS - 1);
    for of in documents {
        let [low, rank, high] = ["low", "rank", "high"].map(|key| of[key].as_u64().unwrap());
        assert!(low <= rank && rank <= high, "{of}");
        assert!(of["standard_error"].as_f64().unwrap() > 0.0, "{of}");
    }
}

#[test]
fn lists_count_only_once_their_judge_has_qualified() {
    let desk = desk();
    voted(&desk, true);
    let options = ["--calls", "6", "--query", "long1"];
    asked(&desk, &options);
    let refused = ranking(&desk, "long1");
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("not qualified"),
        "{}",
        told(&refused)
    );
    let before = desk.server.requests().len();
    let passed = qualify(&desk, 0);
    assert_eq!(desk.server.requests().len() - before, 60);
    assert_eq!(
        (&passed["qualification"], &passed["figures"]["calls"]),
        (&json!("passed"), &json!(60))
    );
    assert_eq!(qualify(&desk, 0), passed);
    assert_eq!(
        desk.server.requests().len() - before,
        60,
        "probes are paid for once"
    );
    assert_eq!(desk.count("SELECT count(*) FROM list_qualification"), 1);
    let predictions = &passed["figures"]["predictions"];
    assert!(
        predictions["comparisons"].as_u64().unwrap() > 100,
        "{passed}"
    );
    assert_eq!(passed["predictions"], "passed", "{passed}");
    let found = json_of(&ranking(&desk, "long1"));
    assert_eq!(
        (&found["lists"], &found["lists_not_counted"]),
        (&json!(6), &json!(0)),
        "{found}"
    );
    assert_eq!(found["dispersions"][0]["at_limit"], json!(true), "{found}");
    assert!(found["votes"].as_u64().unwrap() > 0);
    assert_ranked(&found);
    // Probes are no calls of a run.
    assert_eq!(asked(&desk, &options)["calls_made"], json!(0));
    // Another size is another kind of list.
    asked(&desk, &["--calls", "2", "--size", "4", "--query", "long1"]);
    let found = json_of(&ranking(&desk, "long1"));
    assert_eq!(
        (&found["lists"], &found["lists_not_counted"]),
        (&json!(6), &json!(2)),
        "{found}"
    );
}

#[test]
fn a_judge_qualifies_for_naming_the_best_and_the_worst_document() {
    let desk = desk();
    voted(&desk, true);
    let form = ["--answer", "best-worst"];
    asked(
        &desk,
        &[&form[..], &["--calls", "6", "--query", "long1"]].concat(),
    );
    for list in lists(&desk, "long1") {
        let order: Vec<usize> = (list["order"].as_array().unwrap().iter())
            .map(|id| relevance(1, id.as_str().unwrap()[1..].parse().unwrap()))
            .collect();
        let shown = (list["shown"].as_array().unwrap().iter())
            .map(|id| relevance(1, id.as_str().unwrap()[1..].parse().unwrap()));
        assert_eq!(order, [shown.clone().max().unwrap(), shown.min().unwrap()]);
    }
    let shown = told(&desk.run(&["lists", "show", "--query", "long1"]));
    assert!(shown.contains(" > … > "), "{shown}");
    // An order of all documents is another kind of list.
    qualify(&desk, 0);
    assert_eq!(ranking(&desk, "long1").status.code(), Some(2));
    let qualify = [&["lists", "qualify", "--yes", "--json"][..], &form].concat();
    let passed = desk.reported(&qualify, 0)["judges"][0].clone();
    assert_eq!(
        (&passed["qualification"], &passed["answer_form"]),
        (&json!("passed"), &json!("best-worst"))
    );
    assert_eq!(json_of(&ranking(&desk, "long1"))["lists"], json!(6));
    for (query, reply) in [
        ("long2", "{\"best\": 2, \"worst\": 2}"),
        ("long3", "{\"best\": 2}"),
        ("long4", "{\"best\": [1, 2], \"worst\": 3}"),
        ("long5", "{\"best\": 6, \"worst\": 3}"),
    ] {
        let marked = query.replace("long", "trams ");
        desk.server.answer_marked(&marked, 200, scripted(reply));
        let options = ["--calls", "1", "--query", query];
        asked(&desk, &[&form[..], &options].concat());
        let list = lists(&desk, query)
            .into_iter()
            .find(|list| list["plan"] != "probe")
            .unwrap();
        assert!(list["malformed"].is_string(), "{list}");
        assert!(list["order"].is_null(), "{list}");
    }
}

#[test]
fn a_judge_with_another_model_is_tested_anew() {
    let desk = desk();
    voted(&desk, true);
    let passed = qualify(&desk, 0);
    let path = desk.path("overrule.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let missing = |desk: &Desk| {
        let dry = desk.reported(&["lists", "qualify", "--dry-run", "--json"], 0);
        dry["expected"]["calls"].as_f64().unwrap()
    };
    for changed in [
        config.replace("longest", "shortest"),
        config.replace("price =", "max_document_chars = 90\nprice ="),
    ] {
        assert_ne!(changed, config);
        std::fs::write(&path, changed).unwrap();
        assert_eq!(missing(&desk), 60.0);
        // The lists of the changed judge do not count.
        asked(&desk, &["--calls", "2", "--query", "long1"]);
        let refused = ranking(&desk, "long1");
        assert!(
            told(&refused).contains("not qualified"),
            "{}",
            told(&refused)
        );
    }
    std::fs::write(&path, config).unwrap();
    assert_eq!(missing(&desk), 0.0);
    assert_eq!(qualify(&desk, 0), passed);
    asked(&desk, &["--calls", "3", "--query", "long1"]);
    let found = json_of(&ranking(&desk, "long1"));
    assert_eq!(
        (&found["lists"], &found["lists_not_counted"]),
        (&json!(3), &json!(4)),
        "{found}"
    );
}

#[test]
fn probes_of_merged_copies_are_paid_for_and_counted_once() {
    let desk = desk();
    voted(&desk, true);
    let [here, copy, other] = ["overrule.db", "copy.db", "other.db"].map(|name| desk.path(name));
    std::fs::copy(&here, &copy).unwrap();
    let passed = qualify(&desk, 0);
    std::fs::rename(&here, &other).unwrap();
    std::fs::rename(&copy, &here).unwrap();
    assert_eq!(qualify(&desk, 0), passed);
    json_of(&desk.run(&["merge", other.to_str().unwrap(), "--json"]));
    assert_eq!(desk.count("SELECT count(*) FROM list_call"), 120);
    let before = desk.server.requests().len();
    assert_eq!(qualify(&desk, 0), passed);
    assert_eq!(desk.server.requests().len(), before);
    let overview = json_of(&desk.run(&["lists", "show", "--json"]));
    assert_eq!(
        (&overview[0]["probes"], &overview[0]["answered"]),
        (&json!(true), &json!(60)),
        "{overview}"
    );
}

#[test]
fn the_lists_of_a_renamed_judge_are_not_paid_for_again() {
    let desk = desk();
    voted(&desk, true);
    let options = ["--calls", "6", "--query", "long1"];
    asked(&desk, &options);
    let passed = qualify(&desk, 0);
    let before = json_of(&ranking(&desk, "long1"));
    let output = desk.run(&["config", "judges", "--rename", "one", "uno"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let path = desk.path("overrule.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, config.replace("\"one\"", "\"uno\"")).unwrap();
    let calls = desk.server.requests().len();
    assert_eq!(asked(&desk, &options)["calls_made"], json!(0));
    let renamed = qualify(&desk, 0);
    assert_eq!(
        (&renamed["judge"], &renamed["figures"]),
        (&json!("uno"), &passed["figures"])
    );
    assert_eq!(desk.server.requests().len(), calls);
    assert_eq!(json_of(&ranking(&desk, "long1")), before);
    let lists = lists(&desk, "long1");
    assert!(lists.iter().all(|list| list["judge"] == "uno"), "{lists:?}");
}

#[test]
fn a_judge_whose_lists_contradict_its_votes_fails() {
    let desk = desk();
    voted(&desk, false);
    asked(&desk, &["--calls", "6", "--query", "long1"]);
    let failed = qualify(&desk, 1);
    assert_eq!(failed["qualification"], "failed", "{failed}");
    assert_eq!(failed["figures"]["swaps"]["value"], json!(1.0), "{failed}");
    assert_eq!(failed["votes"], "failed", "{failed}");
    let refused = ranking(&desk, "long1");
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("not qualified"),
        "{}",
        told(&refused)
    );
}

#[test]
fn impossible_lists_are_refused() {
    let desk = desk();
    for (options, reason) in [
        (
            &["--size", "4", "--calls", "1", "--answer", "best:4"][..],
            "1 to 3",
        ),
        (&["--calls", "1", "--answer", "worst"], "best-worst"),
        (&["--calls", "1", "--query", "q9"], "no query"),
        (&["--calls", "0"], "--calls"),
        (&["--size", "11", "--calls", "1"], "--size"),
    ] {
        let output = ask(&desk, options);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(reason), "{}", told(&output));
    }
    assert_eq!(desk.server.requests().len(), 0);
}

#[track_caller]
fn matrix(desk: &Desk, query: &str) -> Value {
    desk.reported(&["matrix", "--query", query, "--json"], 0)
}

#[test]
fn lists_that_count_are_in_all_scores_and_the_switch_restores_them() {
    let desk = desk();
    voted(&desk, true);
    let refused = desk.run(&["lists", "count"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    asked(
        &desk,
        &["--calls", "4", "--query", "long1", "--query", "q1"],
    );
    let refused = desk.run(&["lists", "count"]);
    assert!(
        told(&refused).contains("not qualified"),
        "{}",
        told(&refused)
    );
    qualify(&desk, 0);
    let names = ["long1", "long2", "q1"];
    let before = names.map(|query| matrix(&desk, query));
    let queries = desk.reported(&["queries", "--json"], 0);
    let prices = desk.reported(
        &[
            "lists",
            "ask",
            "--calls",
            "8",
            "--dry-run",
            "--query",
            "q3",
            "--json",
        ],
        0,
    );
    let calls = |key: &str| prices[key]["calls"].as_f64().unwrap();
    assert!((calls("votes") - 8.0 * 5.43333).abs() < 1e-3, "{prices}");
    assert_eq!((calls("expected"), calls("probes")), (8.0, 0.0), "{prices}");
    assert!(prices["votes"]["usd"].as_f64() > prices["expected"]["usd"].as_f64());
    let dry = desk.reported(&["lists", "count", "--dry-run", "--json"], 0);
    assert_eq!(
        [
            &dry["counts"],
            &dry["changed"],
            &dry["lists"],
            &dry["queries"]
        ],
        [&json!(false), &json!(false), &json!(8), &json!(2)],
        "{dry}"
    );
    assert_eq!(matrix(&desk, "long1"), before[0]);
    let on = desk.reported(&["lists", "count", "--json"], 0);
    assert_eq!(on["weights"], dry["weights"]);
    assert_eq!(on["changed"], json!(true));
    let again = desk.reported(&["lists", "count", "--json"], 0);
    assert_eq!(again["changed"], json!(false), "the same weights");

    let counted = names.map(|query| matrix(&desk, query));
    assert_ne!(counted[0]["documents"], before[0]["documents"]);
    assert_eq!(counted[1], before[1], "no list is about it");
    assert_eq!(counted[0]["other_answers_in_fit"], json!(4));
    // Nobody voted on this query: the lists alone rank it.
    assert!(before[2]["documents"][0]["zelo"].is_null(), "{}", before[2]);
    let best = counted[2]["documents"][0]["document"].as_str().unwrap();
    assert!(counted[2]["documents"][0]["zelo"].is_number());
    assert_eq!(relevance(1, best[1..].parse().unwrap()), DOCUMENTS - 1);
    assert!(
        told(&desk.run(&["matrix", "--query", "q1"])).contains("scores also count 4 list calls")
    );
    assert_ne!(desk.reported(&["queries", "--json"], 0), queries);
    let picture = |query| told(&desk.run(&["matrix", "--query", query, "--format", "svg"]));
    let drawn = picture("q1");
    assert!(drawn.contains(", from list calls</title>"), "{drawn}");
    assert!(drawn.contains(">from list calls</text>"), "{drawn}");
    // Every pair has votes.
    assert!(!picture("long1").contains("from list calls"));
    let log = told(&desk.run(&["log"]));
    assert!(log.contains("list calls count in scores"), "{log}");

    // A new list counts without another command, and a copy that merges the calls agrees.
    asked(&desk, &["--calls", "5", "--query", "long1"]);
    let more = matrix(&desk, "long1");
    assert_eq!(more["other_answers_in_fit"], json!(5));
    assert_ne!(more["documents"], counted[0]["documents"]);
    let copy = self::desk();
    voted(&copy, true);
    let path = desk.path("overrule.db");
    json_of(&copy.run(&["merge", path.to_str().unwrap(), "--json"]));
    assert_eq!(matrix(&copy, "long1")["documents"], more["documents"]);

    let off = desk.reported(&["lists", "count", "--off", "--json"], 0);
    assert_eq!(off["changed"], json!(true));
    assert_eq!(names.map(|query| matrix(&desk, query)), before);
    assert_eq!(desk.reported(&["queries", "--json"], 0), queries);
}
