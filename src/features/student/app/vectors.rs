//! Cached vectors of queries and documents from an embedder; makes no calls.

use crate::app::error::{AppError, invalid};
use crate::app::pool::vector_cache;
use crate::app::text_format::counted;
use crate::embedding::Embedder;
use crate::embedding::cache::VectorCache;
use crate::judge::PoolText;
use serde::Serialize;
use std::path::Path;

/// The vectors of one embedder on disk.
#[derive(Debug)]
pub struct KnownVectors {
    embedder: Embedder,
    cache: VectorCache,
}

/// The embedder that made the vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedEmbedder {
    pub name: String,
    /// Describes provider and model.
    pub model: String,
}

/// Similarity of the texts of one query, by the cosine of their vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolVectors {
    query: Option<Vec<f64>>,
    /// By pool index, normalized to length 1.
    documents: Vec<Option<Vec<f64>>>,
}

impl KnownVectors {
    /// Opens the vectors of an embedder.
    ///
    /// # Errors
    /// The file does not exist, or is not a vector cache.
    pub fn open(embedder: Embedder, path: &Path) -> Result<Self, AppError> {
        if !path.exists() {
            return Err(invalid!(
                "{}: no vectors; `overrule pool build --embed` or `overrule sbr --embed` makes them",
                path.display()
            ));
        }
        let cache = vector_cache(path, false)?;
        Ok(Self { embedder, cache })
    }

    pub(super) fn embedder(&self) -> NamedEmbedder {
        NamedEmbedder {
            name: self.embedder.name.clone(),
            model: self.embedder.model.clone(),
        }
    }

    pub(super) fn of_pool(&self, pool: &PoolText) -> Result<PoolVectors, AppError> {
        let documents = pool.documents.iter();
        let documents = documents.map(|text| self.of(&self.embedder.passage(text)));
        Ok(PoolVectors {
            query: self.of(&self.embedder.query(&pool.query))?,
            documents: documents.collect::<Result<_, _>>()?,
        })
    }

    /// A text's vector with length 1; an empty one of an empty text, which has no direction.
    fn of(&self, text: &str) -> Result<Option<Vec<f64>>, AppError> {
        if text.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let found = self
            .cache
            .get(&self.embedder.key(text))
            .map_err(AppError::failed)?;
        let scaled = |vector: Vec<f32>| {
            let length = vector
                .iter()
                .map(|x| f64::from(*x).powi(2))
                .sum::<f64>()
                .sqrt();
            let scaled = vector.iter().map(|x| f64::from(*x) / length).collect();
            (length > 0.0).then_some(scaled)
        };
        Ok(found.and_then(scaled))
    }

    /// Rejects vectors that are missing for some documents.
    pub(super) fn check(&self, known: usize, all: usize) -> Result<(), AppError> {
        if known == all {
            Ok(())
        } else {
            Err(invalid!(
                "embedder {:?} has vectors of {known} of the {} with judged pairs, each with its \
                 query; `overrule sbr --embed` makes \
                 those of documents, `overrule pool build --embed` those of queries too",
                self.embedder.name,
                counted(all, "document")
            ))
        }
    }
}

impl PoolVectors {
    /// Number of documents whose cosine with the query is known.
    pub(super) fn known(&self) -> usize {
        let known = self.documents.iter().flatten().count();
        if self.query.is_some() { known } else { 0 }
    }

    /// The cosine of a document with the query.
    pub(super) fn with_query(&self, document: usize) -> Option<f64> {
        cosine(
            self.query.as_ref()?,
            self.documents.get(document)?.as_ref()?,
        )
    }

    /// The cosine of two documents.
    pub(super) fn of_both(&self, a: usize, b: usize) -> Option<f64> {
        let of = |at: usize| self.documents.get(at)?.as_ref();
        cosine(of(a)?, of(b)?)
    }
}

/// Of vectors of length 1, 0 where one is empty; `None` for vectors of different models.
fn cosine(x: &[f64], y: &[f64]) -> Option<f64> {
    (x.is_empty() || y.is_empty() || x.len() == y.len())
        .then(|| x.iter().zip(y).map(|(x, y)| x * y).sum())
}
