//! `overrule annotate`: reads a dataset and writes zELO scores, without the workbench.

pub(crate) mod batch;
pub(crate) mod cost;
mod pair;
mod sample;
mod sampling_options;
pub(crate) mod watch;

use super::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use super::export::member;
use super::output;
use super::spending::{SpendingOptions, confirm_spending};
use crate::app::annotate::estimate::{CostEstimate, PoolOutline};
use crate::app::annotate::judge_history::JudgeHistory;
use crate::app::annotate::{RunOutcome, RunRequest};
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::export::{
    UnscoredDocuments, check_members, member_names, write_ai_scores, write_annotated,
};
use crate::app::import::datasets;
use crate::app::output_file::{JSON, JSON_LINES, check_ending, output_name, write_whole};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::client::RunControl;
use crate::domain::number_words::{self, count};
use crate::domain::sampling::Shard;
use crate::judge::{JudgeEnsemble, PoolText, PresentedPair};
use crate::registry::{self, AddedRunOptions};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Votes are stored as they arrive. Run the same command again to resume; nothing \
                  that has been judged is asked again.

Examples:
  overrule annotate in.jsonl out.jsonl
  overrule annotate in.jsonl --dry-run    only print the calls and their cost
  overrule annotate in.jsonl out.jsonl --cycles 6 --document-limit 50
  overrule annotate in.jsonl out.jsonl --ai-scores ai_scores.json    also write the votes, as \
  zBench does
  overrule annotate in.jsonl out.jsonl --batch    half the price, within a day; run it again to \
  fetch
  overrule annotate in.jsonl out.jsonl --sampler top --judging escalate --battles 2    better top \
  ranks with half the calls
  overrule annotate in.jsonl out.jsonl --sampler swiss    for scores used as training targets
  overrule annotate in.jsonl out.jsonl --lists 5 --dry-run    five documents per call, not pairs
  overrule --project shard-3.db annotate in.jsonl --shard 3/16    one of sixteen machines
  overrule annotate --pair scifact-641 24159217 38752049    one pair of the project
  overrule annotate --sample new.jsonl    the pairs of `overrule student sample --plan`

`overrule lab sampler` compares samplers in simulation. The defaults of --cycles, --seed,
--concurrency, --sampler, --judging, --focus, --round and --budget are set in the section [run] of
the configuration (`overrule config default`)."
)]
pub(super) struct AnnotateCommand {
    /// Dataset of queries with documents (JSON lines in zBench's format)
    #[arg(required_unless_present_any = ["pair", "sample"])]
    dataset: Option<PathBuf>,
    /// Output file, or - for stdout [default: DATASET with _annotated before the extension]
    out: Option<PathBuf>,
    /// Number of random cycles per query; each cycle gives every document two battles
    #[arg(
        long,
        visible_alias = "cycle-num",
        visible_alias = "cycle_num",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    cycles: Option<u16>,
    /// Judge only the first N documents of each query; the others are written with the score of a
    /// document without battles
    #[arg(
        long,
        visible_aliases = ["document_limit", "document-threshold", "document_threshold"],
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    document_limit: Option<u32>,
    /// Also write the battles with every vote, as zBench's ai_scores.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pair", "sample"])]
    ai_scores: Option<PathBuf>,
    /// For --ai-scores: which judges are openai, gemini and anthropic [default: by provider, if
    /// each has one judge]
    #[arg(
        long = "as",
        value_name = "MEMBER=JUDGE",
        value_delimiter = ',',
        value_parser = member,
        requires = "ai_scores"
    )]
    members: Vec<(String, String)>,
    /// Judge only this query (repeatable)
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Judge only the queries of one of several shards, such as 3/16: several machines share the
    /// work. --budget, --probe and --max-calls are for all shards together
    #[arg(long, value_name = "N/SHARDS", conflicts_with_all = ["pair", "sample", "query"])]
    shard: Option<Shard>,
    /// Judge only this pair of a query, at most once in each order
    #[arg(long, num_args = 3, value_names = ["QUERY", "A", "B"], conflicts_with_all = ["dataset", "out", "query", "cycles", "document_limit", "skip_bad", "keep_unscored", "batch", "probe", "measure", "sampler", "seed"])]
    pair: Option<Vec<String>>,
    /// Judge only the pairs planned by `overrule student sample --plan`; writes no file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pair", "dataset", "out", "query", "cycles", "document_limit", "skip_bad", "keep_unscored", "probe", "measure", "sampler", "seed"])]
    sample: Option<PathBuf>,
    /// Judges to use [default: those of overrule.toml, or the offline judges]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Random seed
    #[arg(long)]
    seed: Option<u64>,
    /// Retry failed calls
    #[arg(long)]
    retry_failed: bool,
    /// Skip invalid lines
    #[arg(long)]
    skip_bad: bool,
    /// Also write documents without a score, as "score":null (zBench rejects such files)
    #[arg(long)]
    keep_unscored: bool,
    /// Use the batch endpoints of the providers: half the price, answers within a day
    #[arg(long)]
    batch: bool,
    /// Maximum number of pairs shown to each language model in both orders, at most one per 50
    /// calls; 0 for none
    #[arg(long, value_name = "PAIRS")]
    probe: Option<usize>,
    /// Stop if the model behind a judge changes
    #[arg(long, conflicts_with = "batch")]
    pin_model: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// With --dry-run, time each judge with one call, even if it costs money
    #[arg(long, requires = "dry_run")]
    measure: bool,
    /// Print JSON: one event per line (one object with --lists), or the estimate with --dry-run
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sampling: sampling_options::SamplingOptions,
    #[command(flatten)]
    added: AddedRunOptions,
}

