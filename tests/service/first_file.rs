//! `overrule init`: keys and servers are found, a file is written and checked, and nothing secret
//! is said.

use crate::desk::{Desk, KEY, told};
use serde_json::{Value, json};
use std::process::Output;

/// A desk without a file and without keys, whose server has these models.
fn desk(models: &[&str]) -> Desk {
    let desk = Desk::new("");
    std::fs::remove_file(desk.path("overrule.toml")).unwrap();
    desk.server.list_models(models);
    desk
}

/// Runs `init` with the desk's server in place of the usual ones, and with no key but those of
/// `keys`.
fn init(desk: &Desk, keys: &[&str], more: &[&str]) -> Output {
    let server = format!("ollama={}", desk.server.root());
    let mut command = desk.command(&[&["init", "--server", &server], more].concat());
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env_remove(name);
    }
    for name in keys {
        command.env(name, KEY);
    }
    command.output().unwrap()
}

fn file(desk: &Desk) -> toml::Table {
    let text = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    assert!(!text.contains(KEY), "{text}");
    text.parse().unwrap()
}

#[test]
fn a_local_model_is_found_written_checked_and_judges() {
    let desk = desk(&["nomic-embed-text:latest", "qwen3:8b"]);
    let output = init(&desk, &[], &["--provider", "ollama", "--model", "qwen3"]);
    // What doctor makes of the answer is doctor's business; it was run.
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        told(&output)
    );
    let judge = &file(&desk)["judge"][0];
    let root = desk.server.root();
    for (key, value) in [
        ("provider", "ollama"),
        ("model", "qwen3:8b"),
        ("base_url", &root),
        ("name", "qwen3:8b"),
    ] {
        assert_eq!(judge[key].as_str(), Some(value));
    }
    assert!(
        told(&output).contains("judge qwen3:8b"),
        "{}",
        told(&output)
    );
    let asked: Vec<String> = desk
        .server
        .requests()
        .into_iter()
        .map(|request| request.target)
        .collect();
    assert_eq!(asked[0], "/api/tags");
    assert!(
        asked[1..].iter().all(|target| target == "/api/chat") && asked.len() > 1,
        "{asked:?}"
    );
    let output = desk.annotate(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn without_a_key_yes_takes_the_first_model_that_can_judge() {
    let desk = desk(&["nomic-embed-text:latest", "gemma3:4b", "qwen3:8b"]);
    let output = init(&desk, &[], &["--yes"]);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{}",
        told(&output)
    );
    let judges = file(&desk);
    assert_eq!(judges["judge"].as_array().unwrap().len(), 1);
    assert_eq!(judges["judge"][0]["model"].as_str(), Some("gemma3:4b"));
}

