//! Vectors of texts: those known from the cache, the others from the embedder, kept as they come.
//!
//! The calls are the client's: limits, retries, budget and dead servers are handled as for votes. Vectors are on disk before
//! their call is charged: a kill in between costs the price of a call in the ledger, and no text is bought twice.

use crate::client::RunControl;
use crate::client::budget::Budget;
use crate::client::call_ledger::CallLedger;
use crate::client::gate::RateGate;
use crate::client::question::{AttemptEnd, CallNeeds, RecordJob, ServiceQuestion};
use crate::client::worker::{QuestionEnd, Worker, WorkerContext, WorkerEvent};
use crate::client::{lock, now_ms, window};
use crate::domain::number_words::{count, counted, usd};
use crate::domain::sanitise;
use crate::embedding::cache::{VectorCache, VectorCacheError};
use crate::embedding::{EmbeddedTexts, Embedder};
use crate::judge::{CallError, Exchange, FailureCause, MAX_CHARGED};
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Calls that wait for the embedder at most.
const WAITING: usize = 4;
/// Characters of a token of English, roughly.
const CHARS_PER_TOKEN: usize = 4;
/// Bytes of one.
const BYTES_PER_TOKEN: usize = 4;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A call failed for good.
    #[error("embedder {embedder:?}: {error}")]
    Call {
        embedder: String,
        /// What happened and what to do about it.
        error: CallError,
    },
    /// The embedder makes no more calls.
    #[error("embedder {embedder:?} stopped: {why}")]
    Gone { embedder: String, why: String },
    #[error(transparent)]
    Cache(#[from] VectorCacheError),
    /// The project failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("stopped")]
    Stopped,
    /// The next call could pass the budget.
    #[error("the budget is reached; what was embedded is kept; continue with a larger --budget")]
    BudgetReached,
    /// There is a budget, and no price to keep it by.
    #[error(
        "embedder {0:?} has no known price, so that no budget can be kept; give `price` in overrule.toml"
    )]
    NoPrice(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VectorOrigins {
    /// Texts whose vectors were known.
    pub cached: usize,
    pub embedded: usize,
    pub tokens: u64,
    /// Dollars of those, as far as the price is known.
    pub spent_usd: f64,
}

/// Texts that would be embedded, and what that takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddingNeed {
    pub texts: usize,
    /// Those without a vector.
    pub unknown: usize,
    characters: usize,
    /// Dollars of those at the very most, as far as the price is known.
    worst_usd: f64,
}

#[derive(Debug)]
pub struct CachedEmbedder {
    embedder: Arc<Embedder>,
    cache: Arc<Mutex<VectorCache>>,
    /// Why vectors could not be kept.
    unkept: Arc<Mutex<Option<VectorCacheError>>>,
    shared: Arc<WorkerContext>,
    gate: Arc<Mutex<RateGate>>,
    _over: watch::Sender<bool>,
    origins: VectorOrigins,
    dimension: Option<usize>,
}

/// Texts to be embedded in one call.
struct EmbedQuestion {
    embedder: Arc<Embedder>,
    texts: Vec<String>,
    keys: Vec<[u8; 32]>,
    cache: Arc<Mutex<VectorCache>>,
    unkept: Arc<Mutex<Option<VectorCacheError>>>,
    /// Whether this is the call made once more.
    once_more: bool,
}

impl ServiceQuestion for EmbedQuestion {
    type Answer = EmbeddedTexts;

    fn ask(&self) -> BoxFuture<'_, Result<EmbeddedTexts, CallError>> {
        self.embedder.embed(&self.texts).boxed()
    }

    fn exchange(answer: &EmbeddedTexts) -> &Exchange {
        &answer.exchange
    }

    fn needs(&self) -> CallNeeds {
        let bytes: usize = self.texts.iter().map(String::len).sum();
        CallNeeds {
            tokens: (bytes / BYTES_PER_TOKEN) as u64,
            worst_usd: self.embedder.worst_usd(&self.texts),
            sent: self.embedder.is_remote(),
        }
    }

    fn rephrased(&self, error: &CallError) -> Option<Self> {
        // A page of some server in between instead of vectors: once more, and no more.
        let again = error.no_answer && !self.once_more;
        again.then(|| Self {
            embedder: Arc::clone(&self.embedder),
            texts: self.texts.clone(),
            keys: self.keys.clone(),
            cache: Arc::clone(&self.cache),
            unkept: Arc::clone(&self.unkept),
            once_more: true,
        })
    }

    fn name(&self) -> String {
        self.keys
            .first()
            .map_or_else(String::new, |key| format!("{key:?}"))
    }

    // Kept here, and not when the worker has told of it: the charge is committed in between.
    fn keep(&self, end: AttemptEnd<'_, EmbeddedTexts>) -> Option<RecordJob> {
        if let AttemptEnd::Answered(embedded) = end {
            let vectors = self.keys.iter().zip(&embedded.vectors);
            if let Err(error) = lock(&self.cache).put(vectors) {
                lock(&self.unkept).get_or_insert(error);
            }
        }
        None
    }
}

