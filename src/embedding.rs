//! Embedders: convert texts to unit vectors, with a server or a local model.

pub mod cache;
mod embedded_texts;
#[cfg(any(test, feature = "local-embeddings"))]
mod local;
mod remote;

pub use embedded_texts::EmbeddedTexts;

use crate::domain::retrieval::unit_vector;
use crate::judge::ensemble::{
    DocumentedDefault, EmbedderConfig, EnsembleError, JudgeSources, connect,
};
use crate::judge::{CallError, FailureCause, JudgeLimits};
use remote::RemoteEmbedder;
use sha2::{Digest, Sha256};

/// Default number of texts per call: the default limit of text-embeddings-inference.
const BATCH: usize = 32;
/// Default number of concurrent calls to a server.
const CONCURRENCY: usize = 4;
/// Default maximum number of characters per text, which fits into the 8,191 tokens of OpenAI's
/// models.
const CHARS: usize = 24_000;

#[derive(Debug)]
pub struct Embedder {
    pub name: String,
    /// Provider and model, for display.
    pub model: String,
    pub batch: usize,
    pub concurrency: usize,
    /// Everything that could change its vectors.
    identity: String,
    chars: usize,
    query_prefix: String,
    passage_prefix: String,
    source: EmbedderBackend,
}

/// The defaults that the documented `overrule.toml` lists.
pub fn defaults() -> Vec<DocumentedDefault> {
    vec![
        ("embedder_batch", BATCH.to_string()),
        ("embedder_calls", CONCURRENCY.to_string()),
        ("embedder_chars", CHARS.to_string()),
    ]
}

#[derive(Debug)]
enum EmbedderBackend {
    Remote(Box<RemoteEmbedder>),
    #[cfg(any(test, feature = "local-embeddings"))]
    Local(std::sync::Arc<local::LocalModel>),
}

impl Embedder {
    /// The embedder that `config` describes.
    pub fn new(config: &EmbedderConfig, sources: &JudgeSources<'_>) -> Result<Self, EnsembleError> {
        let wrong = |message: String| EnsembleError::Embedder {
            embedder: config.name.clone(),
            message,
        };
        let given = [config.batch, config.concurrency, config.max_document_chars];
        if given.contains(&Some(0)) {
            let message = "a limit of 0 leaves nothing to embed; remove or raise it";
            return Err(wrong(message.to_owned()));
        }
        let local = config.provider == "local";
        if !local && config.pooling.is_some() {
            let message = "pooling is for provider = \"local\"; a server pools as its model says";
            return Err(wrong(message.to_owned()));
        }
        let (source, identity, model) = if local {
            self::local(config, sources).map_err(|error| wrong(error.to_string()))?
        } else {
            let (settings, connection, format) = connect(config, sources)?;
            let params = config.params.clone();
            let remote = RemoteEmbedder::new(settings, connection, format, params);
            let model = format!("{} {}", config.provider, config.model);
            let identity = remote.identity();
            (EmbedderBackend::Remote(Box::new(remote)), identity, model)
        };
        // A call to a local model uses one core.
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let concurrency = if local { cores() } else { CONCURRENCY };
        Ok(Self {
            name: config.name.clone(),
            model,
            batch: config.batch.unwrap_or(BATCH),
            concurrency: config.concurrency.unwrap_or(concurrency),
            identity,
            chars: config.max_document_chars.unwrap_or(CHARS),
            query_prefix: config.query_prefix.clone(),
            passage_prefix: config.passage_prefix.clone(),
            source,
        })
    }

    pub fn is_paid(&self) -> bool {
        match &self.source {
            EmbedderBackend::Remote(remote) => remote.is_paid(),
            #[cfg(any(test, feature = "local-embeddings"))]
            EmbedderBackend::Local(_) => false,
        }
    }

    pub fn is_remote(&self) -> bool {
        matches!(self.source, EmbedderBackend::Remote(_))
    }

    pub fn limits(&self) -> JudgeLimits {
        match &self.source {
            EmbedderBackend::Remote(remote) => remote.limits(),
            #[cfg(any(test, feature = "local-embeddings"))]
            EmbedderBackend::Local(_) => JudgeLimits::default(),
        }
    }

    /// Maximum cost of a call on these texts in dollars, if the price is known.
    pub fn worst_usd(&self, texts: &[String]) -> Option<f64> {
        match &self.source {
            EmbedderBackend::Remote(remote) => remote.worst_usd(texts),
            #[cfg(any(test, feature = "local-embeddings"))]
            EmbedderBackend::Local(_) => Some(0.0),
        }
    }

