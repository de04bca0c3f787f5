//! `overrule rerank`: reranks the candidates of queries with methods.

pub(crate) mod terms;
pub(crate) mod watch;

use crate::app::import::datasets;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::cli::spending::{SpendingOptions, usd};
#[cfg(feature = "remote")]
use crate::features::methods::app::SharedRankings;
use crate::features::methods::app::rerank::{
    CandidateShuffle, CandidateSource, LongDocuments, MethodChoice, RerankScope, prepare,
};
use crate::features::methods::domain::reranking::{Method, MethodOptions, Shuffle};
#[cfg(feature = "remote")]
use crate::registry::SharedCommand;
use crate::registry::SharingOptions;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use terms::{MethodSummary, RankingTerms};

/// The candidates of a query and their order.
#[derive(Debug, Args)]
pub(crate) struct CandidateOptions {
    /// First-stage ranking: a ranking of the project, a run, or a table of query, document and
    /// optional score or rank [default: the pools of the project]
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,
    /// Corpus with the texts of candidates that the project lacks: corpus.jsonl, or a folder that
    /// holds it
    #[arg(long, value_name = "FILE", requires = "candidates")]
    corpus: Option<PathBuf>,
    /// Shuffle the candidates of each query, as ranksmith does with the same seed
    #[arg(long)]
    shuffle_candidates: bool,
    /// Seed of --shuffle-candidates
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 13,
        requires = "shuffle_candidates"
    )]
    shuffle_seed: u64,
    /// Name of the task that --shuffle-candidates is seeded with [default: the query's dataset]
    #[arg(long, value_name = "NAME", requires = "shuffle_candidates")]
    shuffle_task: Option<String>,
}

impl CandidateOptions {
    /// Whether any of them is given.
    pub(crate) fn is_set(&self) -> bool {
        self.candidates.is_some() || self.shuffle_candidates
    }

