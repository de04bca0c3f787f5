//! Connects the rerank services of `overrule.toml`. They use the same addresses, keys and
//! restrictions as judges.

use super::config::{JudgeConfig, RerankerConfig};
use super::reach::{key, patience, reach};
use super::sources::{BuildError, EnsembleError, JudgeSources};
use crate::domain::document_cut::DocumentCut;
use crate::judge::billing::TermsRange;
use crate::judge::price::{PriceTable, RerankPrice};
use crate::judge::prompt::{self, Template};
use crate::judge::provider::http::Http;
use crate::judge::provider::rerank::{RerankProvider, SERVICES, service_named};
use crate::judge::provider::{ApiConnection, JudgeSettings};
use crate::judge::spec::{JudgeLimits, JudgeSpec};
use secrecy::ExposeSecret as _;

/// Default maximum number of characters per document.
pub(super) const CHARS: usize = 24_000;
/// Parameters that we set ourselves; the user may not set them.
const RESERVED: &[&str] = &[
    "model",
    "query",
    "documents",
    "texts",
    "input",
    "passages",
    "top_n",
    "top_k",
];

/// A connected service.
#[derive(Debug)]
pub struct RerankerConnection {
    pub service: &'static dyn RerankProvider,
    /// Name, model and limits; a reranker gets no prompt.
    pub settings: JudgeSettings,
    pub connection: ApiConnection,
    pub price: Option<RerankPrice>,
}

/// The service described by `config`, which must not name a program; `own` is the user's price
/// table.
pub fn connect_reranker(
    config: &RerankerConfig,
    own: Option<&PriceTable>,
    sources: &JudgeSources<'_>,
) -> Result<RerankerConnection, EnsembleError> {
    let made = connected(config, own, sources);
    made.map_err(|error| EnsembleError::Reranker {
        reranker: config.name.clone(),
        message: error.to_string(),
    })
}

fn connected(
    config: &RerankerConfig,
    own: Option<&PriceTable>,
    sources: &JudgeSources<'_>,
) -> Result<RerankerConnection, BuildError> {
    let provider = config.provider.as_str();
    let service = service_named(provider).ok_or_else(|| {
        let known: Vec<&str> = SERVICES.iter().map(|of| of.name()).collect();
        format!(
            "no rerank service is called {provider:?}; the services are {}, or give a command",
            known.join(", ")
        )
    })?;
    let reserved = |name: &&String| RESERVED.contains(&name.as_str());
    if let Some(name) = config.params.keys().find(reserved) {
        return Err(
            format!("params may not hold {name:?}, which is set by the reranker itself").into(),
        );
    }
    if config.model.trim().is_empty() && service.needs_model() {
        return Err("the model is empty; name one".to_owned().into());
    }
    let mut judge = JudgeConfig {
        name: config.name.clone(),
        provider: provider.to_owned(),
        model: config.model.clone(),
        base_url: config.base_url.clone(),
        key_env: config.key_env.clone(),
        insecure_http: config.insecure_http,
        headers: config.headers.clone(),
        connect_timeout_s: config.connect_timeout_s,
        first_byte_timeout_s: config.first_byte_timeout_s,
        timeout_s: config.timeout_s,
        ..JudgeConfig::default()
    };
    let mut access = service.access();
    // If the user gives an address, it is a custom server, which may need no key.
    access.needs_key &= config.base_url.is_none();
    if judge.base_url.is_none() {
        let variables = config
            .key_env
            .as_deref()
            .map_or_else(|| access.key.variables.to_vec(), |variable| vec![variable]);
        judge.base_url = variables
            .iter()
            .find_map(|variable| key(variable, sources))
            .and_then(|key| service.base_of_key(key.expose_secret()))
            .map(str::to_owned);
    }
    let reached = reach(
        &judge,
        service,
        &access,
        sources,
        &Http::new(sources.timeouts),
    )?;
    let rates = config.price.map(|rates| rates.price()).transpose()?;
    let listed = |prices: &PriceTable| prices.find_rerank(provider, &config.model);
    let price = rates
        .or_else(|| own.and_then(listed))
        .or_else(|| listed(PriceTable::embedded()))
        .or_else(|| reached.is_free.then_some(RerankPrice::Free));
    let template =
        Template::parse(prompt::SCORE).map_err(|error| format!("the embedded prompt: {error}"))?;
    let first_byte = reached.connection.http.timeouts().first_byte;
    let (give_up_after, silent_after) =
        patience(config.give_up_after_s, access.give_up_after(), first_byte)?;
    Ok(RerankerConnection {
        service,
        settings: JudgeSettings {
            spec: JudgeSpec {
                name: config.name.clone(),
                provider: provider.to_owned(),
                model: config.model.clone(),
                prompt_hash: String::new(),
                params: String::new(),
            },
            template,
            metadata: None,
            cut: DocumentCut {
                chars: config.max_document_chars.unwrap_or(CHARS),
            },
            cap: 0,
            short_cap: None,
            params: config.params.clone(),
            seed: None,
            base_model: config.model.clone(),
            price: None,
            retires: None,
            terms: TermsRange::default(),
            limits: JudgeLimits {
                concurrency: config.concurrency,
                requests_per_minute: config.requests_per_minute,
                tokens_per_minute: config.tokens_per_minute,
                give_up_after,
                silent_after,
                ..JudgeLimits::default()
            },
            key_env: reached.key_env,
            account: service.account(),
        },
        connection: reached.connection,
        price,
    })
}
