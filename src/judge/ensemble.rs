//! Builds judges from `overrule.toml` and API keys. Keys are looked up in the environment, then in
//! a `.env` file next to the project. They are only used in headers, and the process environment is
//! never changed.

mod build;
mod config;
mod documented;
mod dotenv;
mod edit;
mod embedder;
mod endpoint;
mod key_destination;
mod reach;
mod reranker;
mod sources;

pub use build::KnownPrice;
#[cfg(any(test, feature = "local-embeddings"))]
pub use config::TokenPooling;
pub use config::{DEFAULT, EmbedderConfig, FILE, JudgeConfig, JudgesFile, RerankerConfig};
pub use documented::{DocumentedDefault, documented_file};
pub use dotenv::Dotenv;
pub use edit::JudgeEdit;
pub use embedder::connect;
pub use reranker::{RerankerConnection, connect_reranker};
pub use sources::{
    EnsembleError, JudgeSources, KeyProblem, MissingKey, NotAllowed, UnreadableProject,
};

use super::judge_trait::JudgeEnsemble;
use super::offline;
use super::presented::RerankKind;
use super::price::PriceTable;
use super::provider::http::Http;
use super::provider::registry::{PROVIDERS, provider_named, unknown_provider};
use super::spec::OFFLINE;
use crate::domain::adjudication::PickMode;
use crate::formats::file;
use build::JudgeTask;
use sources::BuildError;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// Checks that a judge's provider is known.
///
/// # Errors
/// If it is not, with the names of the known providers.
pub fn check_provider(config: &JudgeConfig) -> Result<(), EnsembleError> {
    let provider = config.provider.as_str();
    if provider == OFFLINE || provider_named(provider).is_some() {
        return Ok(());
    }
    Err(EnsembleError::Judge {
        judge: config.name.clone(),
        message: unknown_provider(provider, &PROVIDERS),
    })
}

/// The judges that have what they need, in order, and those whose key is missing. If no judge is
/// left, the caller may use the offline judges, and must say so.
pub fn ensemble_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    judges_from(file, sources, JudgeTask::Battle)
}

/// The same judges with the prompt for picking in that mode. Some judges can only compare two
/// documents; [`Judge::can_answer`](super::Judge::can_answer) tells which.
pub fn pickers_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    way: PickMode,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    judges_from(file, sources, JudgeTask::Pick(way))
}

/// The same judges with the prompt for reranking questions of that kind. Some judges can only
/// compare two documents; [`Judge::can_answer`](super::Judge::can_answer) tells which.
pub fn rerank_judges_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    kind: RerankKind,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    judges_from(file, sources, JudgeTask::Rerank(kind))
}

fn judges_from(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    task: JudgeTask,
) -> Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError> {
    let mut names = HashSet::new();
    let own = own_prices(file, sources)?;
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
        let is_embedded = config.provider == OFFLINE && config.model == config.name;
        let reserved = config.name == OFFLINE || offline::NAMES.contains(&config.name.as_str());
        if reserved && !is_embedded {
            return Err(wrong(
                "the name belongs to the offline judges; give this judge another name".to_owned(),
            ));
        }
        if config.provider == OFFLINE && config.metadata.is_some() {
            return Err(wrong(
                "metadata: the offline judges read texts only; leave it out".to_owned(),
            ));
        }
        if config.provider == OFFLINE {
            let known = offline::NAMES.join(", ");
            let judge = offline::judge(&config.model);
            ensemble.push(judge.ok_or_else(|| {
                wrong(format!(
                    "no offline judge is called {:?}; the offline judges are {known}",
                    config.model
                ))
            })?);
            continue;
        }
        match build::judge(config, sources, task, own.as_ref(), &http) {
            Ok(judge) => ensemble.push(Arc::new(judge)),
            Err(BuildError::Key(problem)) => missing.push(MissingKey {
                judge: config.name.clone(),
                problem,
            }),
            Err(error) => return Err(wrong(error.to_string())),
        }
    }
    Ok((ensemble, missing))
}

/// The user's price table, if the file specifies one.
pub fn own_prices(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
) -> Result<Option<PriceTable>, EnsembleError> {
    let path = file.prices.as_ref();
    path.map(|path| read_prices(&sources.folder.join(path)))
        .transpose()
}

/// What is known of the prices of the judges of a file, in their order, whether or not their keys
/// are set.
pub fn judge_prices(
    file: &JudgesFile,
    sources: &JudgeSources<'_>,
    own: Option<&PriceTable>,
) -> Vec<KnownPrice> {
    file.judges
        .iter()
        .map(|config| build::known_price(config, sources, own))
        .collect()
}

fn read_prices(path: &Path) -> Result<PriceTable, EnsembleError> {
    let wrong = |message: String| EnsembleError::File {
        path: path.to_owned(),
        message,
    };
    let text =
        file::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    PriceTable::parse(&text).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
