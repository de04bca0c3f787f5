//! `overrule pool build`: builds candidate pools from a benchmark or a running search engine.

use super::argument::ArgumentError;
use super::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use super::vector_options::{EmbeddingTerms, not_embedded};
use crate::app::error::AppError;
use crate::app::input_files::stem;
use crate::app::output_file::{JSON_LINES, OutputFolder, TREC, check_ending, output_name};
use crate::app::pool::{
    self, BenchmarkFolder, BuiltPools, DenseSearch, EmbeddingProgress, FirstStage, LiveQueries,
    LiveSearch, PoolOptions, PoolSummary, SearchEngine, SearchProgress,
};
use crate::app::text_format::counted;
use crate::cli::output::ProgressPace;
use crate::cli::{output, signals};
use crate::domain::metrics::Qrels;
use crate::domain::number_words::{count, fixed};
use crate::domain::retrieval::{AnalysisProfile, PoolLayout};
use crate::formats::search_request::DocumentPointers;
use clap::{Args, Subcommand, ValueEnum};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Args)]
#[command(after_help = "Example:
  overrule pool build --beir scifact")]
pub(super) struct PoolCommand {
    #[command(subcommand)]
    action: PoolAction,
}

#[derive(Debug, Subcommand)]
enum PoolAction {
    /// Build a pool for each query: the best documents of a search, and labeled ones of a benchmark
    Build(PoolBuildCommand),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pool contains all labeled documents of a query, filled up to --depth with the best \
results of the first stage. Pools, labels and the first stage's ranking are added to the project, \
where `pick`, `adjudication` and `annotate` use them. With --out, the pools are written to a dataset \
in zBench's JSON Lines format instead. Each document's metadata contains its grade, its source \
(label-found, label-missed or fill), its first_stage_rank and its slot; judges are shown none of it.

The slots are shuffled by the seed. With --layout original, the labeled documents come first, as in \
the original study; a judge that always names the first slots is then always right.

With --embed NAME (an [[embedder]] of overrule.toml), the first stage is hybrid: BM25 and exact \
cosine similarity over all vectors, each --stage-depth deep, combined by reciprocal rank fusion, \
Σ 1 / (60 + rank). The metadata contains the ranks and scores of both stages (`stages`).

With --opensearch, --elasticsearch, --solr or --vespa, a running search engine finds the documents: \
one request per query to its search endpoint, which changes nothing there. JSON pointers (RFC 6901) \
say where the response has the documents and their texts. These pools have no labels; import labels \
separately. If a search fails, nothing is stored.

Examples:
  overrule pool build --beir scifact
  overrule pool build --beir scifact --out pools.jsonl --run-out bm25.trec
  overrule pool build --beir scifact --profile duckdb --layout original --out pools.jsonl --json
  overrule pool build --beir scifact --out pools.jsonl --embed minilm --stage-runs runs
  overrule pool build --opensearch http://localhost:9200 --index shop --query-template query.json \
  --queries queries.jsonl --text /_source/body --title /_source/title --api-key-env SHOP_KEY"
)]
struct PoolBuildCommand {
    /// The benchmark: a folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "engine",
        conflicts_with = "engine"
    )]
    beir: Option<PathBuf>,
    #[command(flatten)]
    live: LiveOptions,
    /// Split with the queries and labels to use
    #[arg(long, default_value = "test", conflicts_with = "engine")]
    split: String,
    /// Number of documents per pool; all labeled documents are included
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    depth: u32,
    /// How to analyze and weight texts; duckdb does it as DuckDB's full-text search does
    #[arg(
        long,
        value_enum,
        default_value = "overrule",
        conflicts_with = "engine"
    )]
    profile: ProfileName,
    /// Take the first stage from a run, or from a table of query, document and optionally score or
    /// rank, instead of searching
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "engine"])]
    candidates: Option<PathBuf>,
    #[command(flatten)]
    dense: DenseOptions,
    /// The order of the documents in a pool
    #[arg(long, value_enum, default_value = "shuffled")]
    layout: LayoutName,
    /// Seed of the shuffle [default: the configured one]
    #[arg(long)]
    seed: Option<u64>,
    /// Lowest relevant grade
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Write the results of the first stage as a TREC run
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Number of documents per query in that run [default: --depth]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    run_depth: Option<u32>,
    /// Write the pools as a dataset, without changing the project
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

