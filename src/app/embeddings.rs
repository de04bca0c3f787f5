//! Vectors of texts: from the cache if known, or else from the embedder, and then cached.
//!
//! The client makes the calls, so limits, retries, budget and failing servers are handled as for
//! votes. Vectors are on disk before their call is charged: a kill in between costs the price of
//! one call in the ledger, but no text is bought twice.

use crate::client::budget::Budget;
use crate::client::call_ledger::CallLedger;
use crate::client::gate::RateGate;
use crate::client::question::{AttemptEnd, CallNeeds, RecordJob, ServiceQuestion};
use crate::client::worker::{QuestionEnd, Worker, WorkerContext, WorkerEvent};
use crate::client::{RunControl, lock, now_ms, window};
use crate::domain::number_words::{count, counted, usd};
use crate::domain::sanitize;
use crate::embedding::cache::{VectorCache, VectorCacheError};
use crate::embedding::{EmbeddedTexts, Embedder};
use crate::judge::{CallError, Exchange, FailureCause, MAX_CHARGED};
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Maximum number of calls queued for the embedder.
const WAITING: usize = 4;
/// Approximate number of characters per English token.
const CHARS_PER_TOKEN: usize = 4;
/// Approximate number of bytes per token.
const BYTES_PER_TOKEN: usize = 4;
/// Maximum total bytes of the texts in a call. OpenAI accepts 300,000 tokens, and hardly any
/// language has fewer than three bytes per token. If a call is still refused, it is halved.
const CALL_BYTES: usize = 800_000;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A call failed for good.
    #[error("embedder {embedder:?}: {error}")]
    Call {
        embedder: String,
        /// What happened, and what to do about it.
        error: CallError,
    },
    /// A text alone in its call was refused, or has no vector.
    #[error("embedder {embedder:?}: {text}: {error}")]
    Text {
        embedder: String,
        /// The document or query and its length.
        text: String,
        error: Box<CallError>,
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
    /// The next call could exceed the budget.
    #[error("the budget is reached; what was embedded is kept; continue with a larger --budget")]
    BudgetReached,
    /// There is a budget, but no price with which to enforce it.
    #[error(
        "embedder {0:?} has no known price, so a budget cannot be enforced; set `price` in \
         overrule.toml"
    )]
    NoPrice(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VectorOrigins {
    /// Texts with known vectors.
    pub cached: usize,
    pub embedded: usize,
    pub tokens: u64,
    /// Known cost of those in dollars.
    pub spent_usd: f64,
}

/// Texts that would be embedded, and the effort.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddingNeed {
    pub texts: usize,
    /// Texts without a vector.
    pub unknown: usize,
    characters: usize,
    /// Known worst-case cost of those in dollars.
    worst_usd: f64,
}

#[derive(Debug)]
pub struct CachedEmbedder {
    embedder: Arc<Embedder>,
    cache: Arc<Mutex<VectorCache>>,
    /// Why vectors could not be stored.
    unkept: Arc<Mutex<Option<VectorCacheError>>>,
    shared: Arc<WorkerContext>,
    gate: Arc<Mutex<RateGate>>,
    _over: watch::Sender<bool>,
    origins: VectorOrigins,
    dimension: Option<usize>,
    /// Maximum number of texts in a call; reduced when the server refuses a call.
    most: usize,
    /// Whether a call was answered. The first one is made alone, since its answer names the model
    /// that is served.
    answered: bool,
}

