//! What judges are made from, and why they cannot be made.

use super::dotenv::Dotenv;
use crate::domain::permission::PermissionRequest;
use crate::judge::provider::http::Timeouts;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

/// A judge that cannot be asked for want of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    pub judge: String,
    pub problem: KeyProblem,
}

/// Why there is no key to send. As text, it follows the name of the judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// None of these variables is set.
    #[error("needs a key: set {0}, or put it into .env next to the project")]
    NotSet(String),
    #[error(transparent)]
    NotAllowed(NotAllowed),
}

/// A request that the user has not allowed. As text, it follows the name of who asks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "may not {0}: overrule.toml asks for it and you have not allowed it; `overrule allow` asks you, and keeps the answer in \
     your own configuration"
)]
pub struct NotAllowed(pub PermissionRequest);

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
    /// Servers that the user's own configuration trusts with any key.
    pub trusted_hosts: &'a [String],
    /// Whether the user allows a request of the judge, embedder or reranker of this name; asks the
    /// user if there is a way.
    pub allows: &'a dyn Fn(&PermissionRequest, &str) -> bool,
}
