use super::discovery::{FoundKey, ServerAddress, found_keys, parse_address, usual_addresses};
use super::*;
use crate::config::KeysConfig;
use std::collections::BTreeMap;

fn key(variable: &'static str, provider: &'static str) -> FoundKey {
    FoundKey { variable, provider }
}

fn ollama(models: &[&str]) -> FoundServer {
    FoundServer {
        provider: "ollama".to_owned(),
        url: "http://127.0.0.1:11434".to_owned(),
        models: models.iter().map(|model| (*model).to_owned()).collect(),
    }
}

#[test]
fn keys_come_before_servers_and_a_provider_once() {
    let found = Discovery {
        keys: vec![
            key("GOOGLE_API_KEY", "gemini"),
            key("GEMINI_API_KEY", "gemini"),
            key("OPENROUTER_API_KEY", "openrouter"),
        ],
        servers: vec![ollama(&["all-minilm:latest", "qwen3:8b", "gemma3:4b"])],
        ..Discovery::default()
    };
    let told = |choices: &[JudgeChoice]| -> Vec<String> {
        let words = choices
            .iter()
            .map(|one| format!("{} {}", one.provider, one.model));
        words.collect()
    };
    // A gateway has no default model, and an embedding model cannot judge.
    let all = [
        "gemini gemini-3.8-flash",
        "ollama qwen3:8b",
        "ollama gemma3:4b",
    ];
    assert_eq!(told(&choices(&found)), all);
    assert_eq!(told(&usual_choices(&found)), all[..1]);
    let local = Discovery {
        keys: Vec::new(),
        ..found
    };
    assert_eq!(told(&usual_choices(&local)), all[1..2]);
    assert_eq!(usual_choices(&Discovery::default()), []);
}

#[test]
fn a_judge_is_asked_for_by_name() {
    let found = Discovery {
        servers: vec![ollama(&[
            "qwen3:8b",
            "gemma3:4b",
            "gemma3:12b",
            "phi4:latest",
        ])],
        ..Discovery::default()
    };
    let wanted = |provider, model| wanted_choice(&found, &WantedJudge { provider, model });
    for (model, expected, notes) in [
        (None, "qwen3:8b", 0),
        (Some("qwen3"), "qwen3:8b", 0),
        (Some("phi4"), "phi4:latest", 0),
        (Some("gemma3"), "gemma3", 1),
        (Some("llama4"), "llama4", 1),
    ] {
        let (choice, said) = wanted("ollama", model).unwrap();
        assert_eq!((choice.model.as_str(), said.len()), (expected, notes));
    }
    let (choice, notes) = wanted("openai", None).unwrap();
    assert_eq!((choice.model.as_str(), choice.key), ("gpt-6.1-terra", None));
    assert_eq!(notes, ["no key is set: openai needs OPENAI_API_KEY"]);
    let error = wanted("openrouter", None).unwrap_err().to_string();
    assert!(error.contains("--model"), "{error}");
    let (nobody, _) = wanted("nobody", Some("m")).unwrap();
    let error = judges_file(&[nobody], Rubric::Searches.into())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no provider is called \"nobody\""),
        "{error}"
    );
}

#[test]
fn the_file_is_read_back_as_it_was_meant() {
    let judge = |provider: &str, model: &str, base_url: Option<&str>| JudgeChoice {
        provider: provider.to_owned(),
        model: model.to_owned(),
        base_url: base_url.map(str::to_owned),
        key: None,
    };
    let chosen = [
        judge("anthropic", "claude-sonnet-5-5", None),
        judge(
            "vllm",
            "Qwen/Qwen3 \"8B\"",
            Some("http://127.0.0.1:8000/v1"),
        ),
        judge("ollama", "a/m:latest", None),
        judge("ollama", "b/m:latest", None),
    ];
    let text = judges_file(&chosen, Rubric::Claims.into()).unwrap();
    let read = JudgesFile::parse(&text).unwrap().judges;
    let names: Vec<&str> = read.iter().map(|judge| judge.name.as_str()).collect();
    assert_eq!(names, ["claude", "Qwen3 \"8B\"", "m", "m-2"]);
    assert_eq!(read[1].model, "Qwen/Qwen3 \"8B\"");
    assert_eq!(
        read[1].base_url.as_deref(),
        Some("http://127.0.0.1:8000/v1")
    );
    assert_eq!(read[0].base_url, None);
    assert_eq!(read[0].prompt.as_deref(), Some("score-2-claims"));
}

#[test]
fn variables_say_where_to_look() {
    let env = |name: &str| match name {
        "OLLAMA_HOST" => Some("gpu".to_owned()),
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:8000/v1/".to_owned()),
        _ => None,
    };
    let told: Vec<String> = usual_addresses(&env)
        .into_iter()
        .map(|ServerAddress { provider, url, .. }| format!("{provider}={url}"))
        .collect();
    assert_eq!(
        told,
        [
            "ollama=http://gpu:11434",
            "llamacpp=http://127.0.0.1:8080/v1",
            "lmstudio=http://127.0.0.1:1234/v1",
            "compatible=http://127.0.0.1:8000/v1",
        ]
    );
    assert_eq!(parse_address(&told[1]).unwrap(), usual_addresses(&env)[1]);
    for wrong in ["vllm", "vllm=somewhere"] {
        assert!(parse_address(wrong).is_err());
    }
}

#[test]
fn a_key_is_found_in_the_environment_in_a_file_and_by_its_command() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), "CO_API_KEY=x\n").unwrap();
    let variable = "GOOGLE_OAUTH_ACCESS_TOKEN".to_owned();
    let keys = KeysConfig {
        // It is not run.
        key_command: BTreeMap::from([(variable, vec!["no-such-program".to_owned()])]),
        ..KeysConfig::default()
    };
    let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "x".to_owned());
    let found = found_keys(folder.path(), &env, &keys).unwrap();
    let judges = vec![
        key("OPENAI_API_KEY", "openai"),
        key("GOOGLE_OAUTH_ACCESS_TOKEN", "vertex"),
    ];
    assert_eq!(found, (judges, vec![key("CO_API_KEY", "cohere")]));
}
