//! `pool build --embed`: BM25 and the nearest vectors, fused by reciprocal rank.

use super::super::{
    CommandContext, CommandFailure, CommandResult, choose_judges, export, output, signals,
};
use super::hybrid::{self, FusedRankings};
use super::stage::{BenchmarkFolder, FirstStage};
use crate::app::pool::embeddings::{CachedEmbedder, EmbedError, VectorOrigins};
use crate::client::RunControl;
use crate::domain::corpus::DocId;
use crate::domain::metrics::Qrels;
use crate::domain::retrieval::{NearestDocuments, RRF_K, reciprocal_rank_fusion};
use crate::embedding::cache::VectorCache;
use crate::formats::beir::{BeirDocument, BeirQuery};
use crate::formats::trec;
use anyhow::anyhow;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Progress lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(2);
/// Rounds of calls whose texts are in memory at a time.
const ROUNDS: usize = 4;
/// Characters of a token of English, roughly.
const CHARS_PER_TOKEN: usize = 4;

#[derive(Debug, Default, Args)]
pub(super) struct DenseOptions {
    /// Fuse BM25 with the nearest vectors of this embedder of overrule.toml
    #[arg(long, value_name = "NAME", conflicts_with = "candidates")]
    pub(super) embed: Option<String>,
    /// The best so many documents of each stage are fused
    #[arg(long, value_name = "N", default_value_t = 100, requires = "embed", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    stage_depth: u32,
    /// Write a run of each stage into this folder: bm25.trec, dense.trec, hybrid.trec
    #[arg(long, value_name = "DIR", requires = "embed")]
    stage_runs: Option<PathBuf>,
    /// Where vectors are kept [default: embeddings.db beside the project]
    #[arg(long, value_name = "FILE", requires = "embed")]
    vectors: Option<PathBuf>,
    /// Let the embedder's key travel unencrypted to another machine
    #[arg(long, requires = "embed")]
    insecure_http: bool,
    /// Do not ask before an embedder that wants a key is called
    #[arg(long, requires = "embed")]
    yes: bool,
    /// Say how many texts would be embedded, and stop
    #[arg(long, requires = "embed")]
    dry_run: bool,
}

/// What the vectors are made for.
struct VectorSearch<'a> {
    folder: &'a BenchmarkFolder,
    questions: Vec<BeirQuery>,
    depth: usize,
    documents: usize,
}

impl DenseOptions {
    /// Where runs of the stages go.
    pub(super) fn runs(&self) -> Vec<PathBuf> {
        let path = |folder: &PathBuf| {
            let files = hybrid::names().map(|name| folder.join(format!("{name}.trec")));
            files.collect()
        };
        self.stage_runs.as_ref().map(path).unwrap_or_default()
    }

