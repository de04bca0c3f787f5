//! The trait for providers of judges: everything that differs between them. The texts of requests
//! and answers are up to their [`WireFormat`].

use super::address::join;
use super::batch::format::BatchFormat;
use super::service::{CallOptions, Service};
use super::wire_format::WireFormat;
use reqwest::Url;
use serde_json::Value;

/// The limit of answers of local models until one needs more, in tokens. Six points with quotations
/// take about half of it.
pub const SHORT_CAP: u64 = 1024;

/// The default limits of a provider's judges.
#[derive(Clone, Copy, Debug)]
pub struct ProviderLimits {
    /// Maximum number of tokens of an answer.
    pub cap: u64,
    /// The same until an answer needs more.
    pub short_cap: Option<u64>,
    /// Maximum number of characters of a document.
    pub document_chars: usize,
    /// Maximum number of concurrent calls of a server that does not say how many it processes.
    pub concurrency: Option<usize>,
}

impl Default for ProviderLimits {
    fn default() -> Self {
        Self {
            cap: 4096,
            short_cap: None,
            document_chars: 24_000,
            concurrency: None,
        }
    }
}

/// The formats of requests for embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingFormat {
    /// `/embeddings`.
    OpenAi,
    /// `/api/embed`.
    Ollama,
}

/// The formats in which servers list their models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelList {
    /// `/models`.
    OpenAi,
    /// `/api/tags`.
    Ollama,
}

impl ModelList {
    pub fn url(self, base: &Url) -> Url {
        match self {
            Self::OpenAi => join(base, "/models"),
            Self::Ollama => api_route(base, "/tags"),
        }
    }

    /// The names of the models in a list.
    pub fn names(self, list: &Value) -> Option<Vec<&str>> {
        let (models, name) = match self {
            Self::OpenAi => ("data", "id"),
            Self::Ollama => ("models", "name"),
        };
        let models = list.get(models)?.as_array()?;
        Some(
            models
                .iter()
                .filter_map(|model| model.get(name)?.as_str())
                .collect(),
        )
    }
}

impl EmbeddingFormat {
    pub fn url(self, base: &Url) -> Url {
        match self {
            Self::OpenAi => join(base, "/embeddings"),
            Self::Ollama => api_route(base, "/embed"),
        }
    }
}

/// The URL of a route of Ollama's API; `base` may end in `/api`.
pub(super) fn api_route(base: &Url, route: &str) -> Url {
    if base.path().trim_end_matches('/').ends_with("/api") {
        join(base, route)
    } else {
        join(base, &format!("/api{route}"))
    }
}

/// A provider of judges.
pub(crate) trait Provider: Service {
    fn format(&'static self) -> Box<dyn WireFormat>;

    /// The URL of a judge's calls below `base`.
    fn url(&self, base: &Url, _options: CallOptions<'_>) -> Url {
        join(base, "/chat/completions")
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits::default()
    }

    /// Its batch endpoint, if there is one.
    fn batches(&self) -> Option<&'static dyn BatchFormat> {
        None
    }

    /// How its servers embed texts, if they do.
    fn embeddings(&self) -> Option<EmbeddingFormat> {
        None
    }

    /// How its servers list the models that the user has loaded, if they do.
    fn own_models(&self) -> Option<ModelList> {
        None
    }

    /// The provider's name in the price table.
    fn priced_as(&self) -> &'static str {
        self.name()
    }

    /// Whether it returns probabilities of its answers instead of text.
    fn decides(&self) -> bool {
        false
    }

    /// Whether an account has a default service tier, which applies to requests that name none.
    fn has_account_tiers(&self) -> bool {
        true
    }

    /// The provider for other servers with the same API that need no key.
    fn keyless(&self) -> Option<&'static dyn Provider> {
        None
    }
}
