//! Each block of the manual that is there to be copied judges a dataset to its end; only its
//! address is another.

use crate::desk::{Desk, KEY, told};
use rstest::rstest;

const CHAPTER: &str = include_str!("../../assets/manual/providers.md");

/// The blocks of the chapter, in order.
fn blocks() -> Vec<&'static str> {
    let fenced = CHAPTER.split("```toml\n").skip(1);
    fenced
        .map(|after| after.split("```").next().unwrap())
        .collect()
}

#[rstest]
#[case::openai(0, "openai")]
#[case::anthropic(1, "anthropic")]
#[case::gemini(2, "gemini")]
#[case::azure(3, "azure")]
#[case::vertex(4, "vertex")]
#[case::bedrock(5, "bedrock")]
#[case::ollama(6, "ollama")]
#[case::llamacpp(7, "llamacpp")]
#[case::vllm(8, "vllm")]
#[case::openrouter(9, "openrouter")]
#[case::litellm(10, "compatible")]
fn a_ready_block_judges_to_the_end(#[case] at: usize, #[case] provider: &str) {
    let blocks = blocks();
    assert_eq!(blocks.len(), 11);
    let mut file: toml::Table = blocks[at].parse().unwrap();
    let judge = file["judge"][0].as_table_mut().unwrap();
    assert_eq!(judge["provider"].as_str(), Some(provider));
    let desk = Desk::new("");
    let address = match provider {
        "anthropic" | "gemini" | "azure" | "ollama" => desk.server.root(),
        "vertex" => format!("{}/projects/p/locations/eu", desk.server.root()),
        _ => desk.server.v1(),
    };
    judge.insert("base_url".to_owned(), address.into());
    std::fs::write(desk.path("overrule.toml"), file.to_string()).unwrap();
    let mut command = desk.command(&["annotate", "in.jsonl", "out.jsonl"]);
    for name in [
        "AZURE_OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "LITELLM_API_KEY",
        "GOOGLE_OAUTH_ACCESS_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
    ] {
        command.env(name, KEY);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(desk.count("SELECT count(*) FROM vote"), 36);
    assert_eq!(desk.count("SELECT count(*) FROM failure"), 0);
    let sends_key = desk.server.requests().iter().all(|request| {
        let headers = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
        headers
            .iter()
            .filter_map(|name| request.header(name))
            .any(|value| value.ends_with(KEY))
    });
    assert_eq!(
        sends_key,
        !matches!(provider, "ollama" | "llamacpp" | "vllm")
    );
}
