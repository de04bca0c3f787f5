//! From `overrule.toml` and keys to judges. Keys are looked up in the environment, then in a `.env` beside the project;
//! they go into headers and nowhere else, and the process's own environment is never changed.

mod build;
mod dotenv;
mod embedder;
mod key_destination;
mod provider_profile;

pub use dotenv::Dotenv;
pub use embedder::{EmbedderConfig, connect};

use super::offline;
use super::price::{PriceTable, TokenRates};
use super::provider::http::{Http, Timeouts};
use super::{Judge, JudgeEnsemble};
use crate::domain::adjudication::PickMode;
use crate::formats::file;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The commented default: one judge each of OpenAI, Anthropic and Gemini.
pub const DEFAULT: &str = include_str!("../../assets/overrule.toml");

/// The name of the file beside a project.
pub const FILE: &str = "overrule.toml";

/// What `overrule.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgesFile {
    /// A table of prices that comes before the embedded one.
    pub prices: Option<PathBuf>,
    /// The judges, in order.
    #[serde(rename = "judge")]
    pub judges: Vec<JudgeConfig>,
    /// The embedders, which are no judges.
    #[serde(rename = "embedder")]
    pub embedders: Vec<EmbedderConfig>,
}

/// One judge of `overrule.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// What people call it.
    pub name: String,
    /// Who serves it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Where the server is, where it is not the provider's own.
    pub base_url: Option<String>,
    /// The variable that holds the key, where it is not the provider's usual one.
    pub key_env: Option<String>,
    /// Put into every request.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// `score`, `choice`, `letter`, or a file.
    pub prompt: Option<String>,
    /// A file with the prompt for picks, where the embedded one is not to be used.
    pub pick_prompt: Option<String>,
    /// The same for a verdict on each document.
    pub verdict_prompt: Option<String>,
    /// Characters of a document at most.
    pub max_document_chars: Option<usize>,
    /// Estimated tokens of a document at most.
    pub max_document_tokens: Option<usize>,
    /// Tokens of an answer at most, thinking included.
    pub max_output_tokens: Option<u64>,
    /// Calls in flight at most.
    pub concurrency: Option<usize>,
    /// Calls begun a minute at most.
    pub requests_per_minute: Option<u64>,
    /// Tokens a minute at most.
    pub tokens_per_minute: Option<u64>,
    /// Calls in one batch at most.
    pub batch_requests: Option<usize>,
    /// Seconds until a connection stands.
    pub connect_timeout_s: Option<f64>,
    /// Seconds until the first byte of an answer.
    pub first_byte_timeout_s: Option<f64>,
    /// Seconds until the end of an answer.
    pub timeout_s: Option<f64>,
    /// Seconds that the server may fail or stay silent before the judge stops.
    pub give_up_after_s: Option<f64>,
    /// Its price, where the table's is not to be used.
    pub price: Option<TokenRates>,
    /// What the model really is, where `model` is only a name for it.
    pub base_model: Option<String>,
    /// The version of the interface, for Azure and Gemini.
    pub api_version: Option<String>,
    /// Lets a key travel unencrypted to another machine.
    #[serde(default)]
    pub insecure_http: bool,
}

/// A judge that cannot be used for want of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    /// The judge's name.
    pub judge: String,
    /// The variables any of which would do.
    pub key_env: String,
}

/// Why judges cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnsembleError {
    /// The file cannot be read or is not one.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// One embedder is wrong.
    #[error("embedder {embedder:?}: {message}")]
    Embedder {
        /// Its name.
        embedder: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// One judge is wrong.
    #[error("judge {judge:?}: {message}")]
    Judge {
        /// Its name.
        judge: String,
        /// What is wrong and what to do.
        message: String,
    },
}

/// What judges are made from.
pub struct JudgeSources<'a> {
    /// Looks a variable of the environment up.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The `.env` beside the project.
    pub dotenv: &'a Dotenv,
    /// The project's folder, for prompts and prices.
    pub folder: &'a Path,
    /// The day whose prices count.
    pub today: Date,
    /// Lets every key travel unencrypted.
    pub insecure_http: bool,
    /// How long calls may take, where a judge does not say otherwise.
    pub timeouts: Timeouts,
    /// Servers to which the user's own configuration lets the keys of well-known variables go.
    pub trusted_hosts: &'a [String],
}

impl JudgesFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// Reads `overrule.toml` in `folder`, or the default where there is none. Also says which file was read.
    pub fn load(folder: &Path) -> Result<(Self, Option<PathBuf>), EnsembleError> {
        let path = folder.join(FILE);
        let text = match file::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("cannot be read: {error}");
                return Err(EnsembleError::File { path, message });
            }
        };
        let found = text.is_some();
        match Self::parse(text.as_deref().unwrap_or(DEFAULT)) {
            Ok(file) => Ok((file, found.then_some(path))),
            Err(message) => Err(EnsembleError::File { path, message }),
        }
    }
}

/// The judges that have what they need, in order, and those that want a key. Where none is left the offline judges are
/// for the caller to take, and to say so.
pub fn ensemble_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    judges_from(file, sources, JudgeTask::Battle)
}

/// The same judges with the prompt that asks for picks in that way. Some can only compare two documents; their
/// [`Judge::lineup`] gives nothing.
pub fn pickers_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    way: PickMode,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    judges_from(file, sources, JudgeTask::Pick(way))
}

/// What judges are asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JudgeTask {
    /// Compare two documents.
    Battle,
    /// Pick the relevant ones of many.
    Pick(PickMode),
}

fn judges_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    task: JudgeTask,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    let mut names = HashSet::new();
    let own = match &file.prices {
        Some(path) => Some(read_prices(&sources.folder.join(path))?),
        None => None,
    };
    let http = Http::new(sources.timeouts);
    let (mut ensemble, mut missing) = (JudgeEnsemble::new(), Vec::new());
    for config in &file.judges {
        let wrong = |message: String| EnsembleError::Judge {
            judge: config.name.clone(),
            message,
        };
        if config.name.trim().is_empty() || !names.insert(config.name.as_str()) {
            return Err(wrong(
                "the name is empty or used twice; give every judge its own".to_owned(),
            ));
        }
        if config.provider == super::OFFLINE {
            let known = offline::NAMES.join(", ");
            let judge = offline::judge(&config.model);
            ensemble.push(judge.ok_or_else(|| {
                wrong(format!(
                    "no offline judge is called {:?}; there are {known}",
                    config.model
                ))
            })?);
            continue;
        }
        match build::judge(config, sources, task, own.as_ref(), &http).map_err(wrong)? {
            Ok(judge) => ensemble.push(Arc::new(judge) as Arc<dyn Judge>),
            Err(key_env) => missing.push(MissingKey {
                judge: config.name.clone(),
                key_env,
            }),
        }
    }
    Ok((ensemble, missing))
}

fn read_prices(path: &Path) -> Result<PriceTable, EnsembleError> {
    let wrong = |message: String| EnsembleError::File {
        path: path.to_owned(),
        message,
    };
    let text =
        file::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    PriceTable::parse(&text).map_err(wrong)
}

#[cfg(test)]
mod tests;