impl CachedEmbedder {
    /// Nothing is called yet. What calls cost is written into `project`, where there is one, and counts there against the
    /// budget of `control`; without a project the budget is for these calls alone. Where calls cost money, the caller holds
    /// the project's lock of runs.
    ///
    /// # Errors
    /// There is a budget and no price, or the project cannot be read.
    pub fn new(
        embedder: Embedder,
        cache: VectorCache,
        control: watch::Receiver<RunControl>,
        project: Option<Store>,
    ) -> Result<Self, EmbedError> {
        let limit = control.borrow().budget_usd.filter(|_| embedder.is_paid());
        if limit.is_some() && embedder.usd(0).is_none() {
            return Err(EmbedError::NoPrice(embedder.name));
        }
        let spent = match &project {
            Some(project) if embedder.is_paid() => project.write_blocking(|db| {
                db.charge_killed_calls(now_ms())?;
                db.committed_usd()
            })?,
            _ => 0.0,
        };
        let now = Instant::now();
        let most = embedder.concurrency;
        let first = most.min(window::FIRST);
        let gate = RateGate::new(embedder.limits(), most, first, embedder.is_remote(), now);
        let (_over, over) = watch::channel(false);
        let shared = WorkerContext {
            ledger: project.map_or(CallLedger::Nowhere, CallLedger::Project),
            budget: Budget::new(limit, spent),
            purpose: CallPurpose::Embedding,
            run: None,
            control,
            over,
            next_call: Mutex::new(now),
        };
        Ok(Self {
            embedder: Arc::new(embedder),
            cache: Arc::new(Mutex::new(cache)),
            unkept: Arc::default(),
            shared: Arc::new(shared),
            gate: Arc::new(Mutex::new(gate)),
            _over,
            origins: VectorOrigins::default(),
            dimension: None,
        })
    }

    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// Where the vectors so far came from.
    pub fn origins(&self) -> VectorOrigins {
        self.origins
    }

    /// Adds what it takes to have the vector of a text, as it is sent.
    pub fn add_need(&self, need: &mut EmbeddingNeed, text: &str) -> Result<(), EmbedError> {
        need.texts += 1;
        if lock(&self.cache).get(&self.embedder.key(text))?.is_none() {
            need.unknown += 1;
            need.characters += text.chars().count();
            let once = self.embedder.worst_usd(&[text.to_owned()]).unwrap_or(0.0);
            need.worst_usd += f64::from(MAX_CHARGED) * once;
        }
        Ok(())
    }

    /// What would be embedded in words, with the price where calls cost money.
    pub fn describe(&self, need: EmbeddingNeed) -> String {
        let tokens = need.characters / CHARS_PER_TOKEN;
        let price = match self.embedder.usd(tokens as u64) {
            _ if !self.embedder.is_paid() => String::new(),
            Some(expected) => {
                let (expected, most) = (usd(expected), usd(need.worst_usd));
                format!(": {expected} expected, {most} at most")
            }
            None => ": price unknown".to_owned(),
        };
        format!(
            "{} ({}) would embed {} of {}, about {} tokens{price}",
            sanitise::line(&self.embedder.name),
            sanitise::line(&self.embedder.model),
            count(need.unknown),
            counted(need.texts, "text"),
            count(tokens)
        )
    }

