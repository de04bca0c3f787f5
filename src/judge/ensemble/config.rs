//! `overrule.toml`: the judges, embedders and rerankers of a project.

use super::sources::EnsembleError;
use crate::formats::file;
use crate::judge::metadata::MetadataSetting;
use crate::judge::price::{RerankRates, TokenRates};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The commented default: one judge each from OpenAI, Anthropic and Gemini.
pub const DEFAULT: &str = include_str!("../../../assets/overrule.toml");

pub const FILE: &str = "overrule.toml";

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgesFile {
    /// A price table that takes precedence over the embedded one.
    pub prices: Option<PathBuf>,
    #[serde(rename = "judge")]
    pub judges: Vec<JudgeConfig>,
    /// The embedders, which are not judges.
    #[serde(rename = "embedder")]
    pub embedders: Vec<EmbedderConfig>,
    /// The services and programs that score documents for a query.
    #[serde(rename = "reranker")]
    pub rerankers: Vec<RerankerConfig>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    pub name: String,
    pub provider: String,
    pub model: String,
    pub base_url: Option<String>,
    pub key_env: Option<String>,
    #[serde(default)]
    pub params: Map<String, Value>,
    /// `score`, `choice`, `letter`, or the path of a file.
    pub prompt: Option<String>,
    /// The text of the prompt for battles, instead of `prompt`; not a setting of the file.
    #[serde(skip)]
    pub prompt_text: Option<String>,
    /// A file with the prompt for picks, instead of the embedded one.
    pub pick_prompt: Option<String>,
    /// A file with the prompt for per-document verdicts, instead of the embedded one.
    pub verdict_prompt: Option<String>,
    /// Which metadata of the documents it is shown; by default, none.
    pub metadata: Option<MetadataSetting>,
    pub max_document_chars: Option<usize>,
    /// Maximum number of (estimated) tokens of a document.
    pub max_document_tokens: Option<usize>,
    /// Maximum number of tokens of an answer, including reasoning.
    pub max_output_tokens: Option<u64>,
    pub concurrency: Option<usize>,
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
    pub batch_requests: Option<usize>,
    pub connect_timeout_s: Option<f64>,
    pub first_byte_timeout_s: Option<f64>,
    pub timeout_s: Option<f64>,
    /// Seconds that the server may fail or stay silent before the judge stops.
    pub give_up_after_s: Option<f64>,
    /// Its price, overriding the price table.
    pub price: Option<TokenRates>,
    /// The actual model, if `model` is an alias.
    pub base_model: Option<String>,
    /// The API version, for Azure, Gemini and Anthropic.
    pub api_version: Option<String>,
    /// Additional headers, for gateways. Keys belong in `key_env`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Allows sending a key unencrypted to another machine.
    #[serde(default)]
    pub insecure_http: bool,
}

/// Why a text is not a list of judges.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .0.to_string().trim_end())]
pub struct InvalidJudgesFile(#[from] toml::de::Error);

impl JudgesFile {
    pub fn parse(text: &str) -> Result<Self, InvalidJudgesFile> {
        Ok(toml::from_str(text)?)
    }

    /// Reads `overrule.toml` in `folder`, or the default if there is none. Also returns which file
    /// was read.
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
            Err(error) => Err(EnsembleError::File {
                path,
                message: error.to_string(),
            }),
        }
    }
}

/// How the vectors of a text's tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenPooling {
    /// The first token, `[CLS]`.
    Cls,
    Mean,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderConfig {
    pub name: String,
    /// The provider: `openai` or a compatible server, `ollama`, or `local`.
    pub provider: String,
    /// The model; empty for `local`.
    #[serde(default)]
    pub model: String,
    /// The folder of a `local` model.
    pub path: Option<PathBuf>,
    /// How a `local` model pools its tokens, instead of what its folder says.
    pub pooling: Option<TokenPooling>,
    pub base_url: Option<String>,
    pub key_env: Option<String>,
    #[serde(default)]
    pub params: Map<String, Value>,
    pub batch: Option<usize>,
    pub concurrency: Option<usize>,
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
    pub price: Option<TokenRates>,
    pub connect_timeout_s: Option<f64>,
    pub first_byte_timeout_s: Option<f64>,
    pub timeout_s: Option<f64>,
    /// Seconds that the server may fail or stay silent before calls to it stop.
    pub give_up_after_s: Option<f64>,
    pub max_document_chars: Option<usize>,
    #[serde(default)]
    pub query_prefix: String,
    #[serde(default)]
    pub passage_prefix: String,
    /// Allows sending a key unencrypted to another machine.
    #[serde(default)]
    pub insecure_http: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankerConfig {
    pub name: String,
    /// The provider: one of the services, or `compatible`; empty for a program.
    #[serde(default)]
    pub provider: String,
    #[serde(default)]
    pub model: String,
    /// A custom program with its arguments, started in the project's folder without a shell.
    #[serde(default)]
    pub command: Vec<String>,
    /// Whether the program may ask the judges while it ranks.
    #[serde(default)]
    pub asks: bool,
    pub base_url: Option<String>,
    pub key_env: Option<String>,
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Maximum number of documents per call.
    pub batch: Option<usize>,
    pub concurrency: Option<usize>,
    pub requests_per_minute: Option<u64>,
    pub tokens_per_minute: Option<u64>,
    pub price: Option<RerankRates>,
    pub connect_timeout_s: Option<f64>,
    pub first_byte_timeout_s: Option<f64>,
    /// Timeout for a whole answer, in seconds.
    pub timeout_s: Option<f64>,
    /// Seconds that the server may fail or stay silent before calls to it stop.
    pub give_up_after_s: Option<f64>,
    pub max_document_chars: Option<usize>,
    /// Additional headers, for gateways. Keys belong in `key_env`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Allows sending a key unencrypted to another machine.
    #[serde(default)]
    pub insecure_http: bool,
}
