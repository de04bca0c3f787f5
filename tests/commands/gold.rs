//! `gold`: people measured on known answers.

use super::people::{annotated, says};
use rstest::rstest;
use serde_json::{Value, json};

#[rstest]
#[case::csv("query,a,b,decision,note\nq0,d0,d1,a,clear\nq0,d3,d2,much-b,\n")]
#[case::jsonl(
    "{\"query\":\"q0\",\"a\":\"d0\",\"b\":\"d1\",\"decision\":\"a\",\"note\":\"clear\"}\n{\"query\":\"q0\",\"a\":\"d3\",\"b\":\"d2\",\"decision\":\"much-b\"}"
)]
fn people_are_measured_on_known_answers(#[case] file: &str) {
    let sandbox = annotated();
    sandbox.write("gold", file);
    let checked = sandbox.json("gold import gold --dry-run --json");
    assert_eq!(
        (&checked["added"], &checked["dry_run"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(sandbox.count("SELECT count(*) FROM gold"), 0);
    assert_eq!(sandbox.json("gold import gold --json")["added"], 2);
    let again = sandbox.json("gold import gold --json");
    assert_eq!(
        (&again["added"], &again["unchanged"]),
        (&json!(0), &json!(2))
    );

    says(&sandbox, "ada", "d1", "d0", "much-b");
    says(&sandbox, "ada", "d2", "d3", "b");
    says(&sandbox, "ada", "d4", "d5", "b");
    says(&sandbox, "eve", "d0", "d1", "cannot-tell");
    let listed = sandbox.json("gold list --json");
    assert_eq!(
        listed["items"],
        json!([
            { "query": "q0", "a": "d0", "b": "d1", "decision": "a", "note": "clear" },
            { "query": "q0", "a": "d2", "b": "d3", "decision": "much-a", "note": null },
        ])
    );
    let people = &listed["people"];
    assert_eq!(
        (
            &people[0]["right"],
            &people[0]["judged"],
            &people[0]["share"]
        ),
        (&json!(1), &json!(2), &json!(0.5))
    );
    let interval = &people[0]["interval_95"];
    assert!(
        (interval[0].as_f64().unwrap() - 0.0945).abs() < 1e-3,
        "{interval}"
    );
    assert_eq!(
        (&people[1]["cannot_tell"], &people[1]["share"]),
        (&json!(1), &Value::Null)
    );
    let text = sandbox.done("gold list");
    assert!(
        text.text()
            .contains("ada: 1 of 2 right: 50.0 % (95 %: 9.5–90.5 %)"),
        "{}",
        text.text()
    );
}

#[rstest]
#[case::query("q9,d0,d1,a", "gold:3: no query \"q9\"")]
#[case::document("q0,d0,d99,a", "gold:3: no document \"d99\"")]
#[case::word("q0,d0,d1,better", "gold:3: decision: expected a, b, tie")]
#[case::against_itself(
    "q0,d1,d0,a",
    "gold:3: the pair's known answer is b, not a; keep one of the two lines"
)]
fn a_wrong_gold_item_is_named_and_none_is_kept(#[case] line: &str, #[case] words: &str) {
    let sandbox = annotated();
    sandbox.write("gold", format!("query,a,b,decision\nq0,d0,d1,a\n{line}\n"));
    sandbox.refused("gold import gold", 2, &[words, "nothing imported"]);
    assert_eq!(sandbox.count("SELECT count(*) FROM gold"), 0);
}

#[test]
fn a_known_answer_gives_way_only_when_asked_to() {
    let sandbox = annotated();
    sandbox.write("gold", "query,a,b,decision\nq0,d0,d1,a\n");
    sandbox.done("gold import gold");
    sandbox.write("other", "query,a,b,decision\nq0,d1,d0,tie\n");
    sandbox.refused(
        "gold import other",
        2,
        &[
            "other:2: the pair's known answer is b, not tie",
            "--replace",
        ],
    );
    assert_eq!(
        sandbox.json("gold import other --replace --json")["replaced"],
        1
    );
    assert_eq!(
        sandbox.json("gold list --json")["items"][0]["decision"],
        "tie"
    );
}