/// A run that a feature shares with other machines.
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "for work that is shared")
)]
pub(crate) struct SharedWork<'a> {
    pub(crate) dataset: &'a datasets::CheckedDataset,
    /// The file of the dataset.
    pub(crate) path: &'a Path,
    pub(crate) lock: Arc<RunLock>,
    pub(crate) store: Store,
    pub(crate) ensemble: JudgeEnsemble,
    pub(crate) request: RunRequest,
    /// With the budget of all machines together.
    pub(crate) control: RunControl,
    /// The maximum cost of a call in dollars, if known.
    pub(crate) worst_usd: Option<f64>,
    pub(crate) json: bool,
}

/// A dataset about which a feature asks judges.
pub(crate) struct AskedDataset<'a> {
    pub(crate) dataset: datasets::CheckedDataset,
    /// The file of the dataset.
    pub(crate) path: &'a Path,
    /// The file for the scores.
    pub(crate) out: PathBuf,
    /// Whether documents without a score are written too.
    pub(crate) keep_unscored: bool,
    /// Names of judges; all that can answer if empty.
    pub(crate) judges: &'a [String],
    pub(crate) seed: u64,
    pub(crate) spending: &'a SpendingOptions,
    /// Whether to submit the calls to batch endpoints.
    pub(crate) batch: bool,
    pub(crate) json: bool,
}

impl AskedDataset<'_> {
    /// Reports that the scores were written.
    pub(crate) fn report_written(&self, unscored: UnscoredDocuments) {
        let written = WrittenFiles {
            annotated: &self.out,
            unscored,
            keep: self.keep_unscored,
            ai_scores: None,
            warning: None,
        };
        written.report();
    }
}

