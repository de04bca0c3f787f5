//! Candidate pools from a benchmark: a first stage over its corpus, with the labeled documents
//! added to the best results.

mod benchmark_folder;
mod dense;
mod documents;
mod first_stage;
mod fused_rankings;
mod live_search;
mod summary;

use super::error::AppError;
use super::input_files::stem;
use super::output_file::write_whole;
use super::text_format::{counted, first_names};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::retrieval::{AnalysisProfile, PoolLayout, build_pool};
use crate::formats::beir::BeirQuery;
use crate::formats::{dataset, trec};
use crate::store::Store;
pub use benchmark_folder::{BenchmarkFolder, texts_of_corpus};
pub use dense::{DenseSearch, EmbeddingProgress, vector_cache};
pub use first_stage::FirstStage;
use fused_rankings::FusedRankings;
pub use fused_rankings::stage_names;
pub use live_search::{LiveQueries, LiveSearch, SearchEngine, SearchProgress};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use summary::PoolSummary;
use summary::Summarized;

#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    pub depth: usize,
    /// Number of documents per query in the first stage's run.
    pub run_depth: usize,
    /// The grade from which a document is relevant.
    pub relevant_from: i32,
    /// The order of the documents in a pool.
    pub layout: PoolLayout,
    /// Name of the first stage.
    pub stage_name: &'static str,
}

#[derive(Debug)]
pub struct BuiltPools {
    queries: Vec<BeirQuery>,
    stage_name: &'static str,
    run: RankedRun,
    /// The fused stages, and their fusion.
    stage_runs: Vec<(&'static str, RankedRun)>,
    pools: Vec<Pool>,
    /// The texts of documents of the run that the pool of their query does not hold.
    candidates: HashMap<QueryId, Vec<(DocId, Arc<str>)>>,
    qrels: Qrels,
    /// A summary, with notes to the reader.
    pub summary: PoolSummary,
}

/// Default number of documents in a pool.
pub const USUAL_DEPTH: usize = 10;

/// A benchmark's content that is relevant for pools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchmarkContent {
    /// The split of the labels.
    pub split: String,
    /// Number of queries with labels.
    pub queries: usize,
    pub labels: usize,
}

/// Counts the queries and labels of a benchmark without reading the corpus.
pub fn look_at(folder: &Path) -> Result<BenchmarkContent, AppError> {
    let split = BenchmarkFolder::usual_split(folder);
    let benchmark = BenchmarkFolder::new(folder, &split)?;
    let labels = benchmark.labels(&mut Vec::new())?;
    Ok(BenchmarkContent {
        queries: benchmark.queries(&labels)?.len(),
        labels: labels.values().map(|grades| grades.len()).sum(),
        split,
    })
}

/// Builds pools with the default settings (BM25, shuffled by the seed) and imports them into a
/// project. Also returns the split.
pub fn build_usual(
    folder: &Path,
    store: &Store,
    seed: u64,
) -> Result<(String, PoolSummary), AppError> {
    let split = BenchmarkFolder::usual_split(folder);
    let benchmark = BenchmarkFolder::new(folder, &split)?;
    let mut notes = Vec::new();
    let labels = benchmark.labels(&mut notes)?;
    let stage = FirstStage::search(&benchmark, &labels, AnalysisProfile::Overrule)?;
    let options = PoolOptions {
        depth: USUAL_DEPTH,
        run_depth: USUAL_DEPTH,
        relevant_from: 1,
        layout: PoolLayout::Shuffled { seed },
        stage_name: "bm25-overrule",
    };
    let mut built = build(&benchmark, labels, &stage, &options)?;
    built.summary.warnings.splice(0..0, notes);
    Ok((split, built.import(store, &stem(folder))?))
}

