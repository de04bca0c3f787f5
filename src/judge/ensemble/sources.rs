//! What judges are made from, and why they cannot be made.

use super::dotenv::Dotenv;
use crate::judge::provider::http::Timeouts;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingKey {
    pub judge: String,
    pub key_env: String,
}

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
    /// Servers to which the user's own configuration lets the keys of well-known variables go.
    pub trusted_hosts: &'a [String],
}
