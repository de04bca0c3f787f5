//! Embedders of `overrule.toml`. They reach their servers as judges do: the same addresses, keys and refusals.

use super::{EnsembleError, JudgeConfig, JudgeSources, JudgeTask, build};
use crate::judge::price::TokenRates;
use crate::judge::provider::http::Http;
use crate::judge::provider::{ApiConnection, JudgeSettings};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// One embedder of `overrule.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderConfig {
    /// What people call it.
    pub name: String,
    /// Who serves it: `openai` or a compatible server, `ollama`, or `local`.
    pub provider: String,
    /// The model; none for `local`.
    #[serde(default)]
    pub model: String,
    /// The folder of a `local` model.
    pub path: Option<PathBuf>,
    /// Where the server is, where it is not the provider's own.
    pub base_url: Option<String>,
    /// The variable that holds the key, where it is not the provider's usual one.
    pub key_env: Option<String>,
    /// Put into every request.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Texts in one call.
    pub batch: Option<usize>,
    /// Calls in flight at most.
    pub concurrency: Option<usize>,
    /// Calls a minute at most.
    pub requests_per_minute: Option<u64>,
    /// Tokens a minute at most.
    pub tokens_per_minute: Option<u64>,
    /// Its price, where it is known.
    pub price: Option<TokenRates>,
    /// Seconds until a connection stands.
    pub connect_timeout_s: Option<f64>,
    /// Seconds until the first byte of an answer.
    pub first_byte_timeout_s: Option<f64>,
    /// Seconds until the end of an answer.
    pub timeout_s: Option<f64>,
    /// Seconds that the server may fail or stay silent before it is given up.
    pub give_up_after_s: Option<f64>,
    /// Characters of a text at most.
    pub max_document_chars: Option<usize>,
    /// Put before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a passage.
    #[serde(default)]
    pub passage_prefix: String,
    /// Lets a key travel unencrypted to another machine.
    #[serde(default)]
    pub insecure_http: bool,
}

/// Providers whose servers embed.
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

/// The settings and the connection of an embedder behind HTTP.
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
    let mut network =
        build::judge(&judge, sources, JudgeTask::Battle, None, &http).map_err(wrong)?;
    // Whoever gives an address and no key has a server that speaks like OpenAI's and wants none.
    if network.is_err() && judge.provider == "openai" && judge.key_env.is_none() && own_server {
        judge.provider = "compatible".to_owned();
        network = build::judge(&judge, sources, JudgeTask::Battle, None, &http).map_err(wrong)?;
    }
    let network = network.map_err(|key| {
        wrong(format!(
            "wants a key: set {key}, or put it into .env beside the project"
        ))
    })?;
    Ok((network.settings, network.connection))
}
