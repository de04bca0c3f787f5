//! Rerankers: score documents for a query with a service or a custom program.

mod asked;
mod program;
mod remote;
mod scores;
#[cfg(test)]
mod tests;

pub use asked::{AskedJudges, AskedPair, JudgeFailure, JudgeVote, PairReply};
pub use remote::TooManyCandidates;
pub use scores::RerankScores;

use super::call::{CallError, Usage};
use super::ensemble::{
    DocumentedDefault, EnsembleError, JudgeSources, RerankerConfig, connect_reranker,
};
use super::offline;
use super::price::{PriceTable, RerankPrice};
use super::spec::JudgeLimits;
use crate::domain::corpus::DocId;
use crate::domain::document_cut::DocumentCut;
use crate::domain::permission::{ProgramUse, command_line};
use crate::registry::is_free_reranker_name;
use program::ProgramReranker;
use remote::RemoteReranker;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Default number of concurrent calls to a service.
const CONCURRENCY: usize = 4;

/// Longer than any run.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Default number of processes of a program.
const PROCESSES: usize = 1;

/// The defaults that the documented `overrule.toml` lists.
pub fn defaults() -> Vec<DocumentedDefault> {
    vec![
        ("reranker_calls", CONCURRENCY.to_string()),
        ("program_timeout", program::TIMEOUT.as_secs().to_string()),
        ("program_calls", PROCESSES.to_string()),
    ]
}

/// A document with its id in the pool.
pub type RerankCandidate = (DocId, Arc<str>);

#[derive(Debug)]
pub struct Reranker {
    name: String,
    model: String,
    identity: String,
    concurrency: usize,
    /// Maximum number of characters sent per document.
    chars: usize,
    backend: RerankerBackend,
}

#[derive(Debug)]
enum RerankerBackend {
    Service(Box<RemoteReranker>),
    Program(Box<ProgramReranker>),
}