    /// `stage` fused with the nearest vectors; `None` after a dry run. At least `depth` documents of each count.
    pub(super) fn fuse(
        &self,
        name: &str,
        context: &CommandContext,
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        mut stage: FirstStage,
        depth: usize,
    ) -> Result<Option<FirstStage>, CommandFailure> {
        let embedder = choose_judges::embedder(context, name, self.insecure_http)?;
        let beside = context.project().with_file_name("embeddings.db");
        let kept = self.vectors.as_ref().unwrap_or(&beside);
        // A dry run makes no file.
        let nowhere = self.dry_run && !kept.exists();
        let cache = VectorCache::open(if nowhere { Path::new(":memory:") } else { kept });
        let cache = cache.map_err(CommandFailure::usage)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        // What calls cost goes into the project, where there is one.
        let project = context.project().exists() && !self.dry_run;
        let project = project.then(|| context.open()).transpose()?;
        let mut vectors = CachedEmbedder::new(embedder, cache, stops(&runtime)?, project);
        let task = VectorSearch {
            folder,
            questions: folder.queries(qrels)?,
            depth: depth.max(self.stage_depth as usize),
            documents: stage.documents(),
        };
        if self.dry_run {
            let (words, _) = task.estimate(&vectors)?;
            output::message(&format!(
                "{words}\ndry run: nothing was called and nothing was written"
            ));
            return Ok(None);
        }
        if vectors.embedder().is_paid() {
            let (words, unknown) = task.estimate(&vectors)?;
            if unknown > 0 {
                choose_judges::confirm_spending(&words, self.yes)?;
            }
        }
        let result = task.nearest(&mut vectors, &runtime);
        runtime.shutdown_background();
        let origins = vectors.origins();
        let dense = match result {
            Ok(dense) => dense,
            Err(DenseError::Embed(EmbedError::Stopped)) => {
                let what = output::counted(origins.embedded, "text");
                output::message(&format!(
                    "stopped; {what} embedded, which are kept: the same command goes on"
                ));
                return Err(CommandFailure::interrupted());
            }
            Err(DenseError::Embed(error)) => return Err(CommandFailure::from(error)),
            Err(DenseError::Input(failure)) => return Err(failure),
        };
        let mut fused = Vec::new();
        for (question, dense) in task.questions.into_iter().zip(dense) {
            let scored = |ranking: Vec<(DocId, f64)>| {
                let some = |(id, score)| (id, Some(score));
                ranking.into_iter().map(some).collect()
            };
            let bm25 = stage.ranking(&question, task.depth)?;
            let rankings = [scored(bm25), scored(dense)];
            fused.push((question.id, reciprocal_rank_fusion(&rankings, RRF_K)));
        }
        let method = json!({
            "fusion": "reciprocal rank",
            "k": RRF_K,
            "depth": task.depth,
            "embedder": vectors.embedder().name,
            "model": vectors.embedder().model,
        });
        let mut made = method.clone();
        made["texts_cached"] = json!(origins.cached);
        made["texts_embedded"] = json!(origins.embedded);
        made["tokens"] = json!(origins.tokens);
        stage.fuse(FusedRankings {
            rankings: fused.into_iter().collect(),
            method,
            made,
        });
        Ok(Some(stage))
    }

