//! `overrule pool build`: candidate pools from a benchmark.

mod embed;
mod form;
mod hybrid;
mod stage;
mod summary;

use super::{CommandContext, CommandFailure, CommandResult, benchmark, export, output};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::retrieval::{AnalysisProfile, JudgingPool, PoolLayout, build_pool};
use crate::formats::beir::BeirQuery;
use crate::formats::{dataset, trec};
use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use hybrid::FusedRankings;
use stage::{BenchmarkFolder, FirstStage};
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use summary::words;

#[derive(Debug, Args)]
pub(super) struct PoolCommand {
    #[command(subcommand)]
    action: PoolAction,
}

#[derive(Debug, Subcommand)]
enum PoolAction {
    /// Search every query of a benchmark and put its labelled documents among the first ones found
    Build(PoolBuildOptions),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pool holds all labelled documents of a query, filled up to --depth with the best of the first stage. Pools, labels and
the first stage's ranking go into the project, where `pick`, `adjudication` and `annotate` find them; with --out the pools are written as a
dataset (JSON lines in zBench's form) instead. Each document's metadata says its grade, where it comes from (source:
label-found, label-missed or fill), its first_stage_rank and its slot; no judge is shown any of that.

The slots are shuffled by the seed. With --layout original the labelled documents come first, as in the study that this
re-creates: a judge that always names the first slots is then always right.

With --embed NAME ([[embedder]] of overrule.toml) the first stage is hybrid: BM25 and the exact cosine over all vectors, each
--stage-depth deep, fused by reciprocal rank, Σ 1 / (60 + rank). Ranks and scores of both stages stand in the metadata (stages).

Examples:
  overrule pool build --beir scifact
  overrule pool build --beir scifact --out pools.jsonl --run-out bm25.trec
  overrule pool build --beir scifact --profile duckdb --layout original --out pools.jsonl --json
  overrule pool build --beir scifact --out pools.jsonl --embed minilm --stage-runs runs"
)]
struct PoolBuildOptions {
    /// The benchmark: a folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv
    #[arg(long, value_name = "DIR")]
    beir: PathBuf,
    /// Whose labels, and with them which queries
    #[arg(long, default_value = "test")]
    split: String,
    /// Documents of a pool
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    depth: u32,
    /// How texts are read and weighed: as DuckDB's full-text search does, or better
    #[arg(long, value_enum, default_value = "overrule")]
    profile: ProfileName,
    /// Take the first stage from a run, or from lines of query, document[, rank, score], instead of searching
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    candidates: Option<PathBuf>,
    #[command(flatten)]
    dense: embed::DenseOptions,
    /// The order of the documents in a pool
    #[arg(long, value_enum, default_value = "shuffled")]
    layout: LayoutName,
    /// Seed of the shuffle [default: the configured one]
    #[arg(long)]
    seed: Option<u64>,
    /// The grade from which on a document is relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Write what the first stage found as a run of TREC's
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Documents a query in that run [default: as --depth]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run_depth: Option<u32>,
    /// Write the pools as a dataset, and leave the project alone
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    Overrule,
    Duckdb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayoutName {
    Shuffled,
    Original,
}

impl PoolCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let PoolAction::Build(build) = self.action;
        build.run(context)
    }
}

/// Builds the pools of a benchmark's folder with the default settings, into the project.
pub(super) fn import(
    context: &CommandContext,
    folder: &Path,
    split: &str,
    json: bool,
) -> CommandResult {
    let build = PoolBuildOptions {
        beir: folder.to_owned(),
        split: split.to_owned(),
        depth: 10,
        profile: ProfileName::Overrule,
        candidates: None,
        dense: embed::DenseOptions::default(),
        layout: LayoutName::Shuffled,
        seed: None,
        level: 1,
        run_out: None,
        run_depth: None,
        out: None,
        json,
    };
    build.run(context)
}

/// What was built.
struct BuiltPools {
    queries: Vec<BeirQuery>,
    run: RankedRun,
    pools: Vec<JudgingPool>,
    notes: Vec<String>,
}