    pub(crate) fn source(&self) -> CandidateSource<'_> {
        let of_file = |name| CandidateSource::Ranking {
            name,
            corpus: self.corpus.as_deref(),
        };
        let file = self.candidates.as_deref();
        file.map_or(CandidateSource::Pools, of_file)
    }

    pub(crate) fn shuffle(&self) -> Option<CandidateShuffle> {
        self.shuffle_candidates.then(|| CandidateShuffle {
            seed: self.shuffle_seed,
            task: self.shuffle_task.clone(),
        })
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "A method reranks the first N candidates of each query (NAME@N); the others follow \
                  in their old order. Methods:
  rankgpt@20:w20:s10   a judge orders windows of w candidates that move up by s (RankGPT)
  prp@20:p3            a judge compares neighbors in both orders, p passes (PRP-Sliding)
  tourrank@20:r2       a judge selects the best of groups, r tournaments (TourRank); \
  :s5x20x10-5x10x4 sets its stages,
                       groups × size × selected
  setwise@20:c3        a judge names the best of c candidates, sorted as a heap (Setwise)
  pointwise@20:grade   a judge grades each candidate 0 to 3; :yesno asks for yes or no
  zelo@20:b2           judges compare the most informative pairs, b calls per candidate, then \
  Bradley–Terry
  infogain@20:r10      a judge compares candidates with similar ratings, r rounds (Swiss InfoGain)
  mohajer@20:k10       a judge selects the k best in knockouts of k groups (Mohajer et al.)
  NAME@100             a [[reranker]] of overrule.toml (a service or your own program), a ranking \
  of the project, or a run file
  original             the first-stage order

If a judge's answer breaks the rules, the judge is asked once more. A second such answer is
repaired if a part of it is usable: unknown and repeated candidates are dropped, missing ones
follow in their old order, and the repair is counted. An answer without a usable part fails its
query; with :strict (rankgpt@20:strict), every invalid answer does. --retry-failed retries failed
queries. A failed query never ends the run.

Answers are stored as they arrive. Run the same command again to resume: nothing that has been
answered is asked again, even by another method that asks the same question. `overrule methods`
compares the methods.

All methods are shown the same part of long documents: the lowest max_document_chars of the judges \
and rerankers that are asked,
or less with --max-document-chars. Truncated documents are counted; --refuse-long and :strict fail \
the query and name the document.
Without a terminal, --yes is needed to spend money.

Examples:
  overrule rerank --method rankgpt@20 --method prp@20:p3 --judges bm25
  overrule rerank in.jsonl --method rankgpt@20    only the queries of in.jsonl
  overrule rerank --method tourrank@20:r2 --method zelo@20:b2 --judges gpt --budget 5
  overrule rerank --method cohere@100 --candidates colbert.trec --corpus scifact --dry-run
  overrule rerank --method rankgpt@20 --shuffle-candidates --shuffle-seed 13 --max-queries 30
  overrule --project w1.db rerank in.jsonl --method prp@20:p3 --remote postgres://ada@db.example.org/search"
)]
pub(crate) struct RerankCommand {
    /// Dataset to import and rerank [default: all queries of the project]
    dataset: Option<PathBuf>,
    /// Method to run (repeatable)
    #[arg(long = "method", value_name = "METHOD", required = true)]
    methods: Vec<Method>,
    #[command(flatten)]
    candidates: CandidateOptions,
    /// Rerank at most this many queries, the first ones by identifier
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_queries: Option<u32>,
    /// Rerank only this query (repeatable)
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Judges to use: each method runs with each of them, and zelo with all of them together
    /// [default: the first judge; zelo: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Random seed [default: from the configuration]
    #[arg(long)]
    seed: Option<u64>,
    /// Shuffling in tourrank: seeded, or cpython as in ranksmith
    #[arg(long, value_name = "RNG", default_value = "seeded")]
    rng: Shuffle,
    /// Retry failed queries
    #[arg(long)]
    retry_failed: bool,
    /// Rerank one query at a time: slower, but p50 and p95 do not include waiting for other queries
    #[arg(long)]
    one_at_a_time: bool,
    /// Maximum number of characters shown of each document, the same for all methods [default: the
    /// lowest limit of the judges and rerankers that are asked]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_document_chars: Option<u32>,
    /// Fail queries with longer documents, instead of truncating them
    #[arg(long)]
    refuse_long: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    #[command(flatten)]
    sharing: SharingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RerankCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let exists = context.has_project();
        if !exists && self.dataset.is_none() {
            // Fails, and explains how to create a project.
            context.open()?;
        }
        if self.spending.dry_run && !exists {
            return Err(usage!(
                "--dry-run: there is no project yet; import the dataset first (`overrule import \
                 FILE` calls nobody)"
            ));
        }
        let store = if self.spending.dry_run {
            context.open()?
        } else {
            context.open_or_create()?
        };
        // Two runs must not plan the same calls.
        let lock = self.spending.lock(context)?.map(Arc::new);
        let dataset = match &self.dataset {
            None => None,
            Some(path) => {
                let dataset = datasets::check(path, false)?.with_queries(&self.query)?;
                Some(if self.spending.dry_run {
                    dataset.keys(&store, "--dry-run")?
                } else {
                    dataset.import(&store)?.keys
                })
            }
        };
        let judges = context.judges(self.spending.insecure_http);
        let choice = MethodChoice {
            methods: &self.methods,
            judges: &self.judges,
            options: MethodOptions { shuffle: self.rng },
            seed: self.seed.unwrap_or(context.config.run.seed),
        };
        let shuffle = self.candidates.shuffle();
        let scope = RerankScope {
            dataset: dataset.as_deref(),
            queries: &self.query,
            candidates: self.candidates.source(),
            shuffle: shuffle.as_ref(),
            max_queries: self.max_queries.map(|most| most as usize),
            retry_failed: self.retry_failed,
            one_at_a_time: self.one_at_a_time,
            long_documents: LongDocuments {
                chars: self.max_document_chars.map(|chars| chars as usize),
                refuse: self.refuse_long,
            },
        };
        let prepared = prepare(&store, &judges, &choice, &scope)?;
        let how = RankingTerms {
            spending: &self.spending,
            json: self.json,
            noun: "ranking",
            unattended: false,
        };
        #[cfg(feature = "remote")]
        if let (true, Some(lock)) = (self.sharing.is_set(), &lock) {
            let Some(allowed) = how.allow(context, &store, prepared)? else {
                return Ok(());
            };
            let rankings = SharedRankings::new(allowed.plan, allowed.ensemble, &allowed.estimates);
            return self.sharing.share(SharedCommand {
                store,
                lock: Arc::clone(lock),
                questions: Arc::new(rankings),
                control: allowed.control,
                dataset: self.dataset.as_deref(),
                json: self.json,
            });
        }
        let Some(made) = how.carry_out(context, &store, prepared)? else {
            return Ok(());
        };
        drop(lock);
        if self.json {
            let methods: Vec<_> = made.summary.iter().map(MethodSummary::json).collect();
            output::json(&json!({
                "queries": made.plan.queries(),
                "calls_made": made.calls,
                "spent": made.spend,
                "methods": methods,
                "warnings": made.notes,
            }))?;
        } else {
            output::text(&table(&made.summary))?;
            output::message("`overrule methods` measures them against labels, rulings or zELO");
        }
        made.finish()
    }
}

fn table(summary: &[MethodSummary]) -> String {
    let header = [
        "method",
        ">ranked",
        ">failed",
        ">calls",
        ">shared",
        ">failed calls",
        ">repairs",
        ">cut",
        ">tokens",
        ">cost",
        ">median ms a query",
    ];
    let rows = summary.iter().map(|one| {
        let effort = &one.effort;
        vec![
            clean(&one.method),
            one.ranked().to_string(),
            effort.failed.to_string(),
            effort.calls.to_string(),
            or_dash(effort.shared_calls, |calls| calls.to_string()),
            effort.failed_calls.to_string(),
            effort.repairs.to_string(),
            effort.truncated.to_string(),
            (effort.tokens_in + effort.tokens_out).to_string(),
            usd(one.cost_usd()),
            effort
                .wall_p50_ms
                .map_or_else(|| "–".to_owned(), |ms| ms.to_string()),
        ]
    });
    output::table(&header, &rows.collect::<Vec<_>>())
}
