//! `judges`: how many independent votes several judges are.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Whether a judge is wrong about a pair, by a fixed pattern.
fn is_wrong(judge: usize, item: usize) -> bool {
    let pattern = |salt: usize| (item * 7919 + salt * 104_729 + item * item * 31) % 100;
    match judge {
        // The second judge differs from the first one on few pairs.
        0 => pattern(1) < 30,
        1 if pattern(9) < 90 => pattern(1) < 30,
        _ => pattern(2 + judge) < 30,
    }
}

/// The text of a document, which holds words of the query more or less often.
fn text(side: char, query: usize, pair: usize) -> String {
    let often = match side {
        'a' => (pair + query) % 3,
        _ => (2 * pair + query * query) % 4,
    };
    format!(
        "{side} text {pair} about {query} {}",
        "question number ".repeat(often)
    )
}

/// The pools of these pairs, in zBench's format.
fn pools() -> String {
    let mut lines = String::new();
    for query in 0..40 {
        let documents: Vec<Value> = (0..5)
            .flat_map(|pair| ['a', 'b'].map(|side| (side, pair)))
            .map(|(side, pair)| json!({"id": format!("{side}{pair}"), "content": text(side, query, pair)}))
            .collect();
        let line = json!({
            "query": {"id": format!("q{query}"), "query": format!("question number {query}")},
            "documents": documents,
        });
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

/// Votes of three judges and a person, who was shown pairs at random, on 5 pairs of 40 queries.
fn votes(inclusion: Option<f64>) -> String {
    let mut lines = String::new();
    for item in 0..200 {
        let (query, pair) = (item / 5, item % 5);
        let judges = ["one", "twin", "other"].into_iter().enumerate();
        let said = judges.map(|(judge, name)| {
            let score = if is_wrong(judge, item) { 1 } else { -1 };
            (name, "llm", score)
        });
        for (by, kind, score) in said.chain([("ada", "human", -1)]) {
            let mut line = json!({
                "query": {"id": format!("q{query}"), "query": format!("question number {query}")},
                "a": {"id": format!("a{pair}"), "content": text('a', query, pair)},
                "b": {"id": format!("b{pair}"), "content": text('b', query, pair)},
                "by": by, "kind": kind, "score": score,
            });
            if let (Some(inclusion), "human") = (inclusion, kind) {
                line["inclusion"] = json!(inclusion);
            }
            writeln!(lines, "{line}").unwrap();
        }
    }
    lines
}

fn project(inclusion: Option<f64>) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("votes.jsonl", votes(inclusion));
    sandbox.done("import votes votes.jsonl");
    sandbox
}

#[test]
fn a_twin_counts_little_and_is_the_one_to_drop() {
    let sandbox = project(Some(0.25));
    let found = sandbox.json("judges --json")["independent_votes"].clone();
    assert_eq!(
        (&found["judges"], &found["pairs"], &found["queries"]),
        (&json!(3), &json!(200), &json!(40)),
        "{found}"
    );
    let value = found["value"].as_f64().unwrap();
    assert!((1.5..2.5).contains(&value), "{found}");
    let end = |name: &str| found["interval_95"][name].as_f64().unwrap();
    assert!(end("low") < value && value < end("high"));
    assert!(["one", "twin"].contains(&found["drop"]["name"].as_str().unwrap()));
    assert_eq!(found["without"].as_array().unwrap().len(), 3);
    // Imported votes have no price.
    assert_eq!(
        (&found["usd_per_1000_independent"], &found["add"]),
        (&Value::Null, &Value::Null)
    );
    let ran = sandbox.done("judges");
    ran.prints("3 judges count as ");
    ran.prints("200 pairs of 40 queries");
    ran.prints(" drop ");
}

#[test]
fn selected_pairs_say_nothing_but_all_pairs_do() {
    let sandbox = project(None);
    let found = sandbox.json("judges --json")["independent_votes"].clone();
    assert_eq!(found["pairs"], 200, "{found}");
    // A pair that nobody judged may have been left out because of its votes.
    let lines = votes(None);
    let unjudged: String = lines
        .lines()
        .take(lines.lines().count() - 1)
        .map(|line| format!("{line}\n"))
        .collect();
    let sandbox = Sandbox::new();
    sandbox.write("votes.jsonl", unjudged);
    sandbox.done("import votes votes.jsonl");
    let found = sandbox.json("judges --json")["independent_votes"].clone();
    assert_eq!(
        (&found["value"], &found["unknown"]),
        (&Value::Null, &json!({"too_few_pairs": 0}))
    );
    let ran = sandbox.done("judges");
    ran.prints("not enough to tell how many independent judges 3 judges count as: 0 of 20");
}

#[test]
fn a_judge_whose_votes_do_not_count_can_be_added() {
    let sandbox = project(Some(0.25));
    // Votes of other judges replace those of the import.
    sandbox.write("pools.jsonl", pools());
    sandbox.done("annotate pools.jsonl out.jsonl --judges bm25,ngram --cycles 12");
    let found = sandbox.json("judges --json")["independent_votes"].clone();
    assert_eq!(found["judges"], 2, "{found}");
    assert_eq!(found["with"].as_array().unwrap().len(), 3, "{found}");
    let add = &found["add"];
    assert!(
        ["one", "twin", "other"].contains(&add["name"].as_str().unwrap()),
        "{found}"
    );
    assert!(
        add["adds_interval_95"]["low"].as_f64() > Some(0.0),
        "{found}"
    );
    sandbox.done("judges").prints("If you add a judge, add ");
}