    /// The cost of this many tokens in dollars, if the price is known.
    pub fn usd(&self, tokens: u64) -> Option<f64> {
        match &self.source {
            EmbedderBackend::Remote(remote) => remote.usd(tokens),
            #[cfg(any(test, feature = "local-embeddings"))]
            EmbedderBackend::Local(_) => Some(0.0),
        }
    }

    /// The text to embed for a query; empty for a blank one, which has no direction.
    pub fn query(&self, text: &str) -> String {
        self.sent(&self.query_prefix, text)
    }

    /// The text to embed for a passage: all of it, or its beginning; empty for a blank one, which
    /// has no direction.
    pub fn passage(&self, text: &str) -> String {
        self.sent(&self.passage_prefix, text)
    }

    fn sent(&self, prefix: &str, text: &str) -> String {
        match self.head(text) {
            blank if blank.trim().is_empty() => String::new(),
            head => format!("{prefix}{head}"),
        }
    }

    fn head<'a>(&self, text: &'a str) -> &'a str {
        let end = text.char_indices().nth(self.chars);
        end.map_or(text, |(end, _)| &text[..end])
    }

    /// Hash of the model and everything sent to it: the same texts have the same vector.
    pub fn key(&self, text: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update((self.identity.len() as u64).to_le_bytes());
        hash.update(&self.identity);
        hash.update(text);
        hash.finalize().into()
    }

    /// The hash of everything but the texts that could change its vectors.
    pub fn identity(&self) -> [u8; 32] {
        Sha256::digest(&self.identity).into()
    }

    /// Makes one call. The runner retries.
    pub async fn embed(&self, texts: &[String]) -> Result<EmbeddedTexts, CallError> {
        let mut embedded = match &self.source {
            EmbedderBackend::Remote(remote) => remote.embed(texts).await?,
            #[cfg(any(test, feature = "local-embeddings"))]
            EmbedderBackend::Local(model) => {
                let (model, texts) = (std::sync::Arc::clone(model), texts.to_vec());
                let made = tokio::task::spawn_blocking(move || model.embed(&texts)).await;
                let crashed = |error: &dyn std::error::Error| {
                    CallError::new(FailureCause::Crashed, error.to_string())
                };
                made.map_err(|error| crashed(&error))?
                    .map_err(|error| crashed(&error))?
            }
        };
        let exchange = embedded.exchange.clone();
        let (given, made) = (texts.len(), embedded.vectors.len());
        if given != made {
            let message = format!("{made} vectors came for {given} texts");
            let mut error = CallError::new(FailureCause::Malformed, message);
            *error.exchange = exchange;
            return Err(error);
        }
        for vector in &mut embedded.vectors {
            *vector = unit_vector(std::mem::take(vector)).unwrap_or_default();
        }
        Ok(embedded)
    }
}

/// Why an embedder that runs on this machine cannot be used.
#[derive(Debug, thiserror::Error)]
enum LocalEmbedderError {
    #[cfg(any(test, feature = "local-embeddings"))]
    #[error("path is missing; name the folder of the model")]
    NoPath,
    #[cfg(any(test, feature = "local-embeddings"))]
    #[error(transparent)]
    Model(#[from] local::LocalModelError),
    #[cfg(not(any(test, feature = "local-embeddings")))]
    #[error(
        "this overrule was built without local models; build it with `cargo install --path . \
         --features local-embeddings`, or use an embedder on a server"
    )]
    NotBuilt,
}

/// The model in a folder, with its identity and its name.
#[cfg(any(test, feature = "local-embeddings"))]
fn local(
    config: &EmbedderConfig,
    sources: &JudgeSources<'_>,
) -> Result<(EmbedderBackend, String, String), LocalEmbedderError> {
    let path = config.path.as_ref().ok_or(LocalEmbedderError::NoPath)?;
    let model = local::LocalModel::load(&sources.folder.join(path), config.pooling)?;
    let identity = model.identity.clone();
    let source = EmbedderBackend::Local(std::sync::Arc::new(model));
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok((source, identity, format!("local {}", name.display())))
}

#[cfg(not(any(test, feature = "local-embeddings")))]
fn local(
    _: &EmbedderConfig,
    _: &JudgeSources<'_>,
) -> Result<(EmbedderBackend, String, String), LocalEmbedderError> {
    Err(LocalEmbedderError::NotBuilt)
}
