//! Text from documents, queries and judges that attacks the terminal never gets there.

use crate::support::Sandbox;
use serde_json::{Value, json};

/// Sets the title, clears the screen, hides and reorders text, moves the cursor, and speaks C1.
const ATTACK: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{0}\u{8}\r\u{9b}2J\u{90}q\u{202e}\u{2066}\u{200b}\u{feff}\u{7f}y";

/// A project whose every string is hostile, with a vote, a failure and a verdict.
fn attacked() -> Sandbox {
    let sandbox = Sandbox::new();
    let document = |id: &str| {
        json!({ "id": format!("{id}{ATTACK}"), "content": format!("apples {id} {ATTACK}\n{ATTACK}"),
                "metadata": { "title": ATTACK } })
    };
    let documents = ["a", "b", "c"].map(document);
    let line = json!({
        "query": { "id": format!("q{ATTACK}"), "query": format!("apples {ATTACK}") },
        "documents": documents,
    });
    sandbox.write("in.jsonl", line.to_string());
    sandbox.done("annotate in.jsonl out.jsonl");
    let thought = |score: f64, thought: &str| json!({ "thought": thought, "score": score });
    let side = |id: &str| json!({ "document_id": format!("{id}{ATTACK}"), "metadata": {}, "content": ATTACK });
    let pair = json!({
        "pair": {
            "pair_id": "p", "query_id": format!("r{ATTACK}"), "query": ATTACK,
            "document_a": side("a"), "document_b": side("b"),
        },
        "openai_score": thought(-1.0, ATTACK), "gemini_score": thought(0.5, ATTACK), "anthropic_score": thought(0.0, ""),
    });
    sandbox.write(
        "ai_scores.json",
        json!({ "scored_pairs": [pair] }).to_string(),
    );
    sandbox.done("import ai_scores.json");
    sandbox
}

/// The attack as an argument: an argument cannot hold NUL, so the queries are named through the
/// files they came from.
fn queries(sandbox: &Sandbox) -> Vec<String> {
    let queries: Value = sandbox.json("queries --json");
    queries
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["query"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn lists_print_nothing_hostile() {
    let sandbox = attacked();
    assert_eq!(queries(&sandbox).len(), 2);
    for arguments in [
        "queries",
        "status",
        "annotate in.jsonl again.jsonl",
        "annotate in.jsonl --dry-run",
        "import in.jsonl",
        "import ai_scores.json",
        "doctor",
    ] {
        sandbox.done(arguments).is_harmless();
    }
}

/// Without NUL the identifiers can be named on the command line.
fn named() -> (Sandbox, String) {
    let attack = ATTACK.replace('\0', "");
    let sandbox = Sandbox::new();
    let thought = |score: f64, thought: &str| json!({ "thought": thought, "score": score });
    let side = |id: &str| json!({ "document_id": format!("{id}{attack}"), "metadata": {}, "content": ATTACK });
    let pair = json!({
        "pair": {
            "pair_id": "p", "query_id": attack, "query": ATTACK,
            "document_a": side("a"), "document_b": side("b"),
        },
        "openai_score": thought(-1.0, ATTACK),
        "gemini_score": thought(0.5, &format!("(SWAPPED)\n{ATTACK}\n{ATTACK}")),
        "anthropic_score": thought(0.0, ""),
    });
    sandbox.write(
        "ai_scores.json",
        json!({ "scored_pairs": [pair] }).to_string(),
    );
    sandbox.done("import ai_scores.json");
    (sandbox, attack)
}

#[test]
fn commands_on_one_query_print_nothing_hostile() {
    let (sandbox, attack) = named();
    let (a, b) = (format!("a{attack}"), format!("b{attack}"));
    let verdict =
        format!("override --query {attack} --a {a} --b {b} --verdict much-b --note {attack}");
    for arguments in [
        &format!("matrix --query {attack}") as &str,
        &format!("battles --query {attack}"),
        &format!("battles --query {attack} --document {a}"),
        &verdict,
        &format!("{verdict} --annotator {attack}"),
        &format!("matrix --query {attack}"),
        &format!("battles --query {attack}"),
        "queries",
        "undo",
        &format!("undo --annotator {attack}"),
    ] {
        sandbox.done(arguments).is_harmless();
    }
}

#[test]
fn refusals_print_nothing_hostile() {
    let (sandbox, attack) = named();
    let other = format!("z{attack}");
    sandbox.write(
        "bad.jsonl",
        json!({ "query": { "id": ATTACK, "query": 7, ATTACK: 1 }, "documents": [ATTACK] })
            .to_string(),
    );
    let twice = json!({ "query": { "id": ATTACK, "query": "q" }, "documents": [{ "id": "a", "content": "c" }] });
    sandbox.write("twice.jsonl", format!("{twice}\n{twice}\n"));
    sandbox.write("clash.jsonl", json!({ "query": { "id": attack, "query": ATTACK }, "documents": [
        { "id": format!("a{attack}"), "content": "other" }, { "id": format!("b{attack}"), "content": ATTACK },
    ] }).to_string());
    for arguments in [
        &format!("matrix --query {other}") as &str,
        &format!("battles --query {attack} --document {other}"),
        &format!("override --query {attack} --a {other} --b {attack} --verdict a"),
        &format!("undo --annotator {attack}"),
        &format!("annotate clash.jsonl out.jsonl --judges {attack}"),
        "import bad.jsonl",
        "import twice.jsonl",
        "import clash.jsonl",
        &format!("export votes --query {other}"),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        ran.is_harmless();
    }
}

#[test]
fn file_names_print_nothing_hostile() {
    let sandbox = Sandbox::new();
    let name = "x\u{1b}]0;owned\u{7}.jsonl";
    sandbox.write(name, "{");
    for arguments in [
        &format!("import {name}") as &str,
        "import absent\u{1b}[2J.jsonl",
        &format!("annotate {name} out.jsonl"),
        "--config absent\u{1b}[2J.toml status",
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        ran.is_harmless();
    }
}

#[test]
fn tables_and_pictures_hold_no_control_characters() {
    let (sandbox, attack) = named();
    for arguments in [
        &format!("matrix --query {attack} --format csv") as &str,
        &format!("matrix --query {attack} --format svg"),
        &format!("orders --query {attack}"),
        "export votes",
    ] {
        let ran = sandbox.done(arguments);
        let control = ran.text().chars().find(|ch| ch.is_control() && *ch != '\n');
        assert_eq!(control, None, "{arguments:?}: {:?}", ran.text());
    }
}

#[test]
fn json_holds_no_control_characters() {
    let (sandbox, attack) = named();
    for arguments in [
        "queries --json",
        &format!("matrix --query {attack} --json"),
        &format!("battles --query {attack} --json"),
        "export votes --format jsonl",
    ] {
        sandbox.done(arguments).is_harmless();
    }
}