impl AnnotateCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match (&self.pair, &self.sample, &self.dataset) {
            (Some(pair), ..) => self.ask_about_pair(context, pair),
            (None, Some(sample), _) => self.judge_sample(context, sample),
            (None, None, Some(dataset)) => self.annotate(context, dataset),
            (None, None, None) => Err(usage!("expected a DATASET, --pair or --sample")),
        }
    }

    fn annotate(&self, context: &CommandContext, path: &Path) -> CommandResult {
        if self.added.asks_otherwise() {
            return self.ask_otherwise(context, path);
        }
        let chosen = context
            .judges(self.spending.insecure_http)
            .choose(&self.judges)?;
        let dataset = datasets::check(path, self.skip_bad)?.with_queries(&self.query)?;
        chosen.notes.iter().for_each(|note| output::message(note));
        let ensemble = chosen.ensemble;
        output::problems(&dataset.problems);
        let usual = &context.config.run;
        let probe = self.probe.unwrap_or(usual.probe);
        let request = RunRequest {
            queries: None,
            seed: self.seed.unwrap_or(usual.seed),
            cycles: self.cycles.map_or(usual.cycles, usize::from),
            campaign: None,
            depth: self.document_limit.map(|limit| limit as usize),
            selection: if self.retry_failed {
                CallSelection::FreshAndFailed
            } else {
                CallSelection::Fresh
            },
            probe: self.shard.map_or(probe, |shard| shard.share(probe)),
            at_most: self.batch.then_some(1),
            pair: None,
            listed: None,
            pin_model: self.pin_model,
        };
        // Calls per document are the same as without shards.
        let campaign = self.sampling.plan(&dataset, &ensemble, &request, usual)?;
        let dataset = dataset.with_shard(self.shard);
        if campaign.is_some_and(|campaign| campaign.student) {
            let project = context.has_project().then(|| context.open());
            let named = match project.transpose()? {
                Some(store) => store.read_blocking(|db| registry::named_opinion(db))?,
                None => None,
            };
            if named.is_none() {
                return Err(usage!(
                    "--prior student: the project has no student; set one with `overrule config \
                     project --student NAME`"
                ));
            }
        }
        if self.batch {
            sampling_options::check_batch(campaign.as_ref())?;
            batch::check(&ensemble)?;
        }
        let request = RunRequest {
            campaign,
            ..request
        };
        let estimate = || -> Result<CostEstimate, CommandFailure> {
            let project = context.has_project().then(|| context.open());
            let project = project.transpose()?;
            if let Some(project) = &project {
                dataset.refuse_edited(project)?;
            }
            let outlines: Vec<PoolOutline> = dataset.pools()?.map(|pool| (&pool).into()).collect();
            let mut estimate = CostEstimate::of_pools(
                dataset.pools()?,
                &outlines,
                &ensemble,
                &request,
                project.as_ref(),
                self.batch,
            )?;
            if let Some(project) = &project {
                estimate.recall_times(project)?;
            }
            Ok(estimate)
        };
        if self.spending.dry_run {
            let mut estimate = estimate()?;
            self.measure(&dataset, &ensemble, &mut estimate)?;
            if self.json {
                return output::json(&estimate);
            }
            output::text(&cost::describe(&estimate, &ensemble))?;
            return output::text(&cost::describe_test_calls(estimate.test_calls));
        }
        let project = context.has_project().then(|| context.open());
        let project = project.transpose()?;
        let budget = self.spending.budget(context, project.as_ref())?;
        let budget = self.part_of_shard(budget);
        if let Some(budget) = budget {
            check_budget(budget, &ensemble)?;
        }
        let out = self.annotated_file(path);
        let printing = option_set(&[(self.json, "--json")]);
        if !self.added.is_shared() {
            context.check_targets([out.as_path()], &[("dataset", path)], printing)?;
            check_ending(&out, &[JSON_LINES])?;
        }
        if let Some(ai_scores) = &self.ai_scores {
            let inputs = [("dataset", path), ("annotated file", out.as_path())];
            context.check_targets([ai_scores.as_path()], &inputs, printing)?;
            check_ending(ai_scores, &[JSON])?;
            check_members(&ensemble, &self.members)?;
        }
        // Held while the question is open and during the run, so that no other run can start in
        // between.
        let lock = Arc::new(RunLock::take(context.project())?);
        let estimate = ensemble
            .iter()
            .any(|judge| is_paid(judge.as_ref()))
            .then(estimate)
            .transpose()?;
        let with_calls = estimate.filter(|estimate| estimate.calls() > 0);
        if let Some(estimate) = &with_calls {
            confirm_spending(&cost::describe(estimate, &ensemble), self.spending.yes)?;
        }
        let store = context.open_or_create()?;
        // The confirmed price was shown with the same lines.
        if with_calls.is_none() {
            let ids: Vec<String> = dataset.query_ids().map(str::to_owned).collect();
            let queries = store.read_blocking(move |db| db.known_queries(&ids))?;
            confirm_history(&store, &ensemble, Some(queries), self.spending.yes)?;
        }
        let import = dataset.import(&store)?;
        let left_out = (import.skipped > 0)
            .then(|| format!("skipped {}", counted(import.skipped, "invalid line")));
        for words in left_out.into_iter().chain(import.updated()) {
            output::message(&format!("{}: {words}", path.display()));
        }
        let request = RunRequest {
            queries: Some(import.keys.clone()),
            ..request
        };
        let control = self.spending.control(context, budget, &ensemble);
        if self.added.is_shared() {
            let run = SharedWork {
                dataset: &dataset,
                path,
                lock,
                store,
                ensemble,
                request,
                control,
                worst_usd: with_calls.as_ref().and_then(CostEstimate::worst_call_usd),
                json: self.json,
            };
            return self.added.share(run);
        }
        let (request, budget_reached) =
            self.hand_over(&lock, &store, &ensemble, request, control)?;
        let (keep, limit) = (self.keep_unscored, request.depth);
        let finish = {
            let (store, out) = (store.clone(), out.clone());
            let (ai_scores, members) = (self.ai_scores.clone(), self.members.clone());
            move |written: watch::WrittenSender| {
                let unscored = write_whole(&out, |file| {
                    write_annotated(&store, &import.keys, limit, keep, file, |queries| {
                        written.send_replace(queries);
                    })
                })?;
                let Some(ai_scores) = ai_scores else {
                    return Ok((unscored, None));
                };
                let (members, warning) = member_names(&store, &import.keys, &members)?;
                write_whole(&ai_scores, |file| {
                    write_ai_scores(&store, &import.keys, &members, file)
                })?;
                Ok((unscored, warning))
            }
        };
        let (outcome, (unscored, warning)) =
            watch::watch(&lock, &store, ensemble, request, control, self.json, finish)?;
        let written = WrittenFiles {
            annotated: &out,
            unscored,
            keep,
            ai_scores: self.ai_scores.as_deref(),
            warning,
        };
        finish_run(&outcome, budget_reached, Some(&written))
    }
}