/// Texts to embed in one call.
struct EmbedQuestion {
    embedder: Arc<Embedder>,
    /// The indexes of the texts among the requested ones.
    places: Vec<usize>,
    texts: Vec<String>,
    keys: Vec<[u8; 32]>,
    cache: Arc<Mutex<VectorCache>>,
    unkept: Arc<Mutex<Option<VectorCacheError>>>,
    /// Whether this is the second attempt of the call.
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
        // A proxy answered with a page instead of vectors: retry once.
        let again = error.no_answer && !self.once_more;
        again.then(|| Self {
            embedder: Arc::clone(&self.embedder),
            places: self.places.clone(),
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

    // Stored here and not after the worker's report, since the charge is committed in between.
    fn keep(&self, end: AttemptEnd<'_, EmbeddedTexts>) -> Option<RecordJob> {
        if let AttemptEnd::Answered(embedded) = end {
            let vectors = self.keys.iter().zip(&embedded.vectors);
            let vectors = vectors.filter(|(_, vector)| !vector.is_empty());
            let model = embedded.exchange.model.as_deref();
            let embedder = self.embedder.identity();
            if let Err(error) = lock(&self.cache).put(&embedder, model, vectors) {
                lock(&self.unkept).get_or_insert(error);
            }
        }
        None
    }
}

impl CachedEmbedder {
    /// Makes no calls yet. The cost of calls is recorded in `project`, if there is one, and counts
    /// against the budget of `control` there; without a project, the budget covers only these
    /// calls. If calls cost money, the caller holds the project's run lock.
    ///
    /// # Errors
    /// There is a budget but no price, or the project cannot be read.
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
            most: embedder.batch,
            answered: false,
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

    /// The model that made the vectors, as reported by its server.
    pub fn served(&self) -> Result<Option<String>, EmbedError> {
        Ok(lock(&self.cache).served(&self.embedder.identity())?)
    }

    /// Origins of the vectors so far.
    pub fn origins(&self) -> VectorOrigins {
        self.origins
    }

    /// Adds the effort for the vector of a text, as sent to the embedder.
    pub fn add_need(&self, need: &mut EmbeddingNeed, text: &str) -> Result<(), EmbedError> {
        if text.is_empty() {
            return Ok(());
        }
        need.texts += 1;
        if lock(&self.cache).get(&self.embedder.key(text))?.is_none() {
            need.unknown += 1;
            need.characters += text.chars().count();
            let once = self.embedder.worst_usd(&[text.to_owned()]).unwrap_or(0.0);
            need.worst_usd += f64::from(MAX_CHARGED) * once;
        }
        Ok(())
    }

    /// Describes what would be embedded, with the price if calls cost money.
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
            sanitize::line(&self.embedder.name),
            sanitize::line(&self.embedder.model),
            count(need.unknown),
            counted(need.texts, "text"),
            count(tokens)
        )
    }