/// A running search engine that finds the documents.
#[derive(Debug, Default, Args)]
struct LiveOptions {
    /// Search with the OpenSearch server at this address
    #[arg(long, value_name = "URL", group = "engine")]
    opensearch: Option<String>,
    /// Search with Elasticsearch
    #[arg(long, value_name = "URL", group = "engine")]
    elasticsearch: Option<String>,
    /// Search with Solr; the address ends in /solr
    #[arg(long, value_name = "URL", group = "engine")]
    solr: Option<String>,
    /// Search with Vespa
    #[arg(long, value_name = "URL", group = "engine")]
    vespa: Option<String>,
    /// Index or collection to search
    #[arg(long, value_name = "INDEX", requires = "engine")]
    index: Option<String>,
    /// The request as JSON; {{query}} in its texts stands for a query, "{{depth}}" for the number of
    /// documents
    #[arg(long, value_name = "FILE", requires = "engine")]
    query_template: Option<PathBuf>,
    /// The queries, as {"_id":"q1","text":"red shoes"} per line
    #[arg(long, value_name = "FILE", requires = "engine")]
    queries: Option<PathBuf>,
    /// JSON pointer from a document of the response to its text (repeatable)
    #[arg(long, value_name = "POINTER", requires = "engine", value_parser = pointer)]
    text: Vec<String>,
    /// JSON pointer from a document to its title
    #[arg(long, value_name = "POINTER", requires = "engine", value_parser = pointer)]
    title: Option<String>,
    /// JSON pointer to the list of documents [default: /hits/hits, /response/docs or /root/children]
    #[arg(long, value_name = "POINTER", requires = "engine", value_parser = pointer)]
    documents: Option<String>,
    /// JSON pointer from a document to its identifier [default: /_id or /id]
    #[arg(long, value_name = "POINTER", requires = "engine", value_parser = pointer)]
    id: Option<String>,
    /// JSON pointer from a document to its score [default: /_score, /score or /relevance]
    #[arg(long, value_name = "POINTER", requires = "engine", value_parser = pointer)]
    score: Option<String>,
    /// Variable with the API key, or with USER:PASSWORD
    #[arg(long, value_name = "NAME", requires = "engine")]
    api_key_env: Option<String>,
}

#[derive(Debug, Default, Args)]
struct DenseOptions {
    /// Fuse BM25 with the nearest vectors of this embedder of overrule.toml
    #[arg(long, value_name = "NAME", conflicts_with_all = ["candidates", "engine"])]
    embed: Option<String>,
    /// Number of documents of each stage that are fused
    #[arg(long, value_name = "N", default_value_t = 100, requires = "embed", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    stage_depth: u32,
    /// Write a run of each stage into this folder: bm25.trec, dense.trec, hybrid.trec
    #[arg(long, value_name = "DIR", requires = "embed")]
    stage_runs: Option<PathBuf>,
    /// Where vectors are kept [default: embeddings.db next to the project]
    #[arg(long, value_name = "FILE", requires = "embed")]
    vectors: Option<PathBuf>,
    #[command(flatten)]
    spending: EmbeddingTerms,
}

impl PoolCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let PoolAction::Build(build) = self.action;
        build.run(context)
    }
}

