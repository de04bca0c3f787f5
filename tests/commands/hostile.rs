//! Text from documents, queries and judges that attacks the terminal never gets there.

use crate::support::Desk;
use serde_json::{Value, json};

/// Sets the title, clears the screen, hides and reorders text, moves the cursor, and speaks C1.
const ATTACK: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{0}\u{8}\r\u{9b}2J\u{90}q\u{202e}\u{2066}\u{200b}\u{feff}\u{7f}y";

/// A project whose every string is hostile, with a vote, a failure and a verdict.
fn attacked() -> Desk {
    let desk = Desk::new();
    let document = |id: &str| {
        json!({ "id": format!("{id}{ATTACK}"), "content": format!("apples {id} {ATTACK}\n{ATTACK}"),
                "metadata": { "title": ATTACK } })
    };
    let documents = ["a", "b", "c"].map(document);
    let line = json!({
        "query": { "id": format!("q{ATTACK}"), "query": format!("apples {ATTACK}") },
        "documents": documents,
    });
    desk.write("in.jsonl", line.to_string());
    desk.done(&["annotate", "in.jsonl", "out.jsonl"]);
    let thought = |score: f64, thought: &str| json!({ "thought": thought, "score": score });
    let side = |id: &str| json!({ "document_id": format!("{id}{ATTACK}"), "metadata": {}, "content": ATTACK });
    let pair = json!({
        "pair": {
            "pair_id": "p", "query_id": format!("r{ATTACK}"), "query": ATTACK,
            "document_a": side("a"), "document_b": side("b"),
        },
        "openai_score": thought(-1.0, ATTACK), "gemini_score": thought(0.5, ATTACK), "anthropic_score": thought(0.0, ""),
    });
    desk.write(
        "ai_scores.json",
        json!({ "scored_pairs": [pair] }).to_string(),
    );
    desk.done(&["import", "ai_scores.json"]);
    desk
}

/// Controls other than the line feed, and characters that reorder or hide text.
fn dangerous(bytes: &[u8]) -> Option<char> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.chars().find(|ch| {
        (ch.is_control() && *ch != '\n')
            || matches!(ch, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}')
    })
}

