//! `overrule drift`: a judge that changes is caught, one that does not is not, and no answer is paid
//! for twice.

use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};
use std::process::{Output, Stdio};
use std::time::Duration;

/// Number of queries, each with one pair.
const QUERIES: usize = 60;

/// A project with votes of a judge `gpt` that prefers the longer document. People decided the first
/// half of the pairs, always for the longer document.
fn desk() -> Desk {
    let desk = Desk::new("");
    desk.set_judge("longest");
    let (mut lines, mut gold) = (String::new(), "query,a,b,decision,note\n".to_owned());
    for query in 0..QUERIES {
        let document = |id: &str, words: usize| {
            let text: String = (0..words).map(|at| format!("w{query}x{at} ")).collect();
            json!({"id": id, "content": text})
        };
        let line = json!({
            "query": {"id": format!("q{query}"), "query": format!("trams, number {query}")},
            "documents": [document("short", 3), document("long", 20)],
        });
        lines += &format!("{line}\n");
        if query < QUERIES / 2 {
            gold += &format!("q{query},short,long,b,\n");
        }
    }
    std::fs::write(desk.path("in.jsonl"), lines).unwrap();
    std::fs::write(desk.path("gold.csv"), gold).unwrap();
    annotated(&desk);
    let output = desk.run(&["gold", "import", "gold.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

fn annotated(desk: &Desk) {
    let output = desk.annotate(&["--yes", "--probe", "0", "--cycles", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

fn drift(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["drift", "gpt"], more].concat())
}

/// A number of a report.
#[track_caller]
fn number(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

/// The report from stored answers.
#[track_caller]
fn read(desk: &Desk, code: i32) -> Value {
    desk.reported(&["drift", "gpt", "--json"], code)
}

/// Lets calls about questions with these words fail.
fn fail_on(desk: &Desk, words: &str) {
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    desk.server.answer_marked(words, 400, error);
}

/// Lets a day pass.
fn pass_a_day(desk: &Desk) {
    desk.change("UPDATE drift_round SET created_ms = created_ms - 86400000");
}

/// The report after asking.
#[track_caller]
fn asked(desk: &Desk, more: &[&str], code: i32) -> Value {
    let fixed = ["drift", "gpt", "--ask", "--yes", "--json"];
    desk.reported(&[&fixed[..], more].concat(), code)
}

#[test]
fn the_price_is_shown_first_and_nothing_changes() {
    let desk = desk();
    let before = desk.server.total_calls();
    let output = drift(&desk, &["--ask", "--dry-run", "--json"]);
    let found = json_of(&output);
    assert_eq!(
        (&found["pairs"], &found["expected"]["calls"]),
        (&json!(QUERIES), &json!(2.0 * QUERIES as f64)),
        "{found}"
    );
    assert!(number(&found["expected"]["usd"]) > 0.0, "{found}");
    assert!(told(&drift(&desk, &["--ask", "--dry-run"])).contains("dry run"));
    assert_eq!(desk.server.total_calls(), before);
    assert_eq!(desk.count("SELECT count(*) FROM drift_set"), 0);
    // Without an answer, the remedy is named.
    let none = drift(&desk, &[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(told(&none).contains("overrule drift gpt --ask"));
    let refused = desk.run(&["drift", "length", "--ask"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
}

#[test]
fn a_judge_that_does_not_change_is_unchanged_and_enters_no_fit() {
    let desk = desk();
    let before = desk.server.total_calls();
    let scores = told(&desk.run(&["queries", "--json"]));
    let votes = desk.count("SELECT count(*) FROM vote");
    let found = asked(&desk, &[], 0);
    assert_eq!(found["conclusion"], "unchanged");
    let check = &found["checks"][0];
    assert_eq!(
        (&check["of_votes"], &check["pairs"], &check["turned"]),
        (&json!(true), &json!(QUERIES), &json!(0.0))
    );
    assert_eq!(desk.server.total_calls(), before + 2 * QUERIES);
    for number in 2..5 {
        let found = asked(&desk, &[], 0);
        let check = &found["checks"][number - 1];
        assert_eq!(
            (&found["conclusion"], &check["number"]),
            (&json!("unchanged"), &json!(number))
        );
        assert_eq!(check["right"]["pairs"], QUERIES / 2);
    }
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    // Reading asks nothing; neither the scores nor later runs use the answers.
    assert_eq!(read(&desk, 0)["checks"].as_array().unwrap().len(), 4);
    assert_eq!(told(&desk.run(&["queries", "--json"])), scores);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), votes);
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    let judges = json_of(&desk.run(&["judges", "--json"]));
    assert_eq!(judges["drift"][0]["conclusion"], "unchanged");
    assert!(told(&desk.run(&["judges"])).contains("drift of gpt: unchanged so far"));
    assert!(told(&desk.run(&["log"])).contains("check of gpt"));
}

#[test]
fn a_judge_that_changes_in_the_middle_of_a_check_is_caught() {
    let desk = desk();
    asked(&desk, &[], 0);
    // From a quarter of the check on, another model answers: also about pairs that people judged,
    // wherever these come in the order of the calls.
    desk.server.replace_model("longest", "first", QUERIES / 4);
    let found = asked(&desk, &[], 1);
    assert_eq!(found["conclusion"], "judge-changed");
    let check = &found["checks"][1];
    assert!(
        number(&check["e_value"]) > number(&check["needed"]),
        "{check}"
    );
    assert!(number(&check["turned"]) > 0.1, "{check}");
    assert_eq!(
        check["served"],
        json!(["first-2026-09-01", "longest-2026-09-01"])
    );
    assert!(number(&check["right"]["difference"]) < 0.0, "{check}");
    let words = drift(&desk, &[]);
    assert_eq!(words.status.code(), Some(1));
    assert!(
        told(&words).starts_with("the judge changed: gpt\n"),
        "{}",
        told(&words)
    );
    // What it is now becomes the reference; its votes are those of the earlier model. A start that
    // is stopped continues.
    let before = desk.server.total_calls();
    let spent = json_of(&desk.run(&["status", "--json"]))["spent_usd"].clone();
    let budget = format!("{}", number(&spent) + 0.01);
    asked(&desk, &["--anew", "--budget", &budget], 3);
    let found = asked(&desk, &["--anew"], 3);
    assert_eq!(
        (&found["checks"], &found["missing_answers"]),
        (&json!([]), &json!(0))
    );
    assert_eq!(desk.server.total_calls(), before + 2 * QUERIES);
    assert_eq!(desk.count("SELECT count(*) FROM drift_set"), 2);
    let found = asked(&desk, &[], 0);
    assert_eq!(
        (&found["conclusion"], &found["checks"][0]["number"]),
        (&json!("unchanged"), &json!(2))
    );
    // Once it is complete, it starts anew again.
    asked(&desk, &["--anew"], 3);
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    assert_eq!(desk.count("SELECT count(*) FROM drift_set"), 3);
}

#[test]
fn a_judge_that_is_configured_as_before_keeps_its_reference_answers() {
    let desk = desk();
    asked(&desk, &[], 0);
    desk.set_judge("first");
    let found = read(&desk, 0);
    assert_eq!(
        (&found["model"], &found["is_as_configured"]),
        (&json!("longest"), &json!(false))
    );
    let words = told(&drift(&desk, &[]));
    assert!(
        words.contains("model longest") && words.contains("not gpt as it is configured now"),
        "{words}"
    );
    let other = drift(&desk, &["--ask", "--yes"]);
    assert!(told(&other).contains("starts anew"), "{}", told(&other));
    assert_eq!(read(&desk, 3)["model"], "first");
    desk.set_judge("longest");
    let before = desk.server.total_calls();
    let found = asked(&desk, &[], 0);
    assert_eq!(found["checks"].as_array().unwrap().len(), 2);
    assert_eq!(found["is_as_configured"], true);
    assert_eq!(desk.server.total_calls(), before + QUERIES);
    assert_eq!(desk.count("SELECT count(*) FROM drift_set"), 2);
    // The report on judges is about the one that was asked last.
    let judges = json_of(&desk.run(&["judges", "--json"]));
    assert_eq!(judges["drift"][0]["conclusion"], "unchanged");
}

#[test]
fn pairs_without_two_reference_answers_are_not_asked_about_again() {
    let desk = desk();
    fail_on(&desk, "trams, number 7");
    assert_eq!(asked(&desk, &[], 3)["missing_answers"], 2);
    desk.server.forget_marked();
    pass_a_day(&desk);
    let before = desk.server.total_calls();
    let found = asked(&desk, &[], 0);
    assert_eq!(found["checks"][1]["pairs"], QUERIES - 1);
    assert_eq!(desk.server.total_calls(), before + QUERIES - 1);
    // Without any readable reference answer, there is nothing to compare.
    desk.change("UPDATE rerank_call SET readable = 0");
    let before = desk.server.total_calls();
    let refused = drift(&desk, &["--ask", "--yes"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("--anew"), "{}", told(&refused));
    assert_eq!(desk.server.total_calls(), before);
}

#[test]
fn a_check_without_answers_is_shown_and_excludes_nothing() {
    let desk = desk();
    asked(&desk, &[], 0);
    fail_on(&desk, "trams");
    asked(&desk, &[], 3);
    let found = read(&desk, 3);
    let check = &found["checks"][1];
    assert_eq!(
        (&found["conclusion"], &check["number"], &check["pairs"]),
        (&json!("not-enough"), &json!(2), &json!(0)),
        "{found}"
    );
    assert_eq!(found["missing_answers"], QUERIES);
    let words = told(&drift(&desk, &[]));
    assert!(
        words.contains("has no answer that can be compared"),
        "{words}"
    );
    desk.server.forget_marked();
    assert_eq!(asked(&desk, &[], 0)["checks"][1]["pairs"], QUERIES);
}

#[test]
fn a_judge_that_changes_in_the_middle_of_a_run_is_caught_by_its_votes() {
    let desk = desk();
    desk.server.replace_model("longest", "first", 0);
    let found = asked(&desk, &[], 1);
    assert_eq!(
        (&found["conclusion"], &found["checks"][0]["of_votes"]),
        (&json!("judge-changed"), &json!(true)),
        "{found}"
    );
}

#[test]
fn a_check_is_due_if_another_model_answers_or_time_has_passed() {
    let desk = desk();
    asked(&desk, &[], 0);
    let before = desk.server.total_calls();
    for option in [&["--if-changed"][..], &["--every", "7d"]] {
        let found = asked(&desk, option, 0);
        assert_eq!(found["checks"].as_array().unwrap().len(), 1);
        let output = drift(&desk, &[&["--ask", "--yes"], option].concat());
        assert!(
            told(&output).contains("no check is due"),
            "{}",
            told(&output)
        );
    }
    assert_eq!(desk.server.total_calls(), before);
    // Eight days pass.
    let week = "UPDATE drift_round SET created_ms = created_ms - 8 * 86400000";
    desk.change(week);
    assert_eq!(asked(&desk, &["--if-changed"], 0)["due"]["is_old"], false);
    assert_eq!(desk.server.total_calls(), before);
    let found = asked(&desk, &["--every", "7d"], 0);
    assert_eq!(found["checks"].as_array().unwrap().len(), 2);
    assert_eq!(desk.server.total_calls(), before + QUERIES);
    // A run is answered by another model.
    desk.change("UPDATE drift_round SET created_ms = created_ms - 1000");
    desk.server.replace_model("longest", "stranger", 0);
    let more = std::fs::read_to_string(desk.path("in.jsonl")).unwrap();
    std::fs::write(
        desk.path("in.jsonl"),
        more.replace("\"id\":\"q", "\"id\":\"again")
            .replace(" w", " v"),
    )
    .unwrap();
    annotated(&desk);
    let found = read(&desk, 3);
    assert_eq!(
        (&found["conclusion"], &found["due"]["served"]),
        (&json!("not-enough"), &json!(["stranger-2026-09-01"]))
    );
    let found = asked(&desk, &["--if-changed"], 1);
    assert_eq!(found["conclusion"], "judge-changed");
}

#[test]
fn a_check_that_was_stopped_continues_and_pays_for_nothing_twice() {
    let desk = desk();
    let before = desk.server.total_calls();
    let spent = json_of(&desk.run(&["status", "--json"]))["spent_usd"]
        .as_f64()
        .unwrap();
    let budget = format!("{}", spent + 0.01);
    let stopped = drift(&desk, &["--ask", "--yes", "--json", "--budget", &budget]);
    assert_eq!(stopped.status.code(), Some(3), "{}", told(&stopped));
    assert!(told(&stopped).contains("budget"), "{}", told(&stopped));
    assert!(number(&json_of(&stopped)["missing_answers"]) > 0.0);
    let found = asked(&desk, &[], 0);
    assert_eq!(found["checks"][0]["pairs"], QUERIES);
    assert_eq!(desk.server.total_calls(), before + 2 * QUERIES);
    // The next check is killed.
    desk.server.set_latency(Duration::from_millis(20));
    let mut child = desk
        .command(&["drift", "gpt", "--ask", "--yes", "--concurrency", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while desk.server.total_calls() < before + 2 * QUERIES + 8 {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    desk.server.set_latency(Duration::ZERO);
    let stored = desk.count("SELECT count(*) FROM rerank_call WHERE readable") as usize;
    let sent = desk.server.total_calls();
    assert_eq!(asked(&desk, &[], 0)["checks"][1]["pairs"], QUERIES);
    assert_eq!(desk.server.total_calls(), sent + 3 * QUERIES - stored);
    let twice = "SELECT count(*) FROM (SELECT 1 FROM rerank_call WHERE readable GROUP BY key
                 HAVING count(*) > 1)";
    assert_eq!(desk.count(twice), 0);
    assert!(desk.count("SELECT count(*) FROM call WHERE cause = 'killed'") > 0);
}

#[test]
fn calls_that_always_fail_are_left_out_and_hold_up_no_later_check() {
    let desk = desk();
    asked(&desk, &[], 0);
    fail_on(&desk, "trams, number 7");
    let found = asked(&desk, &[], 3);
    assert_eq!(
        (&found["missing_answers"], &found["checks"][1]["pairs"]),
        (&json!(1), &json!(59))
    );
    // The same command asks only about the missing one.
    let before = desk.server.total_calls();
    assert_eq!(asked(&desk, &[], 3)["checks"].as_array().unwrap().len(), 2);
    assert_eq!(desk.server.total_calls(), before + 1);
    assert_eq!(read(&desk, 3)["missing_answers"], 1);
    desk.server.forget_marked();
    pass_a_day(&desk);
    let found = asked(&desk, &[], 0);
    let checks = found["checks"].as_array().unwrap();
    assert_eq!(
        (&checks[1]["unanswered"], &checks[2]["pairs"]),
        (&json!(1), &json!(QUERIES))
    );
    assert_eq!(desk.server.total_calls(), before + 1 + QUERIES);
}

#[test]
fn a_merge_brings_the_checks_with_their_answers() {
    let (desk, other) = (desk(), desk_without_votes());
    asked(&desk, &[], 0);
    asked(&desk, &[], 0);
    let path = desk.path("overrule.db");
    let merge = ["merge", path.to_str().unwrap(), "--json"];
    let merged = json_of(&other.run(&merge));
    assert_eq!(
        (&merged["drift_sets"], &merged["drift_rounds"]),
        (&json!(1), &json!(3)),
        "{merged}"
    );
    assert_eq!(json_of(&other.run(&merge))["drift_sets"], 0);
    let [mine, theirs] = [&desk, &other].map(|desk| json_of(&drift(desk, &["--json"])));
    assert_eq!(mine["checks"], theirs["checks"]);
}

/// An empty project.
fn desk_without_votes() -> Desk {
    let desk = Desk::new("");
    let output = desk.run(&["import", "in.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

#[test]
fn a_difference_of_rankings_is_the_systems_only_if_the_judge_is_unchanged() {
    let desk = desk();
    asked(&desk, &[], 0);
    let run = |name: &str, best: &str, other: &str| {
        let lines: String = (0..QUERIES)
            .flat_map(|query| {
                [(best, 1, 2.0), (other, 2, 1.0)].map(|(document, rank, score)| {
                    format!("q{query} Q0 {document} {rank} {score} {name}\n")
                })
            })
            .collect();
        std::fs::write(desk.path(name), lines).unwrap();
    };
    run("good.run", "long", "short");
    run("bad.run", "short", "long");
    let compared =
        |before: &str, after: &str| drift(&desk, &["--json", "--before", before, "--after", after]);
    let same = compared("good.run", "good.run");
    assert_eq!(same.status.code(), Some(0), "{}", told(&same));
    assert_eq!(json_of(&same)["rankings"]["difference"], 0.0);
    let worse = compared("good.run", "bad.run");
    assert_eq!(worse.status.code(), Some(1), "{}", told(&worse));
    let found = json_of(&worse);
    assert_eq!(found["conclusion"], "system-changed");
    assert!(number(&found["rankings"]["difference"]) < 0.0, "{found}");
    // Once the judge has changed, the difference says nothing about the system.
    desk.server.replace_model("longest", "stranger", 0);
    asked(&desk, &[], 1);
    let both = json_of(&compared("good.run", "bad.run"));
    assert_eq!(both["conclusion"], "judge-changed");
    assert!(
        both["sentences"]
            .to_string()
            .contains("may come from the judge")
    );
    // Rankings of different queries are not compared.
    let good = std::fs::read_to_string(desk.path("good.run")).unwrap();
    let part: String = good.split_inclusive('\n').take(20).collect();
    std::fs::write(desk.path("part.run"), part).unwrap();
    let lacking = compared("good.run", "part.run");
    assert_eq!(lacking.status.code(), Some(2), "{}", told(&lacking));
    assert!(
        told(&lacking).contains("part.run lacks 50 queries"),
        "{}",
        told(&lacking)
    );
    let unknown = compared("good.run", "nowhere.run");
    assert_eq!(unknown.status.code(), Some(2), "{}", told(&unknown));
}