impl AnnotateCommand {
    /// The file for the scores.
    fn annotated_file(&self, dataset: &Path) -> PathBuf {
        let default = || match self.shard {
            None => sibling_file(dataset, "annotated"),
            Some(shard) => sibling_file(dataset, &format!("annotated-{}", shard.file_suffix())),
        };
        self.out.clone().unwrap_or_else(default)
    }

    /// Leaves the dataset to a feature, which asks about something other than pairs.
    fn ask_otherwise(&self, context: &CommandContext, path: &Path) -> CommandResult {
        let dataset = datasets::check(path, self.skip_bad)?.with_queries(&self.query)?;
        output::problems(&dataset.problems);
        let out = self.annotated_file(path);
        let printing = option_set(&[(self.json, "--json")]);
        context.check_targets([out.as_path()], &[("dataset", path)], printing)?;
        check_ending(&out, &[JSON_LINES])?;
        let asked = AskedDataset {
            dataset,
            path,
            out,
            keep_unscored: self.keep_unscored,
            judges: &self.judges,
            seed: self.seed.unwrap_or(context.config.run.seed),
            spending: &self.spending,
            batch: self.batch,
            json: self.json,
        };
        self.added.ask(context, &asked)
    }

    /// The part of the budget that this run may spend.
    fn part_of_shard(&self, budget: Option<f64>) -> Option<f64> {
        let (Some(shard), Some(total)) = (self.shard, budget) else {
            return budget;
        };
        let part = shard.part(total);
        output::message(&format!(
            "budget of all shards {}: shard {shard} may spend {}",
            number_words::usd(total),
            number_words::usd(part)
        ));
        Some(part)
    }

    /// Makes a test call to judges with unknown latency, if it is free or requested.
    fn measure(
        &self,
        dataset: &datasets::CheckedDataset,
        ensemble: &JudgeEnsemble,
        estimate: &mut CostEstimate,
    ) -> CommandResult {
        let mut pools = dataset.pools()?.filter(|pool| pool.documents.len() > 1);
        let Some(pool) = pools.next().filter(|_| !self.batch) else {
            return Ok(());
        };
        let documents = pool.documents.iter().take(2);
        let case = PresentedPair {
            pool: Arc::new(PoolText::of_documents(&pool.query, documents)),
            first: 0,
            second: 1,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(estimate.measure(ensemble, &case, self.measure));
        Ok(())
    }
}

impl AnnotateCommand {
    /// Submits what it can to batches, if requested. Returns the request for the remaining single
    /// calls, and whether the budget was reached.
    fn hand_over(
        &self,
        lock: &Arc<RunLock>,
        store: &Store,
        ensemble: &JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
    ) -> Result<(RunRequest, bool), CommandFailure> {
        if !self.batch {
            return Ok((request, false));
        }
        let budget_reached = batch::run(lock, store, ensemble, &request, control, self.json)?;
        // Calls that batches cannot make have already been made.
        let at_most = Some(0);
        Ok((RunRequest { at_most, ..request }, budget_reached))
    }
}

/// Reports earlier votes of the judges, and asks for confirmation if votes of other judges will be
/// set aside.
fn confirm_history(
    store: &Store,
    ensemble: &JudgeEnsemble,
    queries: Option<Vec<QueryKey>>,
    yes: bool,
) -> CommandResult {
    let history = JudgeHistory::of(store, ensemble, queries)?;
    if history.set_aside.is_empty() {
        history
            .lines()
            .iter()
            .for_each(|line| output::message(line));
        return Ok(());
    }
    confirm_spending(&history.lines().join("\n"), yes)
}

/// The files of a run.
struct WrittenFiles<'a> {
    annotated: &'a Path,
    unscored: UnscoredDocuments,
    /// Whether documents without a score are in the annotated file.
    keep: bool,
    ai_scores: Option<&'a Path>,
    /// Why zBench cannot read the votes.
    warning: Option<String>,
}

