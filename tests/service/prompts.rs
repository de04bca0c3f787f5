//! Runs the real binary on versions of prompts: it identifies those of older votes, edits them, and
//! never pays for a vote twice.

mod inputs;
mod replacing;
mod suggestions;
mod trials;

use crate::desk::{Desk, json_of, told};
use crate::fake_provider::CURE;
use serde_json::{Value, json};

const OWN: &str = "answer: choice\n=== system ===\nChoose.\n=== case ===\n\
                   {{mark}}\n[[query {{mark}}]]\n{{query}}\n[[/query {{mark}}]]\n\
                   [[document A {{mark}}]]\n{{a}}\n[[/document A {{mark}}]]\n\
                   [[document B {{mark}}]]\n{{b}}\n[[/document B {{mark}}]]\n\
                   Answer: first \"thoughts\", then \"choice\".\n";

/// A project whose judge `gpt` has this prompt.
fn with_prompt(text: &str) -> Desk {
    let desk = Desk::new("");
    std::fs::write(desk.path("own.md"), text).unwrap();
    let config = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    let provider = "provider = \"openai\"";
    let config = config.replacen(provider, &format!("{provider}\nprompt = \"own.md\""), 1);
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    desk
}

/// A project with votes of three judges, one of which has a prompt of the user.
fn judged() -> Desk {
    let desk = with_prompt(OWN);
    let output = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    desk
}

