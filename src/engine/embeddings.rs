//! Vectors of texts: those known from the cache, the others from the embedder, kept as they come.

use super::limits::back_off;
use super::now_ms;
use crate::domain::sampling::Dice;
use crate::embedding::cache::{Cache, CacheError};
use crate::embedding::{Embedded, Embedder};
use crate::judge::{CallError, Cause, Retry};
use futures::{StreamExt as _, stream};
use std::cell::Cell;
use std::collections::HashSet;
use tokio::sync::watch;

/// Times one call is made before it counts as failed.
const ATTEMPTS: u32 = 8;

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A call failed for good.
    #[error("embedder {embedder:?}: {error}")]
    Call {
        /// The embedder's name.
        embedder: String,
        /// What happened and what to do about it.
        error: CallError,
    },
    /// The cache failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
}

/// Where the vectors came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// Texts whose vectors were known.
    pub cached: usize,
    /// Texts embedded now.
    pub embedded: usize,
    /// Tokens of those.
    pub tokens: u64,
}

/// An embedder with its cache.
#[derive(Debug)]
pub struct Vectors {
    embedder: Embedder,
    cache: Cache,
    /// How often somebody said stop: at 1 nothing new is begun, at 2 nothing is waited for.
    stop: watch::Receiver<u32>,
    origins: Origins,
    dimension: Option<usize>,
}

impl Vectors {
    /// Nothing is called yet.
    pub fn new(embedder: Embedder, cache: Cache, stop: watch::Receiver<u32>) -> Self {
        Self {
            embedder,
            cache,
            stop,
            origins: Origins::default(),
            dimension: None,
        }
    }

    /// Who makes them.
    pub fn embedder(&self) -> &Embedder {
        &self.embedder
    }

    /// Where the vectors so far came from.
    pub fn origins(&self) -> Origins {
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
        self.embed(texts, &keys, &missing).await?;
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
                return Err(self.failed(CallError::new(Cause::Malformed, message)));
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
        let Self {
            embedder,
            cache,
            stop,
            origins,
            ..
        } = self;
        let over = Cell::new(false);
        let (embedder, stopped) = (&*embedder, stop.clone());
        let calls = stream::iter(missing.chunks(embedder.batch))
            .take_while(|_| std::future::ready(!over.get() && *stopped.borrow() == 0))
            .map(|batch| {
                let texts: Vec<String> = batch.iter().map(|at| texts[*at].clone()).collect();
                let stop = stopped.clone();
                async move { (batch, ask(embedder, &texts, stop).await) }
            })
            .buffer_unordered(embedder.concurrency);
        let mut calls = std::pin::pin!(calls);
        let mut failure = None;
        loop {
            let (batch, answer) = tokio::select! {
                call = calls.next() => match call {
                    Some(call) => call,
                    None => break,
                },
                _ = stop.wait_for(|times| *times > 1) => return Err(EmbedError::Stopped),
            };
            match answer {
                Ok(embedded) => {
                    cache.put(batch.iter().map(|at| &keys[*at]).zip(&embedded.vectors))?;
                    origins.embedded += batch.len();
                    origins.tokens += embedded.tokens.unwrap_or(0);
                }
                Err(error) => {
                    over.set(true);
                    failure.get_or_insert(error);
                }
            }
        }
        match failure {
            _ if *stopped.borrow() > 0 => Err(EmbedError::Stopped),
            Some(error) => Err(EmbedError::Call {
                embedder: embedder.name.clone(),
                error,
            }),
            None => Ok(()),
        }
    }
}

/// One call, made again where that may help.
async fn ask(
    embedder: &Embedder,
    texts: &[String],
    mut stop: watch::Receiver<u32>,
) -> Result<Embedded, CallError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let error = match embedder.embed(texts).await {
            Ok(embedded) => return Ok(embedded),
            Err(error) => error,
        };
        let wait = match error.retry {
            Retry::After(wait) => wait,
            // A page of some server in between instead of vectors may have been paid for: once more, and no more.
            _ if error.no_answer && tries == 1 => None,
            _ => return Err(error),
        };
        if tries >= ATTEMPTS {
            return Err(error);
        }
        let draw = Dice::new(now_ms().cast_unsigned(), &["embed", &texts.concat()]).unit();
        let wait = wait.unwrap_or_else(|| back_off(tries, draw));
        tracing::warn!("{error}; asking again in {:.1} s", wait.as_secs_f64());
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.wait_for(|times| *times > 0) => return Err(error),
        }
    }
}