    /// The vectors of `texts`, in order; an empty one for an empty text. Vectors received before an
    /// error or a stop are kept in the cache. `name` names the document or query of a text in an
    /// error.
    pub async fn of(
        &mut self,
        texts: &[String],
        name: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| self.embedder.key(text)).collect();
        let mut missing = Vec::new();
        let mut seen = HashSet::new();
        for (at, key) in keys.iter().enumerate() {
            let is_known = texts[at].is_empty() || lock(&self.cache).get(key)?.is_some();
            if !is_known && seen.insert(key) {
                missing.push(at);
            }
        }
        // Batching texts of similar length avoids padding.
        missing.sort_by_key(|at| std::cmp::Reverse(texts[*at].len()));
        if !missing.is_empty() {
            self.embed(texts, &keys, &missing, name).await?;
        }
        let sent = texts.iter().filter(|text| !text.is_empty()).count();
        self.origins.cached += sent - missing.len();
        let mut vectors = Vec::new();
        for (key, text) in keys.iter().zip(texts) {
            if text.is_empty() {
                vectors.push(Vec::new());
                continue;
            }
            let vector = lock(&self.cache).get(key)?.ok_or(EmbedError::Stopped)?;
            let dimension = *self.dimension.get_or_insert(vector.len());
            if dimension != vector.len() {
                let message = format!(
                    "one model returned vectors of {dimension} and of {} dimensions, so it has \
                     changed; name another file with --vectors",
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

    /// The failure of a text that was alone in its call, or that got no usable vector.
    fn failed_text(&self, name: String, text: &str, error: CallError) -> EmbedError {
        let length = counted(text.chars().count(), "character");
        EmbedError::Text {
            embedder: self.embedder.name.clone(),
            text: format!("{name} ({length})"),
            error: Box::new(error),
        }
    }

    /// Groups the indexes of texts into calls within the limits.
    fn batches(&self, texts: &[String], missing: &[usize]) -> VecDeque<Vec<usize>> {
        let mut batches: VecDeque<Vec<usize>> = VecDeque::new();
        let mut bytes = 0;
        for at in missing {
            let length = texts[*at].len();
            match batches.back_mut() {
                Some(batch) if batch.len() < self.most && bytes + length <= CALL_BYTES => {
                    batch.push(*at);
                    bytes += length;
                }
                _ => {
                    batches.push_back(vec![*at]);
                    bytes = length;
                }
            }
        }
        batches
    }

    /// Embeds the `missing` ones of `texts` and caches the vectors. A call that is refused because
    /// of its texts is split in half and retried; a single text that is refused is an error. After
    /// a failure, no new calls are started.
    async fn embed(
        &mut self,
        texts: &[String],
        keys: &[[u8; 32]],
        missing: &[usize],
        name: &dyn Fn(usize) -> String,
    ) -> Result<(), EmbedError> {
        let (questions, asked) = mpsc::channel::<EmbedQuestion>(WAITING);
        let (events, mut heard) = mpsc::channel(WAITING);
        let (shared, gate) = (Arc::clone(&self.shared), Arc::clone(&self.gate));
        let worker = Worker::new(shared, 0, self.embedder.name.clone(), gate, asked, events);
        let worker = tokio::spawn(worker.work());
        let mut questions = Some(questions);
        let mut batches = self.batches(texts, missing);
        let mut unanswered = 0;
        let mut failure = None;
        loop {
            if failure.is_some() || batches.is_empty() && unanswered == 0 {
                questions = None;
            }
            // A call that waits for its turn would be too large if the ones before it are.
            let is_free = unanswered < self.embedder.concurrency;
            let may_send = !batches.is_empty() && is_free && (self.answered || unanswered == 0);
            let room = async {
                match &questions {
                    Some(questions) => questions.reserve().await.ok(),
                    None => None,
                }
            };
            let (_, event) = tokio::select! {
                room = room, if may_send && questions.is_some() => {
                    match (room, batches.pop_front()) {
                        (Some(room), Some(mut batch)) => {
                            if batch.len() > self.most {
                                batches.push_front(batch.split_off(self.most));
                            }
                            room.send(self.question(batch, texts, keys));
                            unanswered += 1;
                        }
                        // The worker accepts no more questions and reports why.
                        _ => batches.clear(),
                    }
                    continue;
                }
                event = heard.recv() => match event {
                    Some(event) => event,
                    None => break,
                },
            };
            let embedder = self.embedder.name.clone();
            match event {
                WorkerEvent::Ended {
                    question,
                    end: QuestionEnd::Answered(embedded),
                    charge,
                } => {
                    unanswered -= 1;
                    self.answered = true;
                    if let Some(error) = lock(&self.unkept).take() {
                        // Calls in flight still run to completion.
                        failure.get_or_insert(error.into());
                        continue;
                    }
                    let found = embedded.vectors.iter();
                    let without = found.clone().position(Vec::is_empty);
                    self.origins.embedded += found.filter(|vector| !vector.is_empty()).count();
                    self.origins.tokens += embedded.exchange.usage.input;
                    self.origins.spent_usd += charge.usd();
                    if let Some(place) = without.and_then(|at| question.places.get(at)) {
                        let message = "its vector is empty, zero or not finite; if the model \
                                       cannot read texts that long, lower max_document_chars";
                        let error = CallError::new(FailureCause::Malformed, message);
                        let text = &texts[*place];
                        failure.get_or_insert(self.failed_text(name(*place), text, error));
                    }
                }
                WorkerEvent::Ended {
                    question,
                    end: QuestionEnd::Failed(error),
                    ..
                } => {
                    unanswered -= 1;
                    let error = match question.places.as_slice() {
                        places if !is_of_texts(&error) || places.is_empty() => {
                            EmbedError::Call { embedder, error }
                        }
                        [place] => self.failed_text(name(*place), &texts[*place], error),
                        places => {
                            let (first, second) = places.split_at(places.len().div_ceil(2));
                            self.most = self.most.min(first.len());
                            batches.push_front(second.to_vec());
                            batches.push_front(first.to_vec());
                            continue;
                        }
                    };
                    // The first failure is more informative than the resulting stop of the
                    // embedder.
                    if matches!(failure, None | Some(EmbedError::Gone { .. })) {
                        failure = Some(error);
                    }
                }
                WorkerEvent::Stopped(why) => {
                    failure.get_or_insert(EmbedError::Gone { embedder, why });
                }
                WorkerEvent::BudgetReached => {
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

    fn question(&self, batch: Vec<usize>, texts: &[String], keys: &[[u8; 32]]) -> EmbedQuestion {
        EmbedQuestion {
            embedder: Arc::clone(&self.embedder),
            texts: batch.iter().map(|at| texts[*at].clone()).collect(),
            keys: batch.iter().map(|at| keys[*at]).collect(),
            places: batch,
            cache: Arc::clone(&self.cache),
            unkept: Arc::clone(&self.unkept),
            once_more: false,
        }
    }
}

/// Whether a call was refused because its texts are too many, too long or not allowed, so that
/// some of them may be accepted.
fn is_of_texts(error: &CallError) -> bool {
    let is_refused = matches!(
        error.cause,
        FailureCause::TooLong | FailureCause::BadRequest | FailureCause::Filtered
    );
    is_refused && !error.stops_judge
}