impl WrittenFiles<'_> {
    fn report(&self) {
        let UnscoredDocuments {
            left_out,
            past_limit,
        } = self.unscored;
        if past_limit > 0 {
            output::message(&format!(
                "{} past the limit: written with the score of a document without battles",
                counted(past_limit, "document")
            ));
        }
        if left_out > 0 {
            let how = if self.keep {
                "written with \"score\":null"
            } else {
                "skipped"
            };
            let documents = counted(left_out, "document");
            output::message(&format!("{documents} without a vote: {how}"));
        }
        output::wrote(self.annotated);
        if let Some(warning) = &self.warning {
            output::message(&format!("warning: {warning}"));
        }
        if let Some(ai_scores) = self.ai_scores {
            output::wrote(ai_scores);
        }
    }
}

/// Runs judges on queries of the project, without writing a file. `lock` was taken before the price
/// was shown.
pub(crate) fn run_on_project(
    lock: &Arc<RunLock>,
    store: &Store,
    ensemble: JudgeEnsemble,
    request: RunRequest,
    control: RunControl,
    json: bool,
) -> CommandResult {
    let (outcome, ()) = watch::watch(lock, store, ensemble, request, control, json, |_| Ok(()))?;
    finish_run(&outcome, false, None)
}

/// Reports what was written and what is missing, and returns the corresponding result.
fn finish_run(
    outcome: &RunOutcome,
    budget_reached: bool,
    written: Option<&WrittenFiles<'_>>,
) -> CommandResult {
    let out = written.map(|written| written.annotated);
    if outcome.cancelled {
        let left = outcome.missing.map_or(String::new(), |votes| {
            format!("; {} votes are missing", count(votes))
        });
        output::message(&format!(
            "stopped{left}; {}run the same command again to resume",
            out.map_or("", |_| "nothing was written; ")
        ));
        return Err(CommandFailure::interrupted());
    }
    if let Some(change) = &outcome.model_changed {
        let unwritten = out.map(|out| format!("; {} was not written", output_name(out)));
        output::message(&format!(
            "stopped by --pin-model: {change}{}. Without --pin-model the run continues; with \
             another name in overrule.toml the judge starts over",
            unwritten.unwrap_or_default()
        ));
        return Err(CommandFailure::incomplete());
    }
    let over_budget = outcome.budget_reached || budget_reached;
    let failed = outcome.progress.failures();
    if outcome.has_no_vote() {
        let failures = match failed {
            0 => String::new(),
            calls => format!(" ({} failed)", counted(calls, "call")),
        };
        let unwritten = out.map(|out| format!("; {} was not written", output_name(out)));
        let next = match over_budget {
            true => "The budget is reached: continue with a larger --budget",
            false if failed > 0 => {
                "Correct the cause, then run the same command with --retry-failed"
            }
            false => "Run the same command again, with --retry-failed for calls that failed before",
        };
        output::message(&format!(
            "no call succeeded{failures}{}. {next}",
            unwritten.unwrap_or_default()
        ));
        return Err(CommandFailure::incomplete());
    }
    if let Some(written) = written {
        written.report();
    }
    let void = outcome.progress.has_void_judge();
    if void {
        output::message(
            "a judge above does not distinguish the documents: exclude it with --judges, or try \
             a larger model or another \
             prompt; `overrule doctor` asks each judge a question in both orders",
        );
    }
    if outcome.missing == Some(0) {
        return if void {
            Err(CommandFailure::incomplete())
        } else {
            Ok(())
        };
    }
    let votes = outcome.missing.map(|votes| counted(votes, "vote"));
    let why = if over_budget {
        "the budget is reached; continue with a larger --budget"
    } else if failed == 0 {
        "run the same command again, with --retry-failed also for calls that failed before"
    } else {
        "ask again for calls that failed with --retry-failed"
    };
    output::message(&format!(
        "missing: {}; {why}",
        votes.as_deref().unwrap_or("votes")
    ));
    Err(CommandFailure::incomplete())
}

/// `DATASET_what.jsonl` in the dataset's folder.
fn sibling_file(dataset: &Path, what: &str) -> PathBuf {
    let stem = dataset.file_stem().unwrap_or_default().to_string_lossy();
    dataset.with_file_name(format!("{stem}_{what}.jsonl"))
}
