//! `accept`: which battles need no person?

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::{Value, json};
use std::fmt::Write as _;

const QUERIES: usize = 4;
const DOCUMENTS: usize = 14;

/// A judgment of `by` that prefers the first document.
fn line(query: &str, [a, b]: [&str; 2], by: &str, kind: &str) -> Value {
    json!({
        "query": {"id": query, "query": format!("question {query}")},
        "a": {"id": a, "content": format!("text {a} about {query}")},
        "b": {"id": b, "content": format!("text {b} about {query}")},
        "by": by, "kind": kind, "score": -1,
    })
}

/// Votes of one judge, which always prefers the document with the smaller number.
fn judged() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut votes = String::new();
    for query in 0..QUERIES {
        for a in 10..10 + DOCUMENTS {
            for b in a + 1..(a + 5).min(10 + DOCUMENTS) {
                let names = [format!("d{a}"), format!("d{b}")];
                let names = [names[0].as_str(), names[1].as_str()];
                let vote = line(&format!("q{query}"), names, "gpt", "llm");
                writeln!(votes, "{vote}").unwrap();
            }
        }
    }
    sandbox.write("votes.jsonl", votes);
    sandbox.done("import votes votes.jsonl");
    sandbox
}

fn report(sandbox: &Sandbox, options: &str, code: i32) -> Value {
    let ran = sandbox.run(&format!("accept --json {options}"));
    assert_eq!(ran.code, Some(code), "{}{}", ran.text(), ran.stderr);
    serde_json::from_str(ran.text()).unwrap()
}

fn listed(sandbox: &Sandbox) -> Vec<Value> {
    let list = sandbox.json("queue --policy accept --limit 1000 --json");
    list.as_array().unwrap().clone()
}

/// A person prefers the document with the smaller number, or the other one, on these items.
fn rule(sandbox: &Sandbox, items: &[Value], agrees: impl Fn(usize) -> bool) {
    let mut verdicts = String::new();
    for (at, item) in items.iter().enumerate() {
        let mut names = ["a", "b"].map(|side| item[side].as_str().unwrap());
        names.sort_unstable();
        if !agrees(at) {
            names.reverse();
        }
        let verdict = line(item["query"].as_str().unwrap(), names, "ada", "human");
        writeln!(verdicts, "{verdict}").unwrap();
    }
    sandbox.write("verdicts.jsonl", verdicts);
    sandbox.done("import votes verdicts.jsonl");
}

#[rstest]
#[case::right(1000, "accepted", 0)]
#[case::often_wrong(3, "nothing", 1)]
fn controls_decide_what_is_accepted(#[case] wrong: usize, #[case] state: &str, #[case] code: i32) {
    let sandbox = judged();
    let begun = report(&sandbox, "--alpha .10", 3);
    assert_eq!(begun["state"], "incomplete", "{begun}");
    assert_eq!(begun["controls"]["drawn"], 100);
    assert!(begun["accepted"].is_null() && begun["threshold"].is_null());
    let controls = listed(&sandbox);
    assert_eq!(controls.len(), 100);
    assert!(controls.iter().all(|item| item["draw"] == "control"));
    rule(&sandbox, &controls[..99], |at| (at + 1) % wrong > 0);
    let open = report(&sandbox, "", 3);
    assert_eq!(open["controls"]["ruled"], 99);
    assert_eq!(listed(&sandbox).len(), 1);
    rule(&sandbox, &controls[99..], |_| true);
    let found = report(&sandbox, "", code);
    assert_eq!(found["state"], state, "{found}");
    let others = begun["battles"].as_u64().unwrap() - 100;
    let exported = sandbox.done("export votes --format csv");
    let header = exported.text().lines().next().unwrap();
    if state == "accepted" {
        let (accepted, left) = (found["accepted"].as_u64(), found["left"].as_u64());
        assert_eq!(accepted.unwrap() + left.unwrap(), others);
        assert_eq!(listed(&sandbox).len() as u64, left.unwrap());
        assert!(header.ends_with(",accepted"));
        let told = sandbox.done("accept");
        told.prints("need no person: at most 10 % of their decisions contradict a person");
    } else {
        assert!(found["accepted"].is_null());
        assert_eq!(listed(&sandbox).len() as u64, others);
        assert!(!header.contains("accepted"));
    }
}

#[test]
fn other_votes_make_it_stale_and_alpha_stays() {
    let sandbox = judged();
    report(&sandbox, "--alpha 0.2", 3);
    sandbox.refused(
        "accept --alpha 0.1",
        2,
        &["--alpha is fixed at 0.2", "--new"],
    );
    let vote = line("q0", ["d10", "d20"], "gpt", "llm");
    sandbox.write("more.jsonl", format!("{vote}\n"));
    sandbox.done("import votes more.jsonl");
    let stale = report(&sandbox, "", 3);
    assert_eq!(
        (&stale["state"], &stale["changed_queries"]),
        (&"stale".into(), &json!(["q0"]))
    );
    let again = report(&sandbox, "--new --alpha 0.1", 3);
    assert_eq!(
        (&again["state"], &again["alpha"]),
        (&"incomplete".into(), &json!(0.1))
    );
    assert_eq!(again["acceptances"], 2);
}

#[test]
fn a_frame_that_controls_would_exhaust_is_refused() {
    let sandbox = Sandbox::new();
    let vote = line("q0", ["d10", "d11"], "gpt", "llm");
    sandbox.write("votes.jsonl", format!("{vote}\n"));
    sandbox.done("import votes votes.jsonl");
    sandbox.refused("accept", 2, &["1 battle with votes and without a verdict"]);
}

#[test]
fn a_control_that_was_not_ruled_on_blind_counts_as_wrong_and_an_undone_one_is_open() {
    let sandbox = judged();
    report(&sandbox, "", 3);
    let control = &listed(&sandbox)[0];
    let text = |name: &str| control[name].as_str().unwrap();
    let (query, a, b) = (text("query"), text("a"), text("b"));
    sandbox.done(&format!(
        "override --query {query} --a {a} --b {b} --verdict a"
    ));
    let given = report(&sandbox, "", 3)["controls"].clone();
    assert_eq!(
        (&given["ruled"], &given["not_blind"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(listed(&sandbox).len(), 99);
    sandbox.done("undo");
    let undone = report(&sandbox, "", 3)["controls"].clone();
    assert_eq!(
        (&undone["ruled"], &undone["withdrawn"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(listed(&sandbox).len(), 100);
}

#[test]
fn a_merge_brings_the_acceptance_with_its_controls() {
    let (ada, eve) = (judged(), judged());
    let begun = report(&ada, "--alpha 0.125", 3);
    rule(&ada, &listed(&ada), |_| true);
    let found = report(&ada, "", 0);
    let merge = format!("merge {} --json", ada.project().display());
    assert_eq!(eve.json(&merge)["acceptances"], 1);
    assert_eq!(eve.json(&merge)["acceptances"], 0);
    assert_eq!(report(&eve, "", 0), found);
    assert_eq!(found["battles"], begun["battles"]);
    ada.done("accept")
        .prints("at most 12.5 % of their decisions");
}
