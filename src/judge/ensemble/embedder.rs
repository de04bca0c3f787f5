//! Connects the embedders of `overrule.toml`. They use the same addresses, keys and restrictions as
//! judges.

use super::build::{self, JudgeTask};
use super::config::{EmbedderConfig, JudgeConfig};
use super::sources::{BuildError, EnsembleError, JudgeSources, KeyProblem};
use crate::judge::provider::http::Http;
use crate::judge::provider::registry::named_in;
use crate::judge::provider::{ApiConnection, EmbeddingFormat, JudgeSettings};

pub fn connect(
    config: &EmbedderConfig,
    sources: &JudgeSources<'_>,
) -> Result<(JudgeSettings, ApiConnection, EmbeddingFormat), EnsembleError> {
    let wrong = |message: String| EnsembleError::Embedder {
        embedder: config.name.clone(),
        message,
    };
    let provider = named_in(sources.providers, &config.provider);
    let Some((provider, format)) = provider.and_then(|of| Some((of, of.embeddings()?))) else {
        let known: Vec<&str> = sources
            .providers
            .iter()
            .filter(|provider| provider.embeddings().is_some())
            .map(|provider| provider.name())
            .collect();
        return Err(wrong(format!(
            "provider {:?} does not embed; use local, {}",
            config.provider,
            known.join(", ")
        )));
    };
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
    // An address without a key means a server with the same API that needs no key.
    let keyless =
        matches!(built, Err(BuildError::Key(KeyProblem::NotSet(_)))) && judge.key_env.is_none();
    if let Some(other) = provider.keyless().filter(|_| keyless && own_server) {
        judge.provider = other.name().to_owned();
        built = build(&judge);
    }
    let judge = built.map_err(|error| wrong(error.to_string()))?;
    Ok((judge.settings, judge.connection, format))
}
