//! What judges are built from, and why building them may fail.

use super::dotenv::Dotenv;
use crate::domain::permission::PermissionRequest;
use crate::judge::price::InvalidPrice;
use crate::judge::prompt::{ProjectTexts, TemplateError};
use crate::judge::provider::address::{InvalidBaseUrl, InvalidKey};
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::service::InvalidApiVersion;
use crate::judge::provider::{KeyCommands, Provider};
use jiff::civil::Date;
use std::path::{Path, PathBuf};

/// A judge that cannot be used because its key is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    pub judge: String,
    pub problem: KeyProblem,
}

/// Why no key can be sent. The message follows the name of the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// None of these variables is set.
    #[error("needs a key: set {0}, or put it into .env next to the project")]
    NotSet(String),
    #[error(transparent)]
    NotAllowed(NotAllowed),
}

/// A request that the user has not allowed. As text, it follows the name of the requester.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "may not {0}: overrule.toml asks for it and you have not allowed it; `overrule allow` asks \
     you, and stores the answer in your own configuration"
)]
pub struct NotAllowed(pub PermissionRequest);

/// The texts of the project cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the guideline and the notes of the project cannot be read: {0}")]
pub struct UnreadableProject(pub String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnsembleError {
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    #[error("embedder {embedder:?}: {message}")]
    Embedder { embedder: String, message: String },
    #[error("reranker {reranker:?}: {message}")]
    Reranker { reranker: String, message: String },
    #[error("judge {judge:?}: {message}")]
    Judge { judge: String, message: String },
}

/// Why a judge, an embedder or a reranker cannot be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum BuildError {
    #[error(transparent)]
    Key(KeyProblem),
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Project(#[from] UnreadableProject),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Price(#[from] InvalidPrice),
    #[error(transparent)]
    BaseUrl(#[from] InvalidBaseUrl),
    #[error(transparent)]
    ApiVersion(#[from] InvalidApiVersion),
    #[error(transparent)]
    KeyText(#[from] InvalidKey),
}

impl From<String> for BuildError {
    fn from(message: String) -> Self {
        Self::Invalid(message)
    }
}

pub struct JudgeSources<'a> {
    /// The known providers of judges.
    pub(crate) providers: &'a [&'static dyn Provider],
    /// Looks up an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The `.env` file next to the project.
    pub dotenv: &'a Dotenv,
    /// The commands of the user's own configuration that print keys.
    pub key_commands: &'a KeyCommands,
    /// The project's folder, for prompts and prices.
    pub folder: &'a Path,
    /// The date for looking up prices.
    pub today: Date,
    /// Allows sending all keys unencrypted.
    pub insecure_http: bool,
    /// The default timeouts of calls.
    pub timeouts: Timeouts,
    /// Servers that the user's own configuration trusts with any key.
    pub trusted_hosts: &'a [String],
    /// Whether the user allows a request of the judge, embedder or reranker with this name; asks
    /// the user if possible.
    pub allows: &'a dyn Fn(&PermissionRequest, &str) -> bool,
    /// Reads the texts of the project that prompts can show.
    pub project_texts: &'a dyn Fn() -> Result<ProjectTexts, UnreadableProject>,
}