/// Builds the pools of a benchmark's folder with the default settings, and imports them into the
/// project.
pub(super) fn build_with_defaults(
    context: &CommandContext,
    folder: &Path,
    split: &str,
    json: bool,
) -> CommandResult {
    let build = PoolBuildCommand {
        beir: Some(folder.to_owned()),
        live: LiveOptions::default(),
        split: split.to_owned(),
        depth: pool::USUAL_DEPTH as u32,
        profile: ProfileName::Overrule,
        candidates: None,
        dense: DenseOptions::default(),
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

impl PoolBuildCommand {
    fn run(&self, context: &CommandContext) -> CommandResult {
        let Some(beir) = &self.beir else {
            return self.run_live(context);
        };
        let folder = BenchmarkFolder::new(beir, &self.split)?;
        let runs_folder = self.dense.make_runs_folder()?;
        self.check_outputs(context, &self.dense.stage_files(), &folder.files())?;
        let mut notes = Vec::new();
        let qrels = folder.labels(&mut notes)?;
        let Some(stage) = self.first_stage(context, &folder, &qrels)? else {
            return Ok(());
        };
        let options = PoolOptions {
            stage_name: match (&self.candidates, self.profile) {
                (Some(_), _) => "candidates",
                _ if self.dense.embed.is_some() => "hybrid",
                (None, ProfileName::Overrule) => "bm25-overrule",
                (None, ProfileName::Duckdb) => "bm25-duckdb",
            },
            ..self.options(context)
        };
        let mut built = pool::build(&folder, qrels, &stage, &options)?;
        built.summary.warnings.splice(0..0, notes);
        if let Some(path) = &self.run_out {
            built.write_run(path)?;
        }
        if let Some(folder) = &self.dense.stage_runs {
            built.write_stage_runs(folder)?;
        }
        if let Some(folder) = runs_folder {
            folder.keep();
        }
        self.finish(context, built, &stem(beir))
    }

    /// Refuses output files that are also read or written otherwise, or whose endings do not fit.
    fn check_outputs(
        &self,
        context: &CommandContext,
        stages: &[PathBuf],
        inputs: &[(&str, &Path)],
    ) -> CommandResult {
        let targets = self.out.iter().chain(&self.run_out).chain(stages);
        let printing = option_set(&[(self.json, "--json")]);
        context.check_targets(targets.map(PathBuf::as_path), inputs, printing)?;
        if let Some(path) = &self.out {
            check_ending(path, &[JSON_LINES])?;
        }
        if let Some(path) = &self.run_out {
            check_ending(path, &[TREC])?;
        }
        Ok(())
    }

    fn options(&self, context: &CommandContext) -> PoolOptions {
        let depth = self.depth as usize;
        PoolOptions {
            depth,
            run_depth: self.run_depth.map_or(depth, |depth| depth as usize),
            relevant_from: self.level,
            layout: match self.layout {
                LayoutName::Original => PoolLayout::Original,
                LayoutName::Shuffled => PoolLayout::Shuffled {
                    seed: self.seed.unwrap_or(context.config.run.seed),
                },
            },
            stage_name: "",
        }
    }

    /// Builds pools from the responses of a search engine.
    fn run_live(&self, context: &CommandContext) -> CommandResult {
        let (engine, address) = self.live.engine()?;
        let (template, file) = (self.live.template()?, self.live.queries()?);
        self.check_outputs(context, &[], &[("template", template), ("queries", file)])?;
        let queries = LiveQueries::read(file)?;
        let search = self.live.search(engine, address, template)?;
        let options = PoolOptions {
            stage_name: engine.name(),
            ..self.options(context)
        };
        let runtime = signals::runtime()?;
        let (mut pace, count) = (ProgressPace::new(), queries.count());
        let mut show = |progress: SearchProgress| {
            if pace.is_due() {
                let all = counted(progress.all, "query");
                output::message(&format!("searched for {} of {all}", progress.done));
            }
        };
        let built = runtime.block_on(search.build(queries, &options, &mut show));
        runtime.shutdown_background();
        let built = built?;
        output::message(&format!("searched for {}", counted(count, "query")));
        if let Some(path) = &self.run_out {
            built.write_run(path)?;
        }
        self.finish(context, built, &stem(file))
    }

    /// Stores or writes the pools, and prints the summary.
    fn finish(&self, context: &CommandContext, built: BuiltPools, dataset: &str) -> CommandResult {
        let summary = match &self.out {
            Some(path) => {
                built.write_dataset(path)?;
                built.summary
            }
            None => built.import(&context.open_or_create()?, dataset)?,
        };
        for note in &summary.warnings {
            output::message(&format!("note: {note}"));
        }
        if self.json {
            return output::json(&summary);
        }
        output::text(&describe(&summary))?;
        output::message(&match &self.out {
            Some(path) => format!("wrote {}", output_name(path)),
            None => format!(
                "stored in {}; `overrule pick` asks judges to pick from the pools",
                context.project().display()
            ),
        });
        Ok(())
    }

    /// The first stage that finds the documents; `None` after a dry run.
    fn first_stage(
        &self,
        context: &CommandContext,
        folder: &BenchmarkFolder,
        qrels: &Qrels,
    ) -> Result<Option<FirstStage>, CommandFailure> {
        if let Some(path) = &self.candidates {
            return Ok(Some(FirstStage::given(folder, qrels, path)?));
        }
        let profile = match self.profile {
            ProfileName::Overrule => AnalysisProfile::Overrule,
            ProfileName::Duckdb => AnalysisProfile::Duckdb,
        };
        let began = Instant::now();
        let stage = FirstStage::search(folder, qrels, profile)?;
        output::message(&format!(
            "indexed {} in {:.2} s: {} terms",
            counted(stage.documents(), "document"),
            began.elapsed().as_secs_f64(),
            stage.vocabulary().unwrap_or_default()
        ));
        let Some(name) = &self.dense.embed else {
            return Ok(Some(stage));
        };
        let depth = self.depth.max(self.run_depth.unwrap_or(0));
        let depth = depth.max(self.dense.stage_depth) as usize;
        self.dense.fuse(name, context, folder, qrels, stage, depth)
    }
}

impl LiveOptions {
    /// The search engine and its address.
    fn engine(&self) -> Result<(SearchEngine, &str), CommandFailure> {
        let engines = [
            (SearchEngine::Opensearch, &self.opensearch),
            (SearchEngine::Elasticsearch, &self.elasticsearch),
            (SearchEngine::Solr, &self.solr),
            (SearchEngine::Vespa, &self.vespa),
        ];
        let mut named = engines
            .into_iter()
            .filter_map(|(engine, url)| Some((engine, url.as_deref()?)));
        let found = named.next();
        let (engine, url) = found.ok_or_else(|| usage!("name a benchmark or a search engine"))?;
        match (engine.needs_index(), &self.index) {
            (true, None) => Err(usage!(
                "--{} needs --index, the index or collection to search",
                engine.name()
            )),
            (false, Some(_)) => Err(usage!(
                "--index: vespa has none; the template names sources"
            )),
            _ => Ok((engine, url)),
        }
    }

    fn template(&self) -> Result<&Path, CommandFailure> {
        let template = self.query_template.as_deref();
        template.ok_or_else(|| usage!("--query-template FILE is the request, with {{{{query}}}}"))
    }

    fn queries(&self) -> Result<&Path, CommandFailure> {
        let queries = self.queries.as_deref();
        queries.ok_or_else(|| usage!("--queries FILE has the queries to search for"))
    }

    fn search(
        &self,
        engine: SearchEngine,
        address: &str,
        template: &Path,
    ) -> Result<LiveSearch, CommandFailure> {
        if self.text.is_empty() {
            return Err(usage!(
                "--text POINTER is the place of a document's text in the response, such as \
                 /_source/body"
            ));
        }
        let usual = engine.pointers(self.text.clone());
        let pointers = DocumentPointers {
            documents: self.documents.clone().unwrap_or(usual.documents),
            id: self.id.clone().unwrap_or(usual.id),
            score: self.score.clone().unwrap_or(usual.score),
            texts: usual.texts,
            title: self.title.clone(),
        };
        let key = match &self.api_key_env {
            None => None,
            Some(name) => match std::env::var(name) {
                Ok(key) if !key.trim().is_empty() => Some(SecretString::from(key.trim())),
                _ => {
                    return Err(usage!(
                        "--api-key-env: the variable {} is not set",
                        output::clean(name)
                    ));
                }
            },
        };
        let index = self.index.as_deref();
        Ok(LiveSearch::new(
            engine,
            (address, index),
            template,
            pointers,
            key,
        )?)
    }
}

/// Parses a JSON pointer.
fn pointer(text: &str) -> Result<String, ArgumentError> {
    match text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err(ArgumentError::Expected(
            "a JSON pointer, which begins with /, such as /_source/body",
        )),
    }
}

impl DenseOptions {
    /// The files for runs of the stages.
    fn stage_files(&self) -> Vec<PathBuf> {
        let folder = self.stage_runs.as_deref();
        let files = |folder| pool::stage_names().map(move |name| pool::stage_file(folder, name));
        folder.into_iter().flat_map(files).collect()
    }

    /// Creates the folder of the runs.
    fn make_runs_folder(&self) -> Result<Option<OutputFolder>, CommandFailure> {
        Ok(self
            .stage_runs
            .as_deref()
            .filter(|_| !self.spending.dry_run)
            .map(OutputFolder::make)
            .transpose()?)
    }

    /// `stage` fused with the nearest vectors; `None` after a dry run. At least `depth` documents
    /// of each are used.
    fn fuse(
        &self,
        name: &str,
        context: &CommandContext,
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        mut stage: FirstStage,
        depth: usize,
    ) -> Result<Option<FirstStage>, CommandFailure> {
        let runtime = signals::runtime()?;
        let cache = self.vectors.as_deref();
        let (vectors, _lock) = self.spending.open(name, cache, context, &runtime)?;
        let mut search = DenseSearch::new(folder, qrels, depth, vectors)?;
        if self.spending.dry_run {
            output::message(&format!(
                "{}\ndry run: nothing was called and nothing was written",
                search.describe(search.need()?)
            ));
            return Ok(None);
        }
        if search.is_paid() {
            self.spending.confirm(search.vectors(), search.need()?)?;
        }
        let mut display = EmbeddingDisplay::new(stage.documents());
        let fused = search.fuse(&mut stage, &runtime, &mut |progress| display.show(progress));
        runtime.shutdown_background();
        match fused {
            Ok(()) => {
                display.finish();
                Ok(Some(stage))
            }
            Err(AppError::Embedding(error)) => Err(not_embedded(error, search.origins().embedded)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Shows the progress of embedding: a line now and then, and one at the end.
struct EmbeddingDisplay {
    documents: usize,
    began: Instant,
    pace: ProgressPace,
    untold: Option<EmbeddingProgress>,
}

impl EmbeddingDisplay {
    fn new(documents: usize) -> Self {
        Self {
            documents,
            began: Instant::now(),
            pace: ProgressPace::new(),
            untold: None,
        }
    }

    fn show(&mut self, progress: EmbeddingProgress) {
        self.untold = Some(progress);
        if self.pace.is_due() {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if let Some(EmbeddingProgress { done, origins }) = self.untold.take() {
            output::message(&format!(
                "vectors of {} of {} in {:.0} s: {} texts embedded, {} tokens",
                count(done),
                counted(self.documents, "document"),
                self.began.elapsed().as_secs_f64(),
                count(origins.embedded),
                count(origins.tokens)
            ));
        }
    }
}

/// The summary as text.
fn describe(summary: &PoolSummary) -> String {
    let pools = &summary.pools;
    let mut rows = Vec::new();
    let mut add = |stage: &str, metrics: &Map<String, Value>| {
        rows.extend(metrics.iter().map(|(name, value)| {
            let number = |key: &str| output::or_dash(value[key].as_f64(), |n| fixed(n, 4));
            vec![
                output::clean(format!("{stage} {name}").trim()),
                number("mean"),
                format!("{} to {}", number("low"), number("high")),
            ]
        }));
    };
    match &summary.stages {
        None if summary.first_stage.is_empty() => {
            return format!(
                "{}\n{} with {}\n",
                counted(summary.queries, "query"),
                counted(pools.count, "pool"),
                counted(pools.slots, "document"),
            );
        }
        None => add("", &summary.first_stage),
        Some(stages) => {
            for (name, metrics) in stages {
                metrics
                    .as_object()
                    .into_iter()
                    .for_each(|metrics| add(name, metrics));
            }
        }
    }
    format!(
        "{}, {}\n{}{} with {}: {} labeled relevant ({} found by the first stage, {} not), {} fill\n",
        counted(summary.documents, "document"),
        counted(summary.queries, "query"),
        output::table(&["first stage", ">mean", "95 % interval"], &rows),
        counted(pools.count, "pool"),
        counted(pools.slots, "document"),
        pools.positives,
        pools.label_found,
        pools.label_missed,
        pools.fill
    )
}