    /// Writes a run of each stage, where that is wanted.
    pub(super) fn write_runs(&self, queries: &[BeirQuery], stage: &FirstStage) -> CommandResult {
        let (Some(folder), Some(hybrid)) = (&self.stage_runs, stage.hybrid()) else {
            return Ok(());
        };
        for (name, run) in hybrid.runs() {
            export::write_atomically(&folder.join(format!("{name}.trec")), |mut out| {
                for question in queries {
                    let ranking = run.get(&question.id).map_or(&[][..], Vec::as_slice);
                    trec::write_run(&mut out, &question.id, ranking, name)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Makes the folder of the runs.
    pub(super) fn prepare(&self) -> CommandResult {
        let Some(folder) = self.stage_runs.as_ref().filter(|_| !self.dry_run) else {
            return Ok(());
        };
        let cannot = |error| {
            let path: &Path = folder;
            CommandFailure::usage(anyhow!("{}: cannot be made: {error}", path.display()))
        };
        std::fs::create_dir_all(folder).map_err(cannot)
    }
}

/// Why there are no vectors: an embedder, or a file.
enum DenseError {
    Embed(EmbedError),
    Input(CommandFailure),
}

impl From<EmbedError> for DenseError {
    fn from(error: EmbedError) -> Self {
        Self::Embed(error)
    }
}

impl From<CommandFailure> for DenseError {
    fn from(failure: CommandFailure) -> Self {
        Self::Input(failure)
    }
}

impl VectorSearch<'_> {
    /// The texts of the queries, as the embedder is sent them.
    fn queries(&self, vectors: &CachedEmbedder) -> Vec<String> {
        let embedder = vectors.embedder();
        let questions = self.questions.iter();
        questions
            .map(|question| embedder.query(&question.text))
            .collect()
    }

    /// The nearest documents of each query.
    fn nearest(
        &self,
        vectors: &mut CachedEmbedder,
        runtime: &Runtime,
    ) -> Result<Vec<Vec<(DocId, f64)>>, DenseError> {
        let queries = runtime.block_on(vectors.of(&self.queries(vectors)))?;
        let mut nearest = NearestDocuments::new(queries, self.depth);
        let (began, mut spoke) = (Instant::now(), Instant::now());
        let (mut done, mut told) = (0, 0);
        self.chunks(
            vectors.embedder().batch * vectors.embedder().concurrency * ROUNDS,
            |chunk| {
                let texts: Vec<String> = chunk
                    .iter()
                    .map(|passage| vectors.embedder().passage(&passage.content()))
                    .collect();
                let found = runtime.block_on(vectors.of(&texts))?;
                for (passage, vector) in chunk.iter().zip(&found) {
                    nearest.offer(&passage.id, vector);
                }
                done += chunk.len();
                if spoke.elapsed() >= LINE_EVERY {
                    (spoke, told) = (Instant::now(), done);
                    self.tell(done, vectors.origins(), began);
                }
                Ok(())
            },
        )?;
        if told < done {
            self.tell(done, vectors.origins(), began);
        }
        Ok(nearest.rankings())
    }

    /// Hands the corpus on in pieces of `size` documents, empty ones left out.
    fn chunks(
        &self,
        size: usize,
        mut take: impl FnMut(&[BeirDocument]) -> Result<(), DenseError>,
    ) -> Result<(), DenseError> {
        let mut chunk: Vec<BeirDocument> = Vec::new();
        let mut failed = None;
        let read = self.folder.each(|passage| {
            if passage.content().is_empty() {
                return Ok(());
            }
            chunk.push(passage);
            if chunk.len() < size {
                return Ok(());
            }
            let taken = take(&chunk);
            chunk.clear();
            taken.map_err(|error| {
                failed = Some(error);
                CommandFailure::incomplete()
            })
        });
        match failed {
            Some(error) => Err(error),
            None => {
                read?;
                take(&chunk)
            }
        }
    }

    fn tell(&self, done: usize, origins: VectorOrigins, began: Instant) {
        let VectorOrigins {
            embedded, tokens, ..
        } = origins;
        let documents = output::counted(self.documents, "document");
        output::message(&format!(
            "vectors of {done} of {documents} in {:.0} s: {embedded} texts embedded, {tokens} tokens",
            began.elapsed().as_secs_f64()
        ));
    }

    /// What would be embedded, in words, and how many texts.
    fn estimate(&self, vectors: &CachedEmbedder) -> Result<(String, usize), CommandFailure> {
        let (mut all, mut unknown, mut chars) = (0, 0, 0);
        let mut count = |texts: Vec<String>| -> Result<(), DenseError> {
            for text in texts {
                all += 1;
                if vectors.unknown(std::slice::from_ref(&text))? > 0 {
                    unknown += 1;
                    chars += text.chars().count();
                }
            }
            Ok(())
        };
        let counted = count(self.queries(vectors)).and_then(|()| {
            self.chunks(1000, |chunk| {
                let text = |passage: &BeirDocument| vectors.embedder().passage(&passage.content());
                count(chunk.iter().map(text).collect())
            })
        });
        counted.map_err(|error| match error {
            DenseError::Embed(error) => CommandFailure::from(error),
            DenseError::Input(failure) => failure,
        })?;
        let (name, model) = (&vectors.embedder().name, &vectors.embedder().model);
        let words = format!(
            "{name} ({model}) would embed {unknown} of {}, about {} tokens",
            output::counted(all, "text"),
            chars / CHARS_PER_TOKEN
        );
        Ok((words, unknown))
    }
}

/// What signals tell the calls to do.
fn stops(runtime: &Runtime) -> Result<watch::Receiver<RunControl>, CommandFailure> {
    let (steer, control) = watch::channel(RunControl::default());
    let mut signals = runtime.block_on(async { signals::stops() })?;
    runtime.spawn(async move {
        while signals.recv().await.is_some() {
            steer.send_modify(RunControl::stop);
            output::message(&signals::stopping(&steer.borrow()));
        }
        // Without signals there is nothing to stop it; the sender must stay all the same.
        std::future::pending::<()>().await;
    });
    Ok(control)
}
