//! `gate`: may a judge replace another one?

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A pair of query `qN`: the directions of `old` and `new`, if they vote, and of people.
pub(crate) struct Row {
    query: usize,
    pair: usize,
    old: Option<i8>,
    new: Option<i8>,
}

fn votes(rows: &[Row]) -> String {
    let mut lines = String::new();
    for row in rows {
        let Row { query, pair, .. } = row;
        let (a, b) = (2 * pair, 2 * pair + 1);
        let said = [
            (Some(-1), "ada", "human"),
            (row.old, "old", "llm"),
            (row.new, "new", "llm"),
        ];
        for (score, by, kind) in said {
            let Some(score) = score else { continue };
            let line = json!({
                "query": {"id": format!("q{query}"), "query": format!("question number {query}")},
                "a": {"id": format!("d{a}"), "content": format!("text {a} about {query}")},
                "b": {"id": format!("d{b}"), "content": format!("text {b} about {query}")},
                "by": by, "kind": kind, "score": score,
            });
            writeln!(lines, "{line}").unwrap();
        }
    }
    lines
}

/// One pair of each of 120 queries; people always prefer A.
pub(crate) fn rows(
    new: impl Fn(usize) -> Option<i8>,
    old: impl Fn(usize) -> Option<i8>,
) -> Vec<Row> {
    let row = |query| Row {
        query,
        pair: 0,
        old: old(query),
        new: new(query),
    };
    (0..120).map(row).collect()
}

pub(crate) fn project(rows: &[Row]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("votes.jsonl", votes(rows));
    sandbox.done("import votes votes.jsonl");
    sandbox
}

/// Right about all pairs but every `of`-th one.
pub(crate) fn wrong_every(of: usize) -> impl Fn(usize) -> Option<i8> {
    move |query| Some(if query.is_multiple_of(of) { 1 } else { -1 })
}

fn report(sandbox: &Sandbox, options: &str, code: i32) -> Value {
    let ran = sandbox.run(&format!("gate --judge new --against old --json {options}"));
    assert_eq!(ran.code, Some(code), "{}{}", ran.text(), ran.stderr);
    serde_json::from_str(ran.text()).unwrap()
}

#[rstest]
#[case::equal(12, "", "pass", 0)]
#[case::equal_early(12, "--early", "pass", 0)]
#[case::much_worse(2, "", "worse", 1)]
#[case::much_worse_early(2, "--early", "worse", 1)]
#[case::somewhat_worse(6, "", "undecided", 3)]
#[case::somewhat_worse_early(6, "--early", "undecided", 3)]
#[case::larger_margin(6, "--margin 0.3", "pass", 0)]
fn the_decision_is_printed_and_is_the_exit_code(
    #[case] wrong: usize,
    #[case] options: &str,
    #[case] decision: &str,
    #[case] code: i32,
) {
    let sandbox = project(&rows(wrong_every(wrong), wrong_every(11)));
    let found = report(&sandbox, options, code);
    assert_eq!(found["decision"], decision, "{found}");
    assert!(found["pairs"].as_u64().unwrap() <= 120);
    let ran = sandbox.run(&format!("gate --judge new --against old {options}"));
    assert_eq!(ran.code, Some(code));
    assert!(ran.text().starts_with(&format!("{decision}: new ")) || decision == "undecided");
    assert!(ran.text().contains(decision));
}

#[test]
fn the_same_pairs_are_tested_again_and_only_those_asked_for() {
    let sandbox = project(&rows(wrong_every(12), wrong_every(11)));
    let found = report(&sandbox, "", 0);
    assert_eq!(
        (&found["pairs"], &found["queries"], &found["method"]),
        (&json!(100), &json!(100), &json!("newcombe"))
    );
    assert_eq!(report(&sandbox, "", 0), found);
    let all = report(&sandbox, "--pairs 120", 0);
    assert_eq!(
        (&all["judge_right"], &all["against_right"]),
        (&json!(110), &json!(109))
    );
    let few = report(&sandbox, "--pairs 20", 3);
    assert_eq!(few["pairs"], 20);
}