#[test]
fn what_was_found_is_told_without_secrets_and_nothing_is_written() {
    let desk = desk(&["qwen3:8b"]);
    std::fs::write(desk.path(".env"), format!("ANTHROPIC_API_KEY={KEY}\n")).unwrap();
    let keys = ["OPENROUTER_API_KEY", "AZURE_OPENAI_API_KEY"];
    let output = init(&desk, &keys, &["--dry-run", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!told(&output).contains(KEY));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        found["keys"],
        json!([
            {"variable": "ANTHROPIC_API_KEY", "provider": "anthropic"},
            {"variable": "AZURE_OPENAI_API_KEY", "provider": "azure"},
            {"variable": "OPENROUTER_API_KEY", "provider": "openrouter"},
        ])
    );
    assert_eq!(
        found["servers"],
        json!([{"provider": "ollama", "url": desk.server.root(), "models": ["qwen3:8b"]}])
    );
    let providers: Vec<&str> = found["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["provider"].as_str().unwrap())
        .collect();
    assert_eq!(providers, ["anthropic", "ollama"]);
    assert_eq!(found["exists"], json!(false));
    let output = init(&desk, &keys, &["--dry-run"]);
    for words in [
        "OPENROUTER_API_KEY      name one with --model",
        "qwen3:8b",
        "nothing was written",
    ] {
        assert!(told(&output).contains(words), "{words}: {}", told(&output));
    }
    assert!(!desk.path("overrule.toml").exists());
}

#[test]
fn where_nobody_can_be_asked_the_exact_command_is_told() {
    let desk = desk(&["qwen3:8b", "it's; rm -rf x"]);
    let output = init(&desk, &[], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    for words in [
        "overrule init --provider ollama --model qwen3:8b\n",
        "overrule init --provider ollama --model 'it'\\''s; rm -rf x'\n",
        "overrule init --yes",
        &desk.server.root(),
    ] {
        assert!(told(&output).contains(words), "{words}: {}", told(&output));
    }
    desk.server.go_down();
    for arguments in [&[][..], &["--yes"]] {
        let output = init(&desk, &[], arguments);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        for words in [
            "found no keys and no model servers",
            "1 server did not answer",
        ] {
            assert!(told(&output).contains(words), "{words}: {}", told(&output));
        }
    }
    let output = init(&desk, &["OPENROUTER_API_KEY"], &["--yes"]);
    let command = "overrule init --provider openrouter --model MODEL";
    assert!(told(&output).contains(command), "{}", told(&output));
    assert!(!desk.path("overrule.toml").exists());
}

#[test]
fn a_file_that_is_there_stays_unless_it_is_to_be_replaced() {
    let desk = desk(&["qwen3:8b"]);
    std::fs::write(desk.path("overrule.toml"), "# mine\n").unwrap();
    let output = init(&desk, &[], &["--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told(&output).contains("already exists; --force replaces it"),
        "{}",
        told(&output)
    );
    let kept = std::fs::read_to_string(desk.path("overrule.toml")).unwrap();
    assert_eq!(kept, "# mine\n");
    assert_eq!(desk.server.total_requests(), 0);
    let output = init(&desk, &[], &["--yes", "--out", "other.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(desk.path("other.toml").exists());
    init(&desk, &[], &["--yes", "--force"]);
    assert_eq!(file(&desk)["judge"][0]["model"].as_str(), Some("qwen3:8b"));
}

#[test]
fn what_is_no_server_of_models_is_not_found() {
    // The server answers, but lists nothing.
    let desk = Desk::new("");
    let output = init(&desk, &[], &["--dry-run", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["servers"], &found["exists"]),
        (&json!([]), &json!(true))
    );
    let output = init(
        &desk,
        &[],
        &["--force", "--provider", "nobody", "--model", "m"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told(&output).contains("no provider is called \"nobody\""),
        "{}",
        told(&output)
    );
    // The file that was there is still whole.
    assert_eq!(file(&desk)["judge"].as_array().unwrap().len(), 3);
}

#[test]
fn new_files_get_the_newer_prompts_and_those_for_claims_where_the_queries_are_claims() {
    let written = |queries: &[&str], more: &[&str]| {
        let desk = desk(&["qwen3:8b"]);
        let lines: String = queries
            .iter()
            .enumerate()
            .map(|(at, query)| {
                let document = |id: &str| json!({"id": id, "content": format!("text {id}")});
                let query = json!({"id": format!("q{at}"), "query": query});
                format!(
                    "{}\n",
                    json!({"query": query, "documents": [document("a"), document("b")]})
                )
            })
            .collect();
        if !queries.is_empty() {
            std::fs::write(desk.path("in.jsonl"), lines).unwrap();
            let imported = desk.run(&["import", "in.jsonl"]);
            assert_eq!(imported.status.code(), Some(0), "{}", told(&imported));
        }
        let output = init(&desk, &[], &[&["--provider", "ollama"], more].concat());
        let prompt = file(&desk)["judge"][0]["prompt"]
            .as_str()
            .unwrap()
            .to_owned();
        (prompt, told(&output))
    };
    let claims = [
        "Aspirin lowers the risk of a stroke.",
        "Trams reduce noise in cities.",
    ];
    assert_eq!(written(&[], &[]).0, "score-2");
    assert_eq!(written(&["what lowers fever"], &[]).0, "score-2");
    let (prompt, words) = written(&claims, &[]);
    assert_eq!(prompt, "score-2-claims");
    assert!(words.contains("--rubric searches"), "{words}");
    assert_eq!(written(&claims, &["--rubric", "searches"]).0, "score-2");
    assert_eq!(written(&[], &["--rubric", "claims"]).0, "score-2-claims");
}

#[test]
fn a_project_with_votes_keeps_their_prompt_and_asks_nothing_again() {
    let desk = Desk::new("");
    let done = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(done.status.code(), Some(0), "{}", told(&done));
    let asked = desk.server.requests().len();
    let again = desk.annotate(&["--yes", "--probe", "0"]);
    assert_eq!(again.status.code(), Some(0), "{}", told(&again));
    assert_eq!(desk.server.requests().len(), asked);
    desk.server.list_models(&["qwen3:8b"]);
    let output = init(&desk, &[], &["--provider", "ollama", "--force"]);
    let judge = &file(&desk)["judge"][0];
    assert_eq!(judge["prompt"].as_str(), Some("score"), "{}", told(&output));
}