/// The attack as an argument: an argument cannot hold NUL, so the queries are named through the files they came from.
fn queries(desk: &Desk) -> Vec<String> {
    let queries: Value = desk.json(&["queries", "--json"]);
    queries
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["query"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn lists_print_nothing_hostile() {
    let desk = attacked();
    assert_eq!(queries(&desk).len(), 2);
    for arguments in [
        &["queries"][..],
        &["status"],
        &["annotate", "in.jsonl", "again.jsonl"],
        &["annotate", "in.jsonl", "--dry-run"],
        &["import", "in.jsonl"],
        &["import", "ai_scores.json"],
        &["doctor"],
    ] {
        let ran = desk.done(arguments);
        assert_eq!(
            dangerous(&ran.stdout),
            None,
            "{arguments:?}: {:?}",
            ran.text()
        );
        assert_eq!(
            dangerous(ran.stderr.as_bytes()),
            None,
            "{arguments:?}: {:?}",
            ran.stderr
        );
    }
}

/// Without NUL the identifiers can be named on the command line.
fn named() -> (Desk, String) {
    let attack = ATTACK.replace('\0', "");
    let desk = Desk::new();
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
    desk.write(
        "ai_scores.json",
        json!({ "scored_pairs": [pair] }).to_string(),
    );
    desk.done(&["import", "ai_scores.json"]);
    (desk, attack)
}

#[test]
fn commands_on_one_query_print_nothing_hostile() {
    let (desk, attack) = named();
    let (a, b) = (format!("a{attack}"), format!("b{attack}"));
    let verdict = [
        "override",
        "--query",
        &attack,
        "--a",
        &a,
        "--b",
        &b,
        "--verdict",
        "much-b",
        "--note",
        &attack,
    ];
    let named = [&verdict[..], &["--annotator", &attack]].concat();
    for arguments in [
        &["matrix", "--query", &attack][..],
        &["battles", "--query", &attack],
        &["battles", "--query", &attack, "--document", &a],
        &verdict,
        &named,
        &["matrix", "--query", &attack],
        &["battles", "--query", &attack],
        &["queries"],
        &["undo"],
        &["undo", "--annotator", &attack],
    ] {
        let ran = desk.done(arguments);
        assert_eq!(
            dangerous(&ran.stdout),
            None,
            "{arguments:?}: {:?}",
            ran.text()
        );
        assert_eq!(
            dangerous(ran.stderr.as_bytes()),
            None,
            "{arguments:?}: {:?}",
            ran.stderr
        );
    }
}

#[test]
fn refusals_print_nothing_hostile() {
    let (desk, attack) = named();
    let other = format!("z{attack}");
    desk.write(
        "bad.jsonl",
        json!({ "query": { "id": ATTACK, "query": 7, ATTACK: 1 }, "documents": [ATTACK] })
            .to_string(),
    );
    let twice = json!({ "query": { "id": ATTACK, "query": "q" }, "documents": [{ "id": "a", "content": "c" }] });
    desk.write("twice.jsonl", format!("{twice}\n{twice}\n"));
    desk.write("clash.jsonl", json!({ "query": { "id": attack, "query": ATTACK }, "documents": [
        { "id": format!("a{attack}"), "content": "other" }, { "id": format!("b{attack}"), "content": ATTACK },
    ] }).to_string());
    for arguments in [
        &["matrix", "--query", &other][..],
        &["battles", "--query", &attack, "--document", &other],
        &[
            "override",
            "--query",
            &attack,
            "--a",
            &other,
            "--b",
            &attack,
            "--verdict",
            "a",
        ],
        &["undo", "--annotator", &attack],
        &["annotate", "clash.jsonl", "out.jsonl", "--judges", &attack],
        &["import", "bad.jsonl"],
        &["import", "twice.jsonl"],
        &["import", "clash.jsonl"],
        &["export", "votes", "--query", &other],
    ] {
        let ran = desk.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert_eq!(
            dangerous(ran.stderr.as_bytes()),
            None,
            "{arguments:?}: {:?}",
            ran.stderr
        );
    }
}

#[test]
fn file_names_print_nothing_hostile() {
    let desk = Desk::new();
    let name = "x\u{1b}]0;owned\u{7}.jsonl";
    desk.write(name, "{");
    for arguments in [
        &["import", name][..],
        &["import", "absent\u{1b}[2J.jsonl"],
        &["annotate", name, "out.jsonl"],
        &["--config", "absent\u{1b}[2J.toml", "status"],
    ] {
        let ran = desk.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert_eq!(
            dangerous(ran.stderr.as_bytes()),
            None,
            "{arguments:?}: {:?}",
            ran.stderr
        );
    }
}

#[test]
fn tables_and_pictures_hold_no_control_characters() {
    let (desk, attack) = named();
    for arguments in [
        &["matrix", "--query", &attack, "--format", "csv"][..],
        &["matrix", "--query", &attack, "--format", "svg"],
        &["export", "votes"],
    ] {
        let ran = desk.done(arguments);
        let control = ran.text().chars().find(|ch| ch.is_control() && *ch != '\n');
        assert_eq!(control, None, "{arguments:?}: {:?}", ran.text());
    }
}

#[test]
fn json_holds_no_control_characters() {
    let (desk, attack) = named();
    for arguments in [
        &["queries", "--json"][..],
        &["matrix", "--query", &attack, "--json"],
        &["battles", "--query", &attack, "--json"],
        &["export", "votes", "--format", "jsonl"],
    ] {
        let ran = desk.done(arguments);
        assert_eq!(dangerous(&ran.stdout), None, "{arguments:?}");
    }
}
