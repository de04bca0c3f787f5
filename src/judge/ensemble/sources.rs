//! What judges are made from, and why they cannot be made.

use super::dotenv::Dotenv;
use crate::judge::provider::http::Timeouts;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

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