/// Builds the pools of all queries with labels.
pub fn build(
    folder: &BenchmarkFolder,
    qrels: Qrels,
    stage: &FirstStage,
    options: &PoolOptions,
) -> Result<BuiltPools, AppError> {
    let queries = folder.queries(&qrels)?;
    let mut notes = Vec::new();
    let there: HashSet<&QueryId> = queries.iter().map(|query| &query.id).collect();
    let unknown = qrels.keys().filter(|query| !there.contains(query));
    let unknown: Vec<&str> = unknown.map(QueryId::as_str).collect();
    if !unknown.is_empty() {
        notes.push(format!(
            "{} of the labels missing from queries.jsonl: no pool ({})",
            counted(unknown.len(), "query"),
            first_names(&unknown)
        ));
    }
    // One document may be relevant to several queries.
    let mut left_out: BTreeSet<DocId> = BTreeSet::new();
    let (mut run, mut pools) = (RankedRun::new(), Vec::new());
    for query in &queries {
        let mut ranking = stage.ranking(query, options.run_depth.max(options.depth));
        let relevant = qrels
            .get(&query.id)
            .into_iter()
            .flatten()
            .filter(|(_, grade)| **grade >= options.relevant_from);
        let (shown, hidden): (Vec<DocId>, Vec<DocId>) = relevant
            .map(|(document, _)| document.clone())
            .partition(|document| stage.has_text(document));
        left_out.extend(hidden);
        let found: Vec<DocId> = ranking
            .iter()
            .map(|(document, _)| document.clone())
            .collect();
        let pool = build_pool(&query.id, &shown, &found, options.depth, options.layout);
        pools.push(pool);
        ranking.truncate(options.run_depth);
        run.insert(query.id.clone(), ranking);
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(DocId::as_str).collect();
        notes.push(format!(
            "{} missing from the corpus, or empty there: in no pool ({})",
            counted(names.len(), "relevant document"),
            first_names(&names)
        ));
    }
    let empty: Vec<&str> = pools
        .iter()
        .filter(|pool| pool.slots.is_empty())
        .map(|pool| pool.query.as_str())
        .collect();
    if !empty.is_empty() {
        notes.push(format!(
            "{} without a document, neither found nor labeled relevant: no pool ({})",
            counted(empty.len(), "query"),
            first_names(&empty)
        ));
    }
    notes.extend(stage.notes(&queries));
    let summarized = Summarized {
        qrels: &qrels,
        stage,
        run: &run,
        pools: &pools,
        depth: options.depth,
        relevant_from: options.relevant_from,
        layout: options.layout,
    };
    let texts = documents::PoolTexts::read(folder, &pools, &run)?;
    Ok(BuiltPools {
        summary: summarized.summary(notes)?,
        pools: texts.pools(folder, &queries, &pools, &qrels, stage)?,
        candidates: texts.candidates(&pools, &run),
        stage_runs: stage.hybrid().map_or_else(Vec::new, FusedRankings::runs),
        stage_name: options.stage_name,
        run,
        queries,
        qrels,
    })
}

impl BuiltPools {
    /// Writes the first stage's results as a TREC run.
    pub fn write_run(&self, path: &Path) -> Result<(), AppError> {
        self.write_one_run(path, self.stage_name, &self.run)
    }

    /// Writes a run for each fused stage, and for their fusion.
    pub fn write_stage_runs(&self, folder: &Path) -> Result<(), AppError> {
        let mut runs = self.stage_runs.iter();
        runs.try_for_each(|(name, run)| self.write_one_run(&stage_file(folder, name), name, run))
    }

    fn write_one_run(&self, path: &Path, name: &str, run: &RankedRun) -> Result<(), AppError> {
        write_whole(path, |mut out| {
            for query in &self.queries {
                let ranking = run.get(&query.id).map_or(&[][..], Vec::as_slice);
                trec::write_run(&mut out, &query.id, ranking, name)?;
            }
            Ok(())
        })
    }

    /// Writes the pools as a dataset.
    pub fn write_dataset(&self, path: &Path) -> Result<(), AppError> {
        write_whole(path, |mut out| {
            for pool in &self.pools {
                dataset::write_pool(&mut out, pool)?;
            }
            Ok(())
        })
    }

    /// Imports pools, labels and rankings into the project, either all or nothing.
    pub fn import(self, store: &Store, dataset: &str) -> Result<PoolSummary, AppError> {
        let dataset = dataset.to_owned();
        let mut rankings = self.stage_runs;
        // The ranking that the pools were filled from takes precedence over others with its name.
        rankings.push((self.stage_name, self.run));
        let (pools, candidates, qrels) = (self.pools, self.candidates, self.qrels);
        store.write_blocking(move |db| {
            for pool in &pools {
                let key = db.add_pool(pool, &dataset)?.key();
                for (document, text) in candidates.get(&pool.query.id).into_iter().flatten() {
                    db.put_candidate(key, document, text)?;
                }
            }
            db.put_labels(&qrels)?;
            for (name, run) in &rankings {
                db.put_ranking(name, run, now_ms())?;
            }
            Ok(())
        })?;
        Ok(self.summary)
    }
}

/// The file for the run of a stage.
pub fn stage_file(folder: &Path, stage: &str) -> PathBuf {
    folder.join(format!("{stage}.trec"))
}