    /// The vectors of `texts`, in order. What came before an error or a stop is kept in the cache.
    pub async fn of(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| self.embedder.key(text)).collect();
        let mut missing = Vec::new();
        let mut seen = HashSet::new();
        for (at, key) in keys.iter().enumerate() {
            if lock(&self.cache).get(key)?.is_none() && seen.insert(key) {
                missing.push(at);
            }
        }
        // Texts of one length waste no padding.
        missing.sort_by_key(|at| std::cmp::Reverse(texts[*at].len()));
        if !missing.is_empty() {
            self.embed(texts, &keys, &missing).await?;
        }
        self.origins.cached += texts.len() - missing.len();
        let mut vectors = Vec::new();
        for key in &keys {
            let vector = lock(&self.cache).get(key)?.ok_or(EmbedError::Stopped)?;
            let dimension = *self.dimension.get_or_insert(vector.len());
            if dimension != vector.len() {
                let message = format!(
                    "vectors of {dimension} and of {} dimensions came from one model; it was changed: name another \
                     file with --vectors",
                    vector.len()
                );
                return Err(self.failed(CallError::new(FailureCause::Malformed, message)));
            }
            vectors.push(vector);
        }
        Ok(vectors)
    }

    fn failed(&self, error: CallError) -> EmbedError {
        EmbedError::Call {
            embedder: self.embedder.name.clone(),
            error,
        }
    }

    /// Embeds the `missing` ones of `texts` and keeps what comes. After a failure nothing new is begun.
    async fn embed(
        &mut self,
        texts: &[String],
        keys: &[[u8; 32]],
        missing: &[usize],
    ) -> Result<(), EmbedError> {
        let (questions, asked) = mpsc::channel::<EmbedQuestion>(WAITING);
        let (events, mut heard) = mpsc::channel(WAITING);
        let (shared, gate) = (Arc::clone(&self.shared), Arc::clone(&self.gate));
        let worker = Worker::new(shared, 0, self.embedder.name.clone(), gate, asked, events);
        let worker = tokio::spawn(worker.work());
        let batches = missing.chunks(self.embedder.batch);
        let batches: Vec<EmbedQuestion> = batches
            .map(|batch| EmbedQuestion {
                embedder: Arc::clone(&self.embedder),
                texts: batch.iter().map(|at| texts[*at].clone()).collect(),
                keys: batch.iter().map(|at| keys[*at]).collect(),
                cache: Arc::clone(&self.cache),
                unkept: Arc::clone(&self.unkept),
                once_more: false,
            })
            .collect();
        let feeder = tokio::spawn(async move {
            for batch in batches {
                if questions.send(batch).await.is_err() {
                    return;
                }
            }
        });
        let mut failure = None;
        while let Some((_, event)) = heard.recv().await {
            let embedder = self.embedder.name.clone();
            match event {
                WorkerEvent::Ended {
                    question,
                    end: QuestionEnd::Answered(embedded),
                    charge,
                } => {
                    if let Some(error) = lock(&self.unkept).take() {
                        // What is in flight is heard to its end all the same.
                        feeder.abort();
                        failure.get_or_insert(error.into());
                        continue;
                    }
                    self.origins.embedded += question.keys.len();
                    self.origins.tokens += embedded.exchange.usage.input;
                    self.origins.spent_usd += charge.usd();
                }
                WorkerEvent::Ended {
                    end: QuestionEnd::Failed(error),
                    ..
                } => {
                    feeder.abort();
                    // The first failure says more than that the embedder stopped because of it.
                    if !matches!(failure, Some(EmbedError::Call { .. })) {
                        failure = Some(EmbedError::Call { embedder, error });
                    }
                }
                WorkerEvent::Stopped(why) => {
                    failure.get_or_insert(EmbedError::Gone { embedder, why });
                }
                WorkerEvent::BudgetReached => {
                    feeder.abort();
                    failure.get_or_insert(EmbedError::BudgetReached);
                }
                WorkerEvent::Failed(error) => {
                    failure.get_or_insert(error.into());
                }
                WorkerEvent::Again { line, .. } if !line.is_empty() => tracing::warn!("{line}"),
                _ => {}
            }
        }
        if worker.await.is_err() {
            let error = CallError::new(FailureCause::Crashed, "the calls ended unexpectedly");
            return Err(self.failed(error));
        }
        match failure {
            _ if self.shared.control.borrow().cancelled => Err(EmbedError::Stopped),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
