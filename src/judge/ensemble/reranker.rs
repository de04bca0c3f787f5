//! Connects the rerank services of `overrule.toml`. They use the same addresses, keys and
//! restrictions as judges.

use super::config::{JudgeConfig, RerankerConfig};
use super::provider_profile::{LOCAL_GIVE_UP_AFTER, ServiceAccess};
use super::reach::{BuildError, key, patience, reach};
use super::sources::{EnsembleError, JudgeSources};
use crate::judge::billing::TermsRange;
use crate::judge::price::{PriceTable, RerankPrice};
use crate::judge::prompt::{self, DocumentCut, Template};
use crate::judge::provider::http::Http;
use crate::judge::provider::rerank::RerankService;
use crate::judge::provider::{ApiConnection, JudgeSettings};
use crate::judge::spec::{GIVE_UP_AFTER, JudgeLimits, JudgeSpec};
use secrecy::ExposeSecret as _;
use std::str::FromStr as _;

/// Default maximum number of characters per document.
pub(super) const CHARS: usize = 24_000;
/// Parameters that we set ourselves; the user may not set them.
const RESERVED: &[&str] = &["model", "query", "documents", "texts", "top_n", "top_k"];
/// Prefix of the keys issued by Voyage's new owner, and the server for them.
const VOYAGE_ELSEWHERE: (&str, &str) = ("al-", "https://ai.mongodb.com/v1");

/// A connected service.
#[derive(Debug)]
pub struct RerankerConnection {
    pub service: RerankService,
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
    let service = RerankService::from_str(provider).map_err(|_| {
        let known: Vec<&str> = RerankService::ALL.iter().map(|of| of.name()).collect();
        format!(
            "no rerank service is called {provider:?}; there are {}, or give a command",
            known.join(", ")
        )
    })?;
    let reserved = |name: &&String| RESERVED.contains(&name.as_str());
    if let Some(name) = config.params.keys().find(reserved) {
        return Err(
            format!("params may not hold {name:?}, which is set by the reranker itself").into(),
        );
    }
    if config.model.trim().is_empty() && service != RerankService::Tei {
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
    let mut access = access(service);
    // If the user gives an address, it is a custom server, which may need no key.
    access.needs_key &= config.base_url.is_none();
    let elsewhere = || {
        let key = key(
            config.key_env.as_deref().unwrap_or("VOYAGE_API_KEY"),
            sources,
        );
        key.is_some_and(|key| key.expose_secret().starts_with(VOYAGE_ELSEWHERE.0))
    };
    if service == RerankService::Voyage && judge.base_url.is_none() && elsewhere() {
        judge.base_url = Some(VOYAGE_ELSEWHERE.1.to_owned());
    }
    let reached = reach(&judge, &access, sources, &Http::new(sources.timeouts))?;
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
        patience(config.give_up_after_s, access.give_up_after, first_byte)?;
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
        },
        connection: reached.connection,
        price,
    })
}

fn access(service: RerankService) -> ServiceAccess {
    let cloud = |keys: &[&'static str], base, base_env| ServiceAccess {
        keys: keys.to_vec(),
        needs_key: true,
        base,
        base_env,
        give_up_after: GIVE_UP_AFTER,
    };
    let own = |keys, base| ServiceAccess {
        needs_key: false,
        give_up_after: LOCAL_GIVE_UP_AFTER,
        ..cloud(keys, base, "")
    };
    match service {
        RerankService::ZeroEntropy => cloud(
            &["ZEROENTROPY_API_KEY"],
            "https://api.zeroentropy.dev/v1",
            "ZEROENTROPY_BASE_URL",
        ),
        RerankService::Cohere => cloud(
            &["CO_API_KEY", "COHERE_API_KEY"],
            "https://api.cohere.com",
            "CO_API_URL",
        ),
        RerankService::Voyage => cloud(&["VOYAGE_API_KEY"], "https://api.voyageai.com/v1", ""),
        RerankService::Jina => cloud(
            &["JINA_API_KEY", "JINA_AI_API_KEY"],
            "https://api.jina.ai/v1",
            "",
        ),
        RerankService::Tei => own(&["HF_TOKEN"], "http://127.0.0.1:8080"),
        RerankService::Compatible => own(&[], ""),
    }
}