impl Reranker {
    /// The reranker described by `config`; `own` is the user's price table. Makes no calls and
    /// starts no program.
    ///
    /// # Errors
    /// If the configuration is invalid, or requires a key that is missing.
    pub fn new(
        config: &RerankerConfig,
        own: Option<&PriceTable>,
        sources: &JudgeSources<'_>,
    ) -> Result<Self, EnsembleError> {
        let wrong = |message: &str| EnsembleError::Reranker {
            reranker: config.name.clone(),
            message: message.to_owned(),
        };
        let given = [config.batch, config.concurrency, config.max_document_chars];
        if given.contains(&Some(0)) {
            return Err(wrong(
                "a limit of 0 leaves nothing to rank; remove or raise it",
            ));
        }
        if config.name.trim().is_empty() {
            return Err(wrong("the name is empty; give every reranker its own"));
        }
        if offline::NAMES.contains(&config.name.as_str()) || !is_free_reranker_name(&config.name) {
            return Err(wrong(
                "--method cannot mean it by that name, which belongs to a method or an offline \
                 judge, or holds a space, @ or :; \
                 give it another name",
            ));
        }
        if config.command.is_empty() {
            if config.asks {
                return Err(wrong("only a program asks the judges; remove `asks`"));
            }
            let reached = connect_reranker(config, own, sources)?;
            let remote = RemoteReranker::new(reached, config.batch);
            return Ok(Self {
                name: config.name.clone(),
                model: format!("{} {}", config.provider, config.model)
                    .trim_end()
                    .to_owned(),
                identity: remote.identity(),
                concurrency: config.concurrency.unwrap_or(CONCURRENCY),
                chars: remote.chars(),
                backend: RerankerBackend::Service(Box::new(remote)),
            });
        }
        if !config.provider.is_empty() || config.base_url.is_some() || config.key_env.is_some() {
            return Err(wrong(
                "it has a command and a provider, an address or a key; a program needs none of \
                 these",
            ));
        }
        let concurrency = config.concurrency.unwrap_or(PROCESSES);
        let program = ProgramReranker::new(config, sources.folder, concurrency)
            .map_err(|error| wrong(&error.to_string()))?;
        Ok(Self {
            name: config.name.clone(),
            model: format!("program {}", command_line(&config.command)),
            identity: program.identity(),
            concurrency,
            chars: config.max_document_chars.unwrap_or(usize::MAX),
            backend: RerankerBackend::Program(Box::new(program)),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program that it runs, for which it needs [permission](Self::permit).
    pub fn program(&self) -> Option<&ProgramUse> {
        match &self.backend {
            RerankerBackend::Service(_) => None,
            RerankerBackend::Program(program) => Some(program.used()),
        }
    }

    /// Lets it start its program; call this once the user has allowed it.
    pub fn permit(&self) {
        if let RerankerBackend::Program(program) = &self.backend {
            program.permit();
        }
    }

    /// Whether it is a program that may ask the judges.
    pub fn asks_judges(&self) -> bool {
        matches!(&self.backend, RerankerBackend::Program(program) if program.asks)
    }

    /// Service and model, or the program, for display.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Everything that could change its scores. For a program, this includes the content of the
    /// files named in its command.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Maximum number of concurrent calls.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// How much of a document it is sent at most; `None` for all of it.
    pub fn document_cut(&self) -> Option<DocumentCut> {
        let chars = self.chars;
        (chars < usize::MAX).then_some(DocumentCut { chars })
    }

    /// Whether it runs on a server.
    pub fn is_remote(&self) -> bool {
        matches!(self.backend, RerankerBackend::Service(_))
    }

    /// Whether a call may cost money.
    pub fn is_paid(&self) -> bool {
        match &self.backend {
            RerankerBackend::Service(remote) => {
                remote.is_paid() && remote.price() != Some(RerankPrice::Free)
            }
            RerankerBackend::Program(_) => false,
        }
    }

    pub fn limits(&self) -> JudgeLimits {
        let limits = match &self.backend {
            RerankerBackend::Service(remote) => remote.limits(),
            // It is silent while it waits for judges; its own time is limited by its timeout.
            RerankerBackend::Program(program) if program.asks => JudgeLimits {
                silent_after: NEVER,
                ..JudgeLimits::default()
            },
            RerankerBackend::Program(_) => JudgeLimits::default(),
        };
        JudgeLimits {
            concurrency: Some(self.concurrency),
            ..limits
        }
    }

    /// The part of a document that is sent: all of it, or its beginning.
    fn head<'a>(&self, text: &'a str) -> &'a str {
        if text.len() <= self.chars {
            return text;
        }
        let end = text.char_indices().nth(self.chars);
        end.map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
    }

    fn heads<'a>(&self, candidates: &'a [RerankCandidate]) -> Vec<&'a str> {
        candidates.iter().map(|(_, text)| self.head(text)).collect()
    }

    /// Number of documents that are truncated.
    pub fn truncates<'a>(&self, texts: impl Iterator<Item = &'a str>) -> u64 {
        texts
            .filter(|text| self.head(text).len() < text.len())
            .count() as u64
    }

    /// Splits the candidates into batches, one per call.
    ///
    /// # Errors
    /// If they need more than one call, and scores of different calls of this model cannot be
    /// compared.
    pub fn batches(
        &self,
        query: &str,
        candidates: &[RerankCandidate],
    ) -> Result<Vec<Range<usize>>, TooManyCandidates> {
        match &self.backend {
            RerankerBackend::Service(remote) => remote.batches(query, &self.heads(candidates)),
            // As one batch, because a program may compare documents with each other.
            RerankerBackend::Program(_) => {
                let all = (!candidates.is_empty()).then_some(0..candidates.len());
                Ok(all.into_iter().collect())
            }
        }
    }

    /// The expected usage of a call about one batch: tokens, and dollars if the price is known.
    pub fn estimate(&self, query: &str, candidates: &[RerankCandidate]) -> (Usage, Option<f64>) {
        self.expect(query, candidates, 1.0)
    }

    /// The same with `ratio` times as many tokens as estimated.
    pub fn expect(
        &self,
        query: &str,
        candidates: &[RerankCandidate],
        ratio: f64,
    ) -> (Usage, Option<f64>) {
        match &self.backend {
            RerankerBackend::Service(remote) => {
                remote.expect(query, &self.heads(candidates), ratio)
            }
            RerankerBackend::Program(_) => (Usage::default(), Some(0.0)),
        }
    }

    /// The maximum usage of a call about one batch, which a hard budget must reserve.
    pub fn worst(&self, query: &str, candidates: &[RerankCandidate]) -> (Usage, Option<f64>) {
        match &self.backend {
            RerankerBackend::Service(remote) => remote.worst(query, &self.heads(candidates)),
            RerankerBackend::Program(_) => (Usage::default(), Some(0.0)),
        }
    }

    /// Makes one call about one batch; `judges` answer a program that may ask them. The runner
    /// retries. Dropping the future of a call to a program kills that program.
    ///
    /// # Errors
    /// If the call failed, its response does not contain one score for each document, or the judges
    /// that a program asks make no more calls.
    pub async fn score(
        &self,
        query: &str,
        candidates: &[RerankCandidate],
        judges: Option<&dyn AskedJudges>,
    ) -> Result<RerankScores, CallError> {
        let texts = self.heads(candidates);
        match &self.backend {
            RerankerBackend::Service(remote) => remote.score(query, &texts).await,
            RerankerBackend::Program(program) => {
                let ids: Vec<&str> = candidates.iter().map(|(id, _)| id.as_str()).collect();
                program.score(query, &ids, &texts, judges).await
            }
        }
    }
}
