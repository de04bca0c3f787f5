//! Items of `queue` and `adjudication --disagreements` answered by name: blind, with the chance by
//! which they came.

use crate::support::{Sandbox, benchmark, dataset};
use serde_json::{Value, json};
use std::collections::HashMap;

fn annotated() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([24, 20]));
    sandbox.done("annotate in.jsonl out.jsonl --cycles 3 --judges bm25");
    sandbox
}

fn queue(sandbox: &Sandbox, more: &str) -> Vec<Value> {
    let items = sandbox.json(&format!("queue --policy mixed --json {more}"));
    items.as_array().unwrap().clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

/// A verdict that depends on the pair alone: for the document whose name comes first.
fn decision(item: &Value) -> &'static str {
    if text(item, "a") < text(item, "b") {
        "a"
    } else {
        "b"
    }
}

fn answer(sandbox: &Sandbox, item: &Value) -> Value {
    let (id, decision) = (text(item, "item"), decision(item));
    sandbox.json(&format!("override --item {id} --verdict {decision} --json"))
}

fn agreement(sandbox: &Sandbox) -> Value {
    let report = sandbox.json("judges --json");
    let judges = report["judges"].as_array().unwrap();
    let bm25 = judges.iter().find(|judge| judge["name"] == "bm25").unwrap();
    bm25["agreement"].clone()
}

/// Whether the judge says what [`decision`] says, by query and pair.
fn judge_agrees(sandbox: &Sandbox) -> HashMap<(String, String, String), bool> {
    let mut found = HashMap::new();
    for query in ["q0", "q1"] {
        let battles = sandbox.json(&format!("battles --query {query} --json"));
        for battle in battles["battles"].as_array().unwrap() {
            let (a, b) = (text(battle, "a").to_owned(), text(battle, "b").to_owned());
            let margin = battle["votes"][0]["margin"].as_f64().unwrap();
            let better_first = (margin < 0.0) == (a < b);
            let pair = if a < b { (a, b) } else { (b, a) };
            found.insert(
                (query.to_owned(), pair.0, pair.1),
                margin != 0.0 && better_first,
            );
        }
    }
    found
}

/// The mean of T_t = Σ y of what was shown before + of · y of the control, each with weight 1/(of
/// (of − 1)).
fn estimate(sandbox: &Sandbox, items: &[Value]) -> f64 {
    let agrees = judge_agrees(sandbox);
    let (mut before, mut sum, mut weights) = (0.0, 0.0, 0.0);
    for item in items.iter().filter(|item| item["draw"] != "repeat") {
        let (a, b) = (text(item, "a").to_owned(), text(item, "b").to_owned());
        let pair = if a < b { (a, b) } else { (b, a) };
        let y = f64::from(u8::from(
            agrees[&(text(item, "query").to_owned(), pair.0, pair.1)],
        ));
        if item["draw"] == "control" {
            let of = (1.0 / item["chance"].as_f64().unwrap()).round();
            let weight = 1.0 / (of * (of - 1.0));
            sum += weight * (before + of * y);
            weights += weight;
        }
        before += y;
    }
    sum / weights / agrees.len() as f64
}

#[test]
fn forty_verdicts_on_items_estimate_how_often_a_judge_is_right() {
    let sandbox = annotated();
    let items = queue(&sandbox, "--limit 40");
    assert_eq!(items.len(), 40);
    assert!(items.iter().any(|item| item["sampling"]["control"] == true));
    assert_eq!(
        sandbox.count("SELECT count(*) FROM shown"),
        0,
        "printing shows nothing"
    );
    // Out of order: the ledger has the order of the queue all the same.
    for step in 0..40 {
        let item = &items[(step * 27 + 39) % 40];
        let answered = answer(&sandbox, item);
        for key in ["item", "query", "a", "b"] {
            assert_eq!(answered[key], item[key], "{key}");
        }
    }
    assert_eq!(sandbox.count("SELECT count(*) FROM shown"), 40);
    assert_eq!(
        sandbox.count("SELECT count(*) FROM verdict WHERE blind AND shown IS NOT NULL"),
        40
    );
    let scrambled = agreement(&sandbox);
    let corrected = scrambled["corrected"].as_f64().unwrap();
    let expected = estimate(&sandbox, &items);
    assert!(
        (corrected - expected).abs() < 1e-9,
        "{corrected} {expected}"
    );

    // As in the workbench: one item after the other, each from the top of the queue.
    let one_by_one = annotated();
    for _ in 0..40 {
        answer(&one_by_one, &queue(&one_by_one, "--limit 1")[0]);
    }
    let ledger = "SELECT count(*) FROM shown WHERE draw = 'control' AND drawn_of + (
        SELECT count(*) FROM shown AS earlier WHERE earlier.draw <> 'repeat' AND earlier.uid < shown.uid) = 132";
    let controls = items
        .iter()
        .filter(|item| item["draw"] == "control")
        .count();
    for sandbox in [&sandbox, &one_by_one] {
        assert_eq!(
            sandbox.count(ledger),
            controls as i64,
            "every control has its chance"
        );
    }
    assert!(agreement(&one_by_one)["corrected"].is_f64());
}

