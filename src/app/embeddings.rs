//! Vectors of texts: those known from the cache, the others from the embedder, kept as they come.
//!
//! The calls are the caller's: limits, retries, money and dead servers are handled as for votes.

use crate::client::RunControl;
use crate::client::budget::Budget;
use crate::client::call_ledger::CallLedger;
use crate::client::gate::RateGate;
use crate::client::question::{AttemptEnd, CallNeeds, RecordJob, ServiceQuestion};
use crate::client::window;
use crate::client::worker::{QuestionEnd, Worker, WorkerContext, WorkerEvent};
use crate::embedding::cache::{VectorCache, VectorCacheError};
use crate::embedding::{EmbeddedTexts, Embedder};
use crate::judge::{CallError, Exchange, FailureCause};
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
/// Bytes of a token of English, roughly.
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

#[derive(Debug)]
pub struct CachedEmbedder {
    embedder: Arc<Embedder>,
    cache: VectorCache,
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
            once_more: true,
        })
    }

    fn name(&self) -> String {
        self.keys
            .first()
            .map_or_else(String::new, |key| format!("{key:?}"))
    }

    // Vectors are kept in their cache, not in the project.
    fn keep(&self, _: AttemptEnd<'_, EmbeddedTexts>) -> Option<RecordJob> {
        None
    }
}

impl CachedEmbedder {
    /// Nothing is called yet. What calls cost is written into `project`, where there is one.
    pub fn new(
        embedder: Embedder,
        cache: VectorCache,
        control: watch::Receiver<RunControl>,
        project: Option<Store>,
    ) -> Self {
        let now = Instant::now();
        let most = embedder.concurrency;
        let first = most.min(window::FIRST);
        let gate = RateGate::new(embedder.limits(), most, first, embedder.is_remote(), now);
        let (_over, over) = watch::channel(false);
        let shared = WorkerContext {
            ledger: project.map_or(CallLedger::Nowhere, CallLedger::Project),
            budget: Budget::new(None, 0.0),
            purpose: CallPurpose::Embedding,
            run: None,
            control,
            over,
            next_call: Mutex::new(now),
        };
        Self {
            embedder: Arc::new(embedder),
            cache,
            shared: Arc::new(shared),
            gate: Arc::new(Mutex::new(gate)),
            _over,
            origins: VectorOrigins::default(),
            dimension: None,
        }
    }

    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// Where the vectors so far came from.
    pub fn origins(&self) -> VectorOrigins {
        self.origins
    }

    /// How many of `texts` are not in the cache.
    pub fn unknown(&self, texts: &[String]) -> Result<usize, EmbedError> {
        let mut unknown = 0;
        for text in texts {
            unknown += usize::from(self.cache.get(&self.embedder.key(text))?.is_none());
        }
        Ok(unknown)
    }

    /// The vectors of `texts`, in order. What came before an error or a stop is kept in the cache.
    pub async fn of(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| self.embedder.key(text)).collect();
        let mut missing = Vec::new();
        let mut seen = HashSet::new();
        for (at, key) in keys.iter().enumerate() {
            if self.cache.get(key)?.is_none() && seen.insert(key) {
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
            let vector = self.cache.get(key)?.ok_or(EmbedError::Stopped)?;
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
                    let vectors = question.keys.iter().zip(&embedded.vectors);
                    if let Err(error) = self.cache.put(vectors) {
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
