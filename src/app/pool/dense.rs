//! Fuses BM25 and the nearest vectors by reciprocal rank.

use super::benchmark_folder::BenchmarkFolder;
use super::first_stage::FirstStage;
use super::fused_rankings::FusedRankings;
use crate::app::embeddings::{CachedEmbedder, EmbeddingNeed, VectorOrigins};
use crate::app::error::AppError;
use crate::domain::corpus::DocId;
use crate::domain::metrics::Qrels;
use crate::domain::retrieval::{NearestDocuments, RRF_K, reciprocal_rank_fusion};
use crate::domain::sanitize;
use crate::embedding::cache::VectorCache;
use crate::formats::beir::{BeirDocument, BeirQuery};
use serde_json::json;
use std::path::Path;
use tokio::runtime::Runtime;

/// Number of call rounds whose texts are kept in memory at a time.
const ROUNDS: usize = 4;
/// Number of documents processed together by an estimate.
const ESTIMATED_TOGETHER: usize = 1000;

/// The nearest documents of a benchmark's queries, by the vectors of one embedder.
#[derive(Debug)]
pub struct DenseSearch<'a> {
    folder: &'a BenchmarkFolder,
    queries: Vec<BeirQuery>,
    /// Number of documents per query to fuse.
    depth: usize,
    vectors: CachedEmbedder,
}

/// Progress of embedding a corpus.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddingProgress {
    /// Number of documents with a vector.
    pub done: usize,
    pub origins: VectorOrigins,
}

/// The cache of vectors; none for a dry run without an existing file.
pub fn vector_cache(path: &Path, dry_run: bool) -> Result<VectorCache, AppError> {
    let nowhere = dry_run && !path.exists();
    let path = if nowhere { Path::new(":memory:") } else { path };
    VectorCache::open(path).map_err(AppError::invalid)
}

impl<'a> DenseSearch<'a> {
    /// A search for at least `depth` documents of each query with labels.
    pub fn new(
        folder: &'a BenchmarkFolder,
        qrels: &Qrels,
        depth: usize,
        vectors: CachedEmbedder,
    ) -> Result<Self, AppError> {
        Ok(Self {
            folder,
            queries: folder.queries(qrels)?,
            depth,
            vectors,
        })
    }

    /// Whether calls may cost money.
    pub fn is_paid(&self) -> bool {
        self.vectors.embedder().is_paid()
    }

    pub fn vectors(&self) -> &CachedEmbedder {
        &self.vectors
    }

    /// The cost of the vectors so far.
    pub fn origins(&self) -> VectorOrigins {
        self.vectors.origins()
    }

    pub fn need(&self) -> Result<EmbeddingNeed, AppError> {
        let mut need = EmbeddingNeed::default();
        let mut add = |texts: Vec<String>| -> Result<(), AppError> {
            let mut texts = texts.iter();
            Ok(texts.try_for_each(|text| self.vectors.add_need(&mut need, text))?)
        };
        add(self.query_texts())?;
        for_each_chunk(self.folder, ESTIMATED_TOGETHER, |chunk| {
            add(texts_of(&self.vectors, chunk))
        })?;
        Ok(need)
    }

    /// Describes the effort for `need`.
    pub fn describe(&self, need: EmbeddingNeed) -> String {
        self.vectors.describe(need)
    }

    /// Fuses `stage` with the nearest vectors. `progress` is called after every round of calls.
    pub fn fuse(
        &mut self,
        stage: &mut FirstStage,
        runtime: &Runtime,
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<(), AppError> {
        let nearest = self.nearest(runtime, progress)?;
        let mut rankings = Vec::new();
        for (query, dense) in self.queries.iter().zip(nearest) {
            let scored = |ranking: Vec<(DocId, f64)>| {
                ranking
                    .into_iter()
                    .map(|(id, score)| (id, Some(score)))
                    .collect()
            };
            let dense = stage.without_own(&query.id, dense, self.depth);
            let stages = [scored(stage.ranking(query, self.depth)), scored(dense)];
            rankings.push((query.id.clone(), reciprocal_rank_fusion(&stages, RRF_K)));
        }
        let method = json!({
            "fusion": "reciprocal rank",
            "k": RRF_K,
            "depth": self.depth,
            "embedder": self.vectors.embedder().name,
            "model": self.vectors.embedder().model,
            "served_model": self.vectors.served()?,
        });
        let origins = self.origins();
        let mut made = method.clone();
        made["texts_cached"] = json!(origins.cached);
        made["texts_embedded"] = json!(origins.embedded);
        made["tokens"] = json!(origins.tokens);
        stage.fuse(FusedRankings {
            rankings: rankings.into_iter().collect(),
            method,
            made,
        });
        Ok(())
    }

    /// The nearest documents of each query.
    fn nearest(
        &mut self,
        runtime: &Runtime,
        progress: &mut dyn FnMut(EmbeddingProgress),
    ) -> Result<Vec<Vec<(DocId, f64)>>, AppError> {
        let texts = self.query_texts();
        let ids = self.queries.iter().map(|query| query.id.as_str());
        let ids: Vec<&str> = ids.collect();
        let name = |at: usize| named("query", ids.get(at).copied());
        let queries = runtime.block_on(self.vectors.of(&texts, &name))?;
        // One of them may be the query's own document.
        let mut nearest = NearestDocuments::new(queries, self.depth + 1);
        let embedder = self.vectors.embedder();
        let size = embedder.batch * embedder.concurrency * ROUNDS;
        let mut done = 0;
        let (folder, vectors) = (self.folder, &mut self.vectors);
        for_each_chunk(folder, size, |chunk| {
            let texts = texts_of(vectors, chunk);
            let name = |at: usize| named("document", chunk.get(at).map(|one| one.id.as_str()));
            let found = runtime.block_on(vectors.of(&texts, &name))?;
            for (document, vector) in chunk.iter().zip(&found) {
                nearest.offer(&document.id, vector);
            }
            done += chunk.len();
            progress(EmbeddingProgress {
                done,
                origins: vectors.origins(),
            });
            Ok(())
        })?;
        Ok(nearest.rankings())
    }

    /// The texts of the queries as sent to the embedder.
    fn query_texts(&self) -> Vec<String> {
        let embedder = self.vectors.embedder();
        self.queries
            .iter()
            .map(|query| embedder.query(&query.text))
            .collect()
    }
}

/// A query or document in an error.
fn named(what: &str, id: Option<&str>) -> String {
    format!("{what} {:?}", sanitize::line(id.unwrap_or_default()))
}

/// The texts of documents as sent to the embedder.
fn texts_of(vectors: &CachedEmbedder, documents: &[BeirDocument]) -> Vec<String> {
    let documents = documents.iter();
    documents
        .map(|document| vectors.embedder().passage(&document.content()))
        .collect()
}

/// Passes the corpus to `visit` in chunks of `size` documents, without empty ones.
fn for_each_chunk(
    folder: &BenchmarkFolder,
    size: usize,
    mut visit: impl FnMut(&[BeirDocument]) -> Result<(), AppError>,
) -> Result<(), AppError> {
    let mut chunk: Vec<BeirDocument> = Vec::new();
    folder.for_each_document(|document| {
        if !document.content().is_empty() {
            chunk.push(document);
        }
        if chunk.len() < size {
            return Ok(());
        }
        let visited = visit(&chunk);
        chunk.clear();
        visited
    })?;
    if chunk.is_empty() {
        Ok(())
    } else {
        visit(&chunk)
    }
}