#[test]
fn an_item_that_was_passed_over_waits_at_the_top() {
    let sandbox = annotated();
    let items = queue(&sandbox, "--limit 5");
    answer(&sandbox, &items[2]);
    let next = queue(&sandbox, "--limit 5");
    for at in [0, 1] {
        assert_eq!(next[at]["item"], items[at]["item"]);
        assert_eq!(next[at]["standing"], "skipped");
        assert_eq!(next[at]["chance"], items[at]["chance"]);
    }
    assert_eq!(next[2]["item"], items[3]["item"]);
    sandbox.done("undo");
    let back = queue(&sandbox, "--limit 5");
    assert_eq!(back[2]["item"], items[2]["item"]);
    assert_eq!(back[2]["standing"], "undone");
    answer(&sandbox, &items[2]);
    let table = sandbox.done("queue --policy mixed --limit 2");
    table.prints(text(&items[0], "item"));
}

#[test]
fn an_item_is_answered_once_and_by_the_one_for_whom_it_was_printed() {
    let sandbox = annotated();
    let item = queue(&sandbox, "--limit 1").remove(0);
    let id = text(&item, "item");
    let says = |more: &str| format!("override --item {id} --verdict a {more}");
    sandbox.refused(
        &says("--annotator eve"),
        2,
        &["printed for \"tester\"", "--annotator"],
    );
    sandbox.refused(
        "override --item nothing --verdict a",
        2,
        &["\"nothing\"", "overrule queue"],
    );
    sandbox.refused(&says("--query q0"), 2, &["--query"]);
    sandbox.refused("override --verdict a", 2, &["--query"]);
    sandbox.done(&says("--note why --confidence high"));
    sandbox.refused(&says(""), 2, &["answered", "overrule undo"]);
    sandbox.done("undo");
    sandbox.done(&says(""));
    let verdicts = sandbox.done("export verdicts --format jsonl");
    let verdict: Value = serde_json::from_str(verdicts.text().lines().next().unwrap()).unwrap();
    assert_eq!(verdict["role"], item["draw"]);
    assert_eq!(verdict["inclusion"], item["chance"]);
    // The first answer showed what it does to the judges' votes.
    assert_eq!(verdict["blind"], false);
    assert!(verdict["blind_verdict"].is_null());
}

#[test]
fn a_disagreement_is_ruled_on_by_its_item() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.done("pool build --beir beir --depth 4 --layout original");
    sandbox.done("pick --judges bm25");
    let items = sandbox.json("adjudication --disagreements --json");
    let item = &items[0];
    let id = text(item, "item");
    sandbox.done("adjudication --disagreements").prints(id);
    let says = format!("rule --item {id} --ruling not");
    sandbox.refused(
        &format!("{says} --annotator eve"),
        2,
        &["printed for \"tester\""],
    );
    sandbox.refused("rule --item nothing --ruling not", 2, &["--disagreements"]);
    let ruled = sandbox.json(&format!("{says} --json"));
    for key in ["item", "query", "document"] {
        assert_eq!(ruled[key], item[key], "{key}");
    }
    sandbox.refused(&says, 2, &["answered", "overrule undo --ruling"]);
    let control = i64::from(item["control"] == json!(true));
    let kept = format!(
        "SELECT count(*) FROM ruling WHERE draw = CASE {control} WHEN 1 THEN 'control' ELSE 'priority' END"
    );
    assert_eq!(sandbox.count(&kept), 1);
}