impl PoolBuildOptions {
    fn run(&self, context: &CommandContext) -> CommandResult {
        let folder = BenchmarkFolder::new(&self.beir, &self.split)?;
        let inputs = folder.files();
        let inputs: Vec<(&str, &std::path::Path)> = inputs
            .iter()
            .map(|(what, path)| (*what, path.as_path()))
            .collect();
        self.dense.prepare()?;
        for path in self
            .out
            .iter()
            .chain(&self.run_out)
            .chain(&self.dense.runs())
        {
            export::check_target(context, path, &inputs)?;
        }
        let qrels = benchmark::labels(&folder.qrels)?;
        let Some(stage) = self.first_stage(context, &folder, &qrels)? else {
            return Ok(());
        };
        let layout = match self.layout {
            LayoutName::Original => PoolLayout::Original,
            LayoutName::Shuffled => PoolLayout::Shuffled {
                seed: self.seed.unwrap_or(context.config.run.seed),
            },
        };
        let built = self.build(&folder, &qrels, &stage, layout)?;
        if let Some(path) = &self.run_out {
            export::write_atomically(path, |out| self.write_run(&built, out))?;
        }
        self.dense.write_runs(&built.queries, &stage)?;
        let pools = form::pools(&folder, &built.queries, &built.pools, &qrels, &stage)?;
        let summary = self.summary(&built, &qrels, &stage, layout)?;
        match &self.out {
            Some(path) => export::write_atomically(path, |mut out| {
                for pool in &pools {
                    dataset::write_pool(&mut out, pool)?;
                }
                Ok(())
            })?,
            None => {
                let stages = stage.hybrid().map_or_else(Vec::new, FusedRankings::runs);
                let mut rankings: Vec<(&'static str, RankedRun)> = stages;
                // What the pools were filled from has the last word on its name.
                rankings.push((self.stage_name(), built.run.clone()));
                self.keep(context, rankings, qrels, pools)?;
            }
        }
        for note in &built.notes {
            output::message(&format!("note: {note}"));
        }
        if self.json {
            output::json(&summary)?;
            return Ok(());
        }
        output::text(&words(&summary))?;
        match &self.out {
            Some(path) => output::message(&format!("wrote {}", path.display())),
            None => output::message(&format!(
                "in {}: `overrule pick` has judges pick from the pools",
                context.project().display()
            )),
        }
        Ok(())
    }

    /// Puts pools, labels and rankings into the project: all of it, or nothing.
    fn keep(
        &self,
        context: &CommandContext,
        rankings: Vec<(&'static str, RankedRun)>,
        qrels: Qrels,
        pools: Vec<Pool>,
    ) -> CommandResult {
        let store = context.open_or_create()?;
        let dataset = super::import::label(&self.beir);
        store.write_blocking(move |db| {
            for pool in &pools {
                db.add_pool(pool, &dataset)?;
            }
            db.put_labels(&qrels)?;
            for (name, run) in &rankings {
                db.put_ranking(name, run, now_ms())?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What finds the documents; `None` after a dry run.
    fn first_stage(
        &self,
        context: &CommandContext,
        folder: &BenchmarkFolder,
        qrels: &Qrels,
    ) -> Result<Option<FirstStage>, CommandFailure> {
        if let Some(path) = &self.candidates {
            return FirstStage::given(folder, qrels, path).map(Some);
        }
        let profile = match self.profile {
            ProfileName::Overrule => AnalysisProfile::Overrule,
            ProfileName::Duckdb => AnalysisProfile::Duckdb,
        };
        let bm25 = FirstStage::search(folder, qrels, profile)?;
        let Some(name) = &self.dense.embed else {
            return Ok(Some(bm25));
        };
        let depth = self.depth.max(self.run_depth.unwrap_or(0)) as usize;
        self.dense.fuse(name, context, folder, qrels, bm25, depth)
    }

    fn build(
        &self,
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        stage: &FirstStage,
        layout: PoolLayout,
    ) -> Result<BuiltPools, CommandFailure> {
        let depth = self.depth as usize;
        let run_depth = self.run_depth.map_or(depth, |depth| depth as usize);
        let mut built = BuiltPools {
            queries: folder.queries(qrels)?,
            run: RankedRun::new(),
            pools: Vec::new(),
            notes: Vec::new(),
        };
        let there: HashSet<&QueryId> = built.queries.iter().map(|query| &query.id).collect();
        let unknown: Vec<&str> = qrels
            .keys()
            .filter(|query| !there.contains(query))
            .map(QueryId::as_str)
            .collect();
        if !unknown.is_empty() {
            let what = output::counted(unknown.len(), "query");
            built.notes.push(format!(
                "{what} of the labels missing from queries.jsonl: no pool ({})",
                output::first_names(&unknown)
            ));
        }
        let mut left_out: Vec<String> = Vec::new();
        for question in &built.queries {
            let ranking = stage.ranking(question, run_depth.max(depth))?;
            let positives: Vec<DocId> = qrels
                .get(&question.id)
                .into_iter()
                .flatten()
                .filter(|(_, grade)| **grade >= self.level)
                .map(|(document, _)| document.clone())
                .collect();
            let shown: Vec<DocId> = positives
                .iter()
                .filter(|document| stage.has_text(document))
                .cloned()
                .collect();
            let hidden = positives
                .iter()
                .filter(|document| !stage.has_text(document));
            left_out.extend(hidden.map(|document| document.to_string()));
            let found: Vec<DocId> = ranking
                .iter()
                .map(|(document, _)| document.clone())
                .collect();
            let pool = build_pool(&question.id, &shown, &found, depth, layout);
            built.pools.push(pool);
            let mut ranking = ranking;
            ranking.truncate(run_depth);
            built.run.insert(question.id.clone(), ranking);
        }
        if !left_out.is_empty() {
            let what = output::counted(left_out.len(), "relevant document");
            let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
            built.notes.push(format!(
                "{what} missing from the corpus, or empty there: in no pool ({})",
                output::first_names(&names)
            ));
        }
        built.notes.extend(stage.note());
        Ok(built)
    }

    /// What the first stage is called.
    fn stage_name(&self) -> &'static str {
        match (&self.candidates, self.profile) {
            (Some(_), _) => "candidates",
            _ if self.dense.embed.is_some() => hybrid::NAME,
            (None, ProfileName::Overrule) => "bm25-overrule",
            (None, ProfileName::Duckdb) => "bm25-duckdb",
        }
    }

    fn write_run(&self, built: &BuiltPools, mut out: &mut dyn Write) -> CommandResult {
        let name = self.stage_name();
        for question in &built.queries {
            if let Some(ranking) = built.run.get(&question.id) {
                trec::write_run(&mut out, &question.id, ranking, name)?;
            }
        }
        Ok(())
    }
}

/// Queries in the order of their numbers where all ids are numbers, else as they came.
fn in_order(mut queries: Vec<BeirQuery>) -> Vec<BeirQuery> {
    let number = |id: &QueryId| id.as_str().parse::<u64>().ok();
    if queries.iter().all(|query| number(&query.id).is_some()) {
        queries.sort_by_key(|query| number(&query.id));
    }
    queries
}

/// Bad input, in a file's own words.
fn usage(message: String) -> CommandFailure {
    CommandFailure::usage(anyhow!("{message}"))
}