fn listed(desk: &Desk) -> Vec<Value> {
    let output = desk.run(&["prompt", "list", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output).as_array().unwrap().clone()
}

fn prompt_of(desk: &Desk, judge: &str) -> Value {
    let of_judge = |row: &&Value| {
        let judges = row["judges"].as_array().unwrap();
        judges.iter().any(|of| of["judge"] == judge)
    };
    listed(desk).iter().find(of_judge).unwrap().clone()
}

#[test]
fn a_project_of_an_earlier_version_asks_nothing_and_knows_the_prompts_of_its_votes() {
    let desk = judged();
    let asked = desk.server.requests().len();
    desk.change(
        "DROP TABLE prompt; DROP TABLE prompt_look; DROP TABLE measure_draw;
         DROP TABLE acceptance; DROP TABLE acceptance_query; DROP TABLE acceptance_control;
         DROP TABLE measurement; DROP TABLE drift_set; DROP TABLE drift_pair;
         DROP TABLE drift_round; DROP TABLE proposal; DROP TABLE battery_set;
         DROP TABLE battery_pair; DROP TABLE list_call; DROP TABLE list_qualification;
         DROP TABLE list_counting;
         DROP TABLE sync; DROP TABLE unsynced; DROP TABLE synced; DROP TABLE duplicate_vote;
         DROP TABLE unread;
         DROP INDEX rerank_call_query; ALTER TABLE rerank_call DROP COLUMN of_query;
         DROP TABLE urgency_part; DROP TABLE urgent; DROP TABLE fitted_scores;
         PRAGMA user_version = 28",
    );
    let again = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(desk.server.requests().len(), asked);
    // The run has stored the text of the user's prompt; before it, only the hash was known.
    assert_eq!(prompt_of(&desk, "gpt")["text_known"], true);
    desk.change("DELETE FROM prompt");
    let (own, built_in) = (prompt_of(&desk, "gpt"), prompt_of(&desk, "claude"));
    assert_eq!(
        (&own["text_known"], &own["votes"]),
        (&json!(false), &json!(36))
    );
    assert_eq!(
        (&built_in["name"], &built_in["votes"]),
        (&json!("score"), &json!(72))
    );
    let list = told(&desk.run(&["prompt", "list"]));
    assert!(list.contains("text unknown"), "{list}");
    let refused = desk.run(&["prompt", "show", "gpt"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    // Each vote references a prompt.
    let unreferenced =
        "SELECT count(*) FROM vote JOIN judge ON judge.id = judge WHERE prompt_hash = ''";
    assert_eq!(desk.count(unreferenced), 0);
}

#[test]
fn an_edited_prompt_is_a_version_with_a_parent_and_changes_no_judge() {
    let desk = judged();
    let (asked, before) = (desk.server.requests().len(), prompt_of(&desk, "gpt"));
    std::fs::write(
        desk.path("new.md"),
        OWN.replace("Choose.", "Choose the better one."),
    )
    .unwrap();
    let edit = [
        "prompt", "edit", "gpt", "--file", "new.md", "--note", "clearer", "--json",
    ];
    let edited = json_of(&desk.run(&edit));
    assert_eq!(
        (&edited["parent"], &edited["new"]),
        (&before["hash"], &json!(true))
    );
    assert_eq!(json_of(&desk.run(&edit))["new"], false);
    let hash = edited["hash"].as_str().unwrap();
    let shown = json_of(&desk.run(&["prompt", "show", &hash[..6], "--json"]));
    assert_eq!(
        (&shown["note"], &shown["votes"]),
        (&json!("clearer"), &json!(0))
    );
    let diff = told(&desk.run(&["prompt", "diff", hash]));
    assert!(
        diff.contains("-Choose.\n+Choose the better one.\n"),
        "{diff}"
    );
    desk.run(&["prompt", "export", hash, "out.md"]);
    assert_eq!(
        std::fs::read_to_string(desk.path("out.md")).unwrap(),
        shown["text"]
    );
    let log = told(&desk.run(&["log", "--json"]));
    assert!(log.contains(hash) && log.contains("clearer"), "{log}");
    // Neither an unreadable text nor one for another question is stored.
    for text in [
        "Choose.",
        "answer: slots\n=== system ===\nx\n=== case ===\n{{query}}{{documents}}{{task}}",
    ] {
        std::fs::write(desk.path("bad.md"), text).unwrap();
        let refused = desk.run(&["prompt", "edit", "gpt", "--file", "bad.md"]);
        assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    }
    let same = desk.run(&["prompt", "edit", "gpt", "--file", "own.md"]);
    assert_eq!(same.status.code(), Some(2), "{}", told(&same));
    desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(desk.server.requests().len(), asked);
}

#[test]
fn merged_projects_share_the_texts_of_prompts() {
    let (desk, other) = (judged(), judged());
    desk.change("DELETE FROM prompt");
    let merged = desk.run(&["merge", other.path("overrule.db").to_str().unwrap()]);
    assert_eq!(merged.status.code(), Some(0), "{}", told(&merged));
    assert_eq!(prompt_of(&desk, "gpt")["text_known"], true);
}

/// Number of queries of a trial, each with one pair.
const QUERIES: usize = 40;

/// Whether the better document of a query is the shorter one; in every fifth query, people prefer
/// the one that the cured model does not.
fn shorter_is_better(query: usize) -> bool {
    query % 5 < 3
}

/// Has the pairs judged in one cycle.
fn annotated_once(desk: &Desk) -> std::process::Output {
    desk.annotate(&["--yes", "--probe", "0", "--cycles", "1"])
}

/// A judge with a planted fault, whose votes people overruled or confirmed.
fn faulty() -> Desk {
    decided("compatible", "longest", false)
}

/// A judge whose votes people overruled or confirmed, on queries of two documents or three.
fn decided(provider: &str, model: &str, third: bool) -> Desk {
    let desk = Desk::new("");
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = {provider:?}\nmodel = {model:?}\n\
         base_url = {:?}\nprice = {{ input = 1.0, output = 1.0 }}\n",
        desk.server.v1(),
    );
    std::fs::write(desk.path("overrule.toml"), config).unwrap();
    let (mut lines, mut gold) = (String::new(), "query,a,b,decision,note\n".to_owned());
    for query in 0..QUERIES {
        let (short, long) = match query % 5 {
            3 => ("", "good"),
            _ => ("good", ""),
        };
        let document = |id: &str, text: String| json!({"id": id, "content": text});
        let words =
            |count: usize| -> String { (0..count).map(|at| format!("w{query}x{at} ")).collect() };
        let mut documents = vec![
            document("short", format!("{short} text {query} of {}", words(3))),
            document("long", format!("{long} text {query} of {}", words(20))),
        ];
        if third {
            documents.push(document("third", format!("text {query} of {}", words(9))));
        }
        let line = json!({"query": {"id": format!("q{query}"), "query": format!("trams, number {query}, in town")}, "documents": documents});
        lines += &format!("{line}\n");
        let better = if shorter_is_better(query) { "a" } else { "b" };
        gold += &format!("q{query},short,long,{better},\n");
    }
    std::fs::write(desk.path("in.jsonl"), lines).unwrap();
    std::fs::write(desk.path("gold.csv"), gold).unwrap();
    let output = annotated_once(&desk);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let output = desk.run(&["gold", "import", "gold.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let cured = json_of(&desk.run(&["prompt", "show", "score", "--json"]));
    let cured = cured["text"]
        .as_str()
        .unwrap()
        .replace("=== case ===\n", &format!("=== case ===\n{CURE}\n"));
    std::fs::write(desk.path("cured.md"), cured).unwrap();
    desk
}

/// The numbers of the queries of a part.
fn part(desk: &Desk, part: &str) -> Vec<usize> {
    let set = json_of(&desk.run(&["prompt", "set", "--json"]));
    let pairs = set["pairs"].as_array().unwrap().clone();
    assert_eq!(pairs.len(), QUERIES);
    let of_part = pairs.iter().filter(|pair| pair["part"] == part);
    of_part
        .map(|pair| pair["query"].as_str().unwrap()[1..].parse().unwrap())
        .collect()
}

fn tried(desk: &Desk, more: &[&str]) -> Value {
    let output = desk.run(&[&["prompt", "try", "gpt"], more, &["--yes", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    json_of(&output)
}

#[track_caller]
fn done(desk: &Desk, command: &[&str]) {
    let output = desk.run(command);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}