#[test]
fn a_missing_answer_is_never_guessed() {
    // The new judge has answered only the pairs about which it is right.
    let sandbox = project(&rows(
        |query| (query % 4 > 0).then_some(-1),
        wrong_every(11),
    ));
    let found = report(&sandbox, "", 3);
    assert_eq!(found["decision"], "undecided");
    let lacking = found["lacking"].as_array().unwrap();
    assert_eq!(lacking.len(), 30);
    assert_eq!(lacking[0]["lacks"], json!(["new"]));
    let ran = sandbox.run("gate --judge new --against old");
    ran.prints("overrule annotate --pair q");
    // Early, the pairs that were not asked yet come last, so that an answered start decides.
    let none = project(&rows(|_| None, wrong_every(11)));
    none.refused("gate --judge new --against old", 2, &["no judge is called"]);
}

#[test]
fn several_pairs_of_a_query_are_tested_over_queries() {
    let rows: Vec<Row> = (0..200)
        .map(|at| Row {
            query: at % 20,
            pair: at / 20,
            old: wrong_every(11)(at),
            new: wrong_every(13)(at),
        })
        .collect();
    let sandbox = project(&rows);
    let found = report(&sandbox, "", 0);
    assert_eq!(
        (&found["pairs"], &found["method"]),
        (&json!(100), &json!("clustered"))
    );
    let early = report(&sandbox, "--early", 3);
    assert_eq!(
        (&early["pairs"], &early["queries"]),
        (&json!(20), &json!(20))
    );
    sandbox
        .run("gate --judge new --against old")
        .prints("20 queries");
}

#[test]
fn pairs_that_a_prompt_may_have_been_tuned_on_are_left_out() {
    let sandbox = project(&rows(wrong_every(12), wrong_every(11)));
    let before = report(&sandbox, "--pairs 120", 0);
    assert_eq!(before["reference_pairs"]["tuned"], 0);
    let set = sandbox.json("prompt set --json");
    let held_out = set["held_out"]["blind"].as_u64().unwrap();
    assert!(held_out > 20 && held_out < 80, "{held_out}");
    sandbox.write(
        "mine.md",
        "answer: score\n=== system ===\nJudge.\n=== case ===\n{{query}}\n{{a}}\n{{b}}\n",
    );
    sandbox.done("prompt edit score --file mine.md");
    let ran = sandbox.run("gate --judge new --against old --pairs 120 --json");
    let after: Value = serde_json::from_str(ran.text()).unwrap();
    assert_eq!(after["reference_pairs"]["blind"], held_out);
    assert_eq!(after["reference_pairs"]["tuned"], 120 - held_out);
}

#[test]
fn without_judges_or_pairs_there_is_no_decision() {
    let sandbox = project(&rows(wrong_every(12), wrong_every(11)));
    sandbox.refused(
        "gate --judge nwe --against old",
        2,
        &["did you mean \"new\""],
    );
    sandbox.refused("gate --judge old --against old", 2, &["are the same judge"]);
    sandbox.refused(
        "gate --judge new --against old --margin 1",
        2,
        &["above 0 and below 1"],
    );
    let empty = Sandbox::new();
    let lines: String = votes(&rows(wrong_every(12), wrong_every(11)))
        .lines()
        .filter(|line| !line.contains("human"))
        .map(|line| format!("{line}\n"))
        .collect();
    empty.write("votes.jsonl", lines);
    empty.done("import votes votes.jsonl");
    empty.refused(
        "gate --judge new --against old",
        2,
        &["no reference pair", "gold import"],
    );
}

#[test]
fn an_evaluation_is_logged_as_a_look_once() {
    let pairs = rows(wrong_every(9), wrong_every(10));
    let sandbox = project(&pairs);
    let looks = |options: &str| {
        let ran = sandbox.run(&format!("gate --judge new --against old --json {options}"));
        serde_json::from_str::<Value>(ran.text()).unwrap()["looks"].clone()
    };
    assert_eq!(looks(""), 1);
    assert_eq!(looks("--margin 0.05"), 1);
    assert_eq!(looks("--early"), 2);
    assert_eq!(looks("--early"), 2);
    let log = sandbox.json("log --json").to_string();
    assert_eq!(log.matches("pairs held out, p = ").count(), 2, "{log}");
    // Other answers are evaluated anew.
    sandbox.write(
        "more.jsonl",
        votes(&[Row {
            query: 0,
            pair: 1,
            old: Some(-1),
            new: Some(1),
        }]),
    );
    sandbox.done("import votes more.jsonl");
    assert_eq!(looks(""), 3);
    assert_eq!(looks("--early"), 3);
}
