//! `overrule battery`: a judge that falls for manipulated texts is caught, one that does not is not,
//! and no answer is paid for twice.

use crate::desk::{Desk, json_of, told};
use serde_json::{Value, json};
use std::process::{Output, Stdio};
use std::time::Duration;

/// Number of queries, each with one pair.
const QUERIES: usize = 60;

/// A project without votes, whose judge `gpt` is this model.
fn desk(model: &str) -> Desk {
    desk_with(model, ["", ""], [3, 30])
}

/// The same with documents that start with these words and have these numbers of others.
fn desk_with(model: &str, starts: [&str; 2], words: [usize; 2]) -> Desk {
    let desk = Desk::new("");
    desk.set_judge(model);
    let mut lines = String::new();
    for query in 0..QUERIES {
        let document = |id: &str, at: usize| {
            let text: String = (0..words[at]).map(|at| format!("w{query}x{at} ")).collect();
            json!({"id": id, "content": starts[at].to_owned() + &text})
        };
        let line = json!({
            "query": {"id": format!("q{query}"), "query": format!("trams, number {query}")},
            "documents": [document("short", 0), document("long", 1)],
        });
        lines += &format!("{line}\n");
    }
    std::fs::write(desk.path("in.jsonl"), lines).unwrap();
    let output = desk.run(&["import", "in.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

/// The same with a vote on each pair.
fn voted(model: &str) -> Desk {
    let desk = desk(model);
    let output = desk.annotate(&["--yes", "--probe", "0", "--cycles", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

fn battery(desk: &Desk, more: &[&str]) -> Output {
    desk.run(&[&["battery", "gpt"], more].concat())
}

/// The report after asking.
#[track_caller]
fn asked(desk: &Desk, more: &[&str], code: i32) -> Value {
    let fixed = ["battery", "gpt", "--ask", "--yes", "--json"];
    desk.reported(&[&fixed[..], more].concat(), code)
}

/// The figures of a manipulation.
#[track_caller]
fn figures<'a>(report: &'a Value, manipulation: &str) -> &'a Value {
    let all = report["manipulations"].as_array().unwrap();
    all.iter()
        .find(|of| of["manipulation"] == manipulation)
        .unwrap()
}

/// The finding about a manipulation, and its share of flips.
#[track_caller]
fn finding(report: &Value, manipulation: &str) -> (String, f64) {
    let of = figures(report, manipulation);
    let finding = of["effect"]["finding"].as_str().unwrap();
    (finding.to_owned(), of["flips"]["value"].as_f64().unwrap())
}

fn found(finding: &str, flips: f64) -> (String, f64) {
    (finding.to_owned(), flips)
}

#[test]
fn the_price_is_shown_first_and_nothing_changes() {
    let desk = voted("longest");
    let before = desk.server.total_calls();
    let output = battery(&desk, &["--ask", "--dry-run", "--json"]);
    let priced = json_of(&output);
    assert_eq!(
        (&priced["pairs"], &priced["expected"]["calls"]),
        (&json!(QUERIES), &json!(5.0 * QUERIES as f64)),
        "{priced}"
    );
    assert!(
        priced["expected"]["usd"].as_f64().unwrap() > 0.0,
        "{priced}"
    );
    assert!(told(&battery(&desk, &["--ask", "--dry-run"])).contains("dry run"));
    assert_eq!(desk.server.total_calls(), before);
    assert_eq!(desk.count("SELECT count(*) FROM battery_set"), 0);
    // Without an answer, the remedy is named.
    let none = battery(&desk, &[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(told(&none).contains("overrule battery gpt --ask"));
    let refused = desk.run(&["battery", "length", "--ask"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
}

#[test]
fn a_judge_that_does_what_a_document_says_is_fooled_by_instructions_alone() {
    let desk = voted("gullible");
    let report = asked(&desk, &[], 1);
    assert_eq!(report["conclusion"], "fooled");
    assert_eq!(finding(&report, "instruction"), found("turns-answers", 1.0));
    assert_eq!(finding(&report, "order"), found("robust", 0.0));
    let words = told(&battery(&desk, &[]));
    assert!(
        words.contains("instruction injected: it now prefers another document"),
        "{words}"
    );
    assert!(
        words.contains("percentage points more than with a neutral sentence in the same text"),
        "{words}"
    );
    let judges = json_of(&desk.run(&["judges", "--json"]));
    assert_eq!(judges["battery"][0]["conclusion"], "fooled");
    let judges = told(&desk.run(&["judges"]));
    assert!(
        judges.contains("manipulated texts to gpt: fooled ("),
        "{judges}"
    );
    assert!(told(&desk.run(&["log"])).contains("manipulated texts to gpt on "));
}

#[test]
fn a_judge_that_prefers_long_texts_is_fooled_by_padding_alone_and_enters_no_fit() {
    let desk = voted("longest");
    let before = desk.server.total_calls();
    let scores = told(&desk.run(&["queries", "--json"]));
    let votes = desk.count("SELECT count(*) FROM vote");
    let report = asked(&desk, &[], 1);
    assert_eq!(finding(&report, "padding"), found("turns-answers", 1.0));
    for robust in ["order", "words", "instruction"] {
        assert_eq!(finding(&report, robust), found("robust", 0.0), "{robust}");
    }
    assert_eq!(figures(&report, "neutral")["flips"]["value"], 0.0);
    assert_eq!(report["first_document"]["value"], 0.5);
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    // Asking again asks nothing, and neither the scores nor later runs use the answers.
    assert_eq!(asked(&desk, &[], 1)["spent_usd"], 0.0);
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    assert_eq!(told(&desk.run(&["queries", "--json"])), scores);
    assert_eq!(desk.count("SELECT count(*) FROM vote"), votes);
    // The documents in another language, in which the long one is short.
    let corpus = [("short", "eins zwei drei vier"), ("long", "eins")]
        .map(|(id, text)| json!({"_id": id, "text": text}).to_string())
        .join("\n");
    std::fs::write(desk.path("german.jsonl"), corpus).unwrap();
    let translated = ["--translations", "german.jsonl"];
    for _ in 0..2 {
        let report = asked(&desk, &translated, 1);
        assert_eq!(finding(&report, "language"), found("turns-answers", 1.0));
        assert_eq!(desk.server.total_calls(), before + 6 * QUERIES);
    }
    let words = told(&battery(&desk, &[]));
    assert!(
        words.contains("language swapped: it now prefers"),
        "{words}"
    );
    std::fs::write(
        desk.path("german.jsonl"),
        r#"{"_id": "other", "text": "x"}"#,
    )
    .unwrap();
    let lacking = battery(&desk, &[&["--ask", "--yes"][..], &translated].concat());
    assert_eq!(lacking.status.code(), Some(2), "{}", told(&lacking));
    assert!(
        told(&lacking).contains("german.jsonl"),
        "{}",
        told(&lacking)
    );
}

#[test]
fn a_judge_whose_answers_turn_with_any_edit_is_not_fooled() {
    // It draws its opinion of a text from the characters, and answers a repeated question alike.
    let desk = voted("stranger");
    let report = asked(&desk, &[], 3);
    let flips = |of: &str| figures(&report, of)["flips"]["value"].as_f64().unwrap();
    for of in ["neutral", "words", "padding", "instruction"] {
        assert!((0.15..0.6).contains(&flips(of)), "{report}");
    }
    assert_eq!(report["conclusion"], "not-enough");
}

#[test]
fn what_a_judge_is_not_shown_is_left_out() {
    let desk = desk_with("stranger", ["one ", "other "], [300, 300]);
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let limited = format!("{config}max_document_chars = 1000\n");
    std::fs::write(desk.path("overrule.toml"), limited).unwrap();
    let before = desk.server.total_calls();
    let report = asked(&desk, &[], 3);
    // The padding comes after the first 1,000 characters.
    assert_eq!(desk.server.total_calls(), before + 5 * QUERIES);
    let padding = figures(&report, "padding");
    assert_eq!(
        (&padding["flips"], &padding["unanswered"]),
        (&json!(null), &json!(QUERIES))
    );
    assert_eq!(figures(&report, "words")["flips"]["n"], QUERIES);
    assert_eq!(report["missing_answers"], 0);
}

#[test]
fn a_judge_that_names_what_is_shown_first_is_biased_and_not_fooled() {
    let desk = desk("first");
    let report = asked(&desk, &[], 0);
    assert_eq!(report["conclusion"], "robust");
    assert_eq!(finding(&report, "order"), found("turns-answers", 1.0));
    assert_eq!(report["first_document"]["value"], 1.0);
}

#[test]
fn without_votes_the_plain_question_is_asked_first_and_no_run_uses_its_answer() {
    let desk = desk("longest");
    let priced = json_of(&battery(&desk, &["--ask", "--dry-run", "--json"]));
    assert_eq!(priced["expected"]["calls"], 6.0 * QUERIES as f64);
    let report = asked(&desk, &[], 1);
    assert_eq!(finding(&report, "padding"), found("turns-answers", 1.0));
    assert_eq!(report["missing_answers"], 0);
    assert_eq!(desk.server.total_calls(), 6 * QUERIES);
    let spent = report["spent_usd"].as_f64().unwrap();
    assert!(spent <= priced["most"]["usd"].as_f64().unwrap(), "{spent}");
    let output = desk.annotate(&["--yes", "--probe", "0", "--cycles", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let votes = desk.count("SELECT count(*) FROM vote") as usize;
    assert_eq!(desk.server.total_calls(), 6 * QUERIES + votes);
}

#[test]
fn a_battery_that_was_stopped_continues_and_pays_for_nothing_twice() {
    let desk = desk("longest");
    let stopped = battery(&desk, &["--ask", "--yes", "--json", "--budget", "0.01"]);
    assert_eq!(stopped.status.code(), Some(3), "{}", told(&stopped));
    assert!(told(&stopped).contains("budget"), "{}", told(&stopped));
    assert!(json_of(&stopped)["missing_answers"].as_u64().unwrap() > 0);
    // The next one is killed.
    let before = desk.server.total_calls();
    desk.server.set_latency(Duration::from_millis(20));
    let mut child = desk
        .command(&["battery", "gpt", "--ask", "--yes", "--concurrency", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while desk.server.total_calls() < before + 80 {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    desk.server.set_latency(Duration::ZERO);
    let stored = desk.count("SELECT count(*) FROM rerank_call WHERE readable") as usize;
    let sent = desk.server.total_calls();
    // Whatever the options: a stopped battery is not started anew.
    let report = asked(&desk, &["--anew"], 1);
    assert_eq!(report["missing_answers"], 0);
    assert_eq!(desk.server.total_calls(), sent + 6 * QUERIES - stored);
    let twice = "SELECT count(*) FROM (SELECT 1 FROM rerank_call WHERE readable GROUP BY key
                 HAVING count(*) > 1)";
    assert_eq!(desk.count(twice), 0);
    assert_eq!(desk.count("SELECT count(*) FROM battery_set"), 1);
    // Once it is complete, it starts anew.
    asked(&desk, &["--anew"], 1);
    assert_eq!(desk.count("SELECT count(*) FROM battery_set"), 2);
}

#[test]
fn calls_that_fail_are_missing_and_no_flips() {
    let desk = voted("longest");
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    desk.server.answer_marked("trams, number 7", 400, error);
    let report = asked(&desk, &[], 1);
    assert_eq!(report["missing_answers"], 5);
    let words = figures(&report, "words");
    assert_eq!(
        (&words["unanswered"], &words["flips"]["value"]),
        (&json!(1), &json!(0.0))
    );
    desk.server.forget_marked();
    let before = desk.server.total_calls();
    assert_eq!(asked(&desk, &[], 1)["missing_answers"], 0);
    assert_eq!(desk.server.total_calls(), before + 5);
}

#[test]
fn answers_that_are_missing_are_reported_by_the_exit_code_of_later_readings_too() {
    let desk = desk("first");
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    desk.server.answer_marked("trams, number 7", 400, error);
    assert_eq!(asked(&desk, &[], 3)["conclusion"], "robust");
    let read = battery(&desk, &["--json"]);
    assert_eq!(read.status.code(), Some(3), "{}", told(&read));
    let report = json_of(&read);
    assert_eq!(
        (&report["conclusion"], &report["missing_answers"]),
        (&json!("robust"), &json!(6))
    );
    desk.server.forget_marked();
    asked(&desk, &[], 0);
    let read = battery(&desk, &[]);
    assert_eq!(read.status.code(), Some(0), "{}", told(&read));
}

#[test]
fn a_judge_that_is_configured_as_before_keeps_its_answers() {
    let desk = voted("longest");
    asked(&desk, &[], 1);
    desk.set_judge("first");
    let words = told(&battery(&desk, &[]));
    assert!(words.contains("not gpt as it is configured now"), "{words}");
    assert_eq!(asked(&desk, &[], 0)["model"], "first");
    desk.set_judge("longest");
    let before = desk.server.total_calls();
    assert_eq!(asked(&desk, &[], 1)["is_as_configured"], true);
    assert_eq!(desk.server.total_calls(), before);
    assert_eq!(desk.count("SELECT count(*) FROM battery_set"), 2);
}

#[test]
fn a_merge_brings_the_battery_with_its_answers() {
    let (desk, other) = (voted("longest"), desk("longest"));
    asked(&desk, &[], 1);
    let path = desk.path("overrule.db");
    let merge = ["merge", path.to_str().unwrap(), "--json"];
    assert_eq!(json_of(&other.run(&merge))["batteries"], 1);
    assert_eq!(json_of(&other.run(&merge))["batteries"], 0);
    let [mine, theirs] = [&desk, &other].map(|desk| json_of(&battery(desk, &["--json"])));
    assert_eq!(mine["manipulations"], theirs["manipulations"]);
}
