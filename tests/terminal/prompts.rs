//! The workflow of a prompt by keyboard: edit it in the user's editor or on the screen, try it, and
//! read both reasonings of a pair that it fixes.

use super::fake_provider::{CURE, FakeProvider};
use super::{Terminal, overrule};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

const SIZE: (u16, u16) = (120, 40);
const QUERIES: usize = 20;

/// A project whose only judge prefers long texts until its prompt says otherwise, with people's
/// decisions for the short ones.
fn faulty(folder: &Path, server: &FakeProvider) {
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"longest\"\n\
         base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n",
        server.v1(),
    );
    std::fs::write(folder.join("overrule.toml"), config).unwrap();
    let (mut lines, mut gold) = (String::new(), "query,a,b,decision,note\n".to_owned());
    for query in 0..QUERIES {
        let words =
            |count: usize| -> String { (0..count).map(|at| format!("w{query}x{at} ")).collect() };
        let documents = [
            json!({"id": "short", "content": format!("good text {query} of {}", words(3))}),
            json!({"id": "long", "content": format!("text {query} of {}", words(20))}),
        ];
        let query_text = format!("trams, number {query}, in town");
        let line = json!({
            "query": {"id": format!("q{query}"), "query": query_text}, "documents": documents,
        });
        lines += &format!("{line}\n");
        gold += &format!("q{query},short,long,a,note {query}\n");
    }
    std::fs::write(folder.join("in.jsonl"), lines).unwrap();
    std::fs::write(folder.join("gold.csv"), gold).unwrap();
    overrule(
        folder,
        "annotate in.jsonl out.jsonl --yes --probe 0 --cycles 1",
    );
    overrule(folder, "gold import gold.csv");
}

/// An editor that adds the sentence which cures the judge.
fn editor(folder: &Path) -> String {
    let path = folder.join("editor");
    let script = format!("#!/bin/sh\nsed -i 's/^=== case ===$/=== case ===\\n{CURE}/' \"$1\"\n");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Number of pairs of a part, and of queries that are held out.
fn held_out(folder: &Path) -> (usize, Vec<String>) {
    let set: Value = serde_json::from_str(&overrule(folder, "prompt set --json")).unwrap();
    let pairs = set["pairs"].as_array().unwrap();
    let names: Vec<String> = pairs
        .iter()
        .filter(|pair| pair["part"] == "held-out")
        .map(|pair| pair["query"].as_str().unwrap()[1..].to_owned())
        .collect();
    (pairs.len() - names.len(), names)
}

#[test]
fn a_prompt_is_edited_tried_and_looked_at_with_five_keys() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = FakeProvider::start();
    faulty(folder, &server);
    let (tuning, held_out) = held_out(folder);
    let before = server.requests().len();
    let editor = editor(folder);
    let mut terminal = Terminal::start(folder, &[], &[("EDITOR", &editor)], SIZE);
    terminal.wait("Enter matrix");
    terminal.keys("J");
    terminal.wait("P prompt");
    terminal.keys("P");
    terminal.wait("stored as prompt");
    terminal.pause();
    terminal.keys("G");
    terminal.wait(CURE);
    terminal.wait("placeholders in {{ }}: query a b");
    terminal.wait("tokens and");
    assert_eq!(server.requests().len(), before, "the preview is not sent");
    terminal.keys("t");
    terminal.wait(&format!("{} calls to gpt about {tuning} pairs", 2 * tuning));
    terminal.pause();
    terminal.keys("\r");
    terminal.wait("Ask?");
    terminal.pause();
    terminal.keys("y");
    terminal.wait(&format!("fixes {tuning} of the {tuning} judgments"));
    terminal.wait("exact McNemar p");
    let asked = server.requests().split_off(before);
    assert_eq!(asked.len(), 2 * tuning);
    for request in asked {
        let body = request.body.to_string();
        let holds = |at: &String| body.contains(&format!("text {at} of"));
        assert!(!held_out.iter().any(holds), "{body}");
    }
    terminal.pause();
    terminal.keys("\r");
    terminal.wait("old prompt: B better");
    terminal.wait("new prompt: A better");
    terminal.wait("note: note");
    terminal.keys("\x1b");
    terminal.wait("changed ones first");
    terminal.pause();
    terminal.keys("L");
    terminal.wait(&format!("{tuning} pairs for tuning"));
    terminal.keys("\x1b");
    terminal.wait("changed ones first");
    terminal.pause();
    // The prompt is used, and the use is undone after the project was opened again.
    let config = || std::fs::read_to_string(folder.join("overrule.toml")).unwrap();
    let original = config();
    terminal.keys("=");
    terminal.wait("judge with this prompt: gpt");
    terminal.keys("\r");
    terminal.wait("become stale");
    terminal.pause();
    terminal.keys("y");
    terminal.wait("Enter matrix");
    assert!(config().contains("prompt = \"prompts/"), "{}", config());
    terminal.keys("J");
    terminal.wait("P prompt");
    terminal.keys("P");
    terminal.wait("prompt ──");
    terminal.wait("tokens and");
    terminal.pause();
    terminal.keys("u");
    terminal.wait("Enter matrix");
    assert_eq!(config(), original);
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();
}

#[test]
fn a_prompt_is_typed_on_the_screen_and_an_invalid_one_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = FakeProvider::start();
    faulty(folder, &server);
    let mut terminal = Terminal::start(folder, &[], &[], SIZE);
    terminal.wait("Enter matrix");
    terminal.keys("J");
    terminal.wait("P prompt");
    terminal.keys("P");
    terminal.wait("Esc done");
    terminal.wait("answer: score");
    terminal.keys("x");
    terminal.wait("does not begin with");
    terminal.keys("\x1b");
    terminal.wait("not stored");
    terminal.pause();
    terminal.keys("\r");
    terminal.wait("Esc done");
    terminal.quiet(Duration::from_millis(100));
    // The caret is at the beginning.
    terminal.keys("\x1b[3~");
    terminal.wait_gone("xanswer");
    terminal.pause();
    terminal.keys("\x1b");
    terminal.wait("t try");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    let list: Value = serde_json::from_str(&overrule(folder, "prompt list --json")).unwrap();
    let own = list.as_array().unwrap().iter();
    assert_eq!(
        own.filter(|of| of["author"] != Value::Null).count(),
        0,
        "{list}"
    );
}
