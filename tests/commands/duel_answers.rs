//! Answers of a duel that were given elsewhere.

use crate::duels::{answer, choosing, duel};
use rstest::rstest;

#[rstest]
#[case(
    r#"{"query": "q0", "selected": [{"document": "d9"}]}"#,
    "\"d9\" is not shown"
)]
#[case(
    r#"{"query": "q0", "selected": [{"document": "d0", "start": 5, "end": 5}]}"#,
    "not within the text"
)]
#[case(
    r#"{"query": "q0", "selected": [{"document": "d0", "start": 0, "end": 9999}]}"#,
    "not within the text"
)]
#[case(
    r#"{"query": "q0", "selected": [{"document": "d0", "start": 0}]}"#,
    "go together"
)]
#[case(r#"{"query": "q0"}"#, "none_serves is true")]
#[case(r#"{"query": "q0", "prefer": 1}"#, "this is grid")]
#[case(r#"{"query": "q7", "none_serves": true}"#, "no query task on \"q7\"")]
#[case(r#"{"query": "q0", "none": true}"#, "unknown field")]
#[case(
    r#"{"query": "q0", "none_serves": true, "seconds": -5}"#,
    "seconds: -5 is not a time"
)]
fn answers_that_cannot_be_are_refused_all_together(#[case] line: &str, #[case] why: &str) {
    let (sandbox, _) = duel();
    let good = r#"{"query": "q1", "none_serves": true}"#;
    sandbox.write("answers.jsonl", format!("{good}\n{line}\n"));
    sandbox.refused("duel --answers answers.jsonl", 2, &["answers.jsonl:2", why]);
    assert_eq!(sandbox.count("SELECT count(*) FROM duel_event"), 0);
}

#[test]
fn a_file_taken_in_again_changes_what_it_says_and_nothing_else() {
    let (sandbox, made) = duel();
    let lines = choosing(&made, "top-of-a");
    answer(&sandbox, "ada", &lines);
    let events = "SELECT count(*) FROM duel_event";
    let before = sandbox.count(events);
    let judged = sandbox.done("duel --result --json").text().to_owned();
    answer(&sandbox, "ada", &lines);
    assert_eq!(sandbox.count(events), before);
    assert_eq!(sandbox.done("duel --result --json").text(), judged);

    answer(&sandbox, "ada", &choosing(&made, "top-of-b"));
    let result = sandbox.json("duel --result --json");
    assert_eq!(result["credit"]["a_only"], 0, "{result}");
    assert!(result["credit"]["b_only"].as_u64() > Some(0), "{result}");
    let line = lines.lines().next().unwrap();
    sandbox.write("answers.jsonl", format!("{line}\n{line}\n"));
    sandbox.refused(
        "duel --answers answers.jsonl",
        2,
        &["answers.jsonl:2", "a line above"],
    );
}
