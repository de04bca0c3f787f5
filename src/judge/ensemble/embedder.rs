//! Connects the embedders of `overrule.toml`. They use the same addresses, keys and restrictions as
//! judges.

use super::build::{self, JudgeTask};
use super::config::{EmbedderConfig, JudgeConfig};
use super::reach::BuildError;
use super::sources::{EnsembleError, JudgeSources, KeyProblem};
use crate::judge::provider::http::Http;
use crate::judge::provider::{ApiConnection, JudgeSettings};

/// Providers whose servers can embed texts.
const REMOTE: &[&str] = &[
    "openai",
    "ollama",
    "compatible",
    "vllm",
    "llamacpp",
    "lmstudio",
    "openrouter",
    "together",
    "mistral",
];

pub fn connect(
    config: &EmbedderConfig,
    sources: &JudgeSources<'_>,
) -> Result<(JudgeSettings, ApiConnection), EnsembleError> {
    let wrong = |message: String| EnsembleError::Embedder {
        embedder: config.name.clone(),
        message,
    };
    if !REMOTE.contains(&config.provider.as_str()) {
        let known = REMOTE.join(", ");
        let provider = &config.provider;
        return Err(wrong(format!(
            "provider {provider:?} does not embed; there are local, {known}"
        )));
    }
    let own_server = config.base_url.is_some();
    let mut judge = JudgeConfig {
        name: config.name.clone(),
        provider: config.provider.clone(),
        model: config.model.clone(),
        base_url: config.base_url.clone(),
        key_env: config.key_env.clone(),
        insecure_http: config.insecure_http,
        requests_per_minute: config.requests_per_minute,
        tokens_per_minute: config.tokens_per_minute,
        price: config.price,
        connect_timeout_s: config.connect_timeout_s,
        first_byte_timeout_s: config.first_byte_timeout_s,
        timeout_s: config.timeout_s,
        give_up_after_s: config.give_up_after_s,
        ..JudgeConfig::default()
    };
    let http = Http::new(sources.timeouts);
    let build = |judge: &JudgeConfig| build::judge(judge, sources, JudgeTask::Battle, None, &http);
    let mut built = build(&judge);
    // An address without a key means an OpenAI-compatible server that needs no key.
    let keyless =
        matches!(built, Err(BuildError::Key(KeyProblem::NotSet(_)))) && judge.key_env.is_none();
    if keyless && judge.provider == "openai" && own_server {
        judge.provider = "compatible".to_owned();
        built = build(&judge);
    }
    let judge = built.map_err(|error| wrong(error.to_string()))?;
    Ok((judge.settings, judge.connection))
}
