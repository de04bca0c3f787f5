//! `overrule rerank`: methods put the candidates of queries in order.

mod watch;

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, clean};
use super::spending::{confirm_spending, usd};
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::import::datasets;
use crate::app::rerank::estimate::{CallVolume, MethodEstimate};
use crate::app::rerank::{MethodChoice, PreparedRun, RerankPlan, RerankScope, prepare};
use crate::app::run_lock::RunLock;
use crate::app::wording::counted;
use crate::client::RunControl;
use crate::domain::methods::MethodRow;
use crate::domain::reranking::{Method, MethodOptions, Shuffle};
use crate::judge::{OFFLINE_LABEL, provider};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "A method puts a query's first N candidates in order (NAME@N); the rest follow in their old order. Methods:
  rankgpt@20:w20:s10   a judge orders windows of w candidates that move up by s (RankGPT)
  prp@20:p3            a judge compares neighbours in both orders, p passes (PRP-Sliding)
  tourrank@20:r2       a judge selects the best of groups, r tournaments (TourRank)
  setwise@20:c3        a judge names the best of c candidates, sorted as a heap (Setwise)
  pointwise@20:grade   a judge grades each candidate 0 to 3; :yesno asks for yes or no
  zelo@20:b2           judges fight battles where they tell most, b calls a candidate, then Bradley-Terry
  NAME@100             a [[reranker]] of overrule.toml (a service or a program of yours), a ranking of the project, or a run file
  original             the first-stage order

A judge's answer that breaks the rules is asked for once more and then mended: what is no candidate and what comes twice is
dropped, what is missing follows in its old order. Every repair is counted. With :strict (rankgpt@20:strict) it fails that
query instead. One query's failure never ends the run.

Every answer is in the project before it counts. Run the same command again to go on where it stopped: what has been
answered is not asked again, also not for another method that asks the same. `overrule methods` compares the methods.

Examples:
  overrule rerank --method rankgpt@20 --method prp@20:p3 --judges bm25
  overrule rerank --method tourrank@20:r2 --method zelo@20:b2 --judges gpt --budget 5
  overrule rerank --method cohere@100 --candidates colbert.trec --dry-run"
)]
pub(super) struct RerankCommand {
    /// A dataset to bring into the project first [default: the queries that the project holds]
    dataset: Option<PathBuf>,
    /// A method, repeatable
    #[arg(long = "method", value_name = "METHOD", required = true)]
    methods: Vec<Method>,
    /// Candidates in their first-stage order: a run, or lines of query and document [default: the project's pools]
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,
    /// Only this query, repeatable
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Judges by name; each is asked by each method, and zelo asks them together [default: the first that is there; zelo: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Seed of tourrank's groups and of zelo's pairs [default: the configured one]
    #[arg(long)]
    seed: Option<u64>,
    /// Shuffles of tourrank: seeded, or as ranksmith's CPython generator does them
    #[arg(long, value_name = "RNG", default_value = "seeded")]
    rng: Shuffle,
    /// Also try queries again that failed
    #[arg(long)]
    retry_failed: bool,
    /// Calls in flight of each judge or reranker at most
    #[arg(long)]
    concurrency: Option<usize>,
    /// Dollars that the project may have spent in all; a run that reaches them ends with exit code 3
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// Do not ask before money is spent
    #[arg(long)]
    yes: bool,
    /// Let keys travel unencrypted to other machines
    #[arg(long)]
    insecure_http: bool,
    /// Say what would be asked and what it would cost, and stop
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RerankCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let exists = context.project().exists();
        if !exists && self.dataset.is_none() {
            // Says what is missing and how to get it.
            context.open()?;
        }
        if self.dry_run && !exists {
            return Err(usage!(
                "--dry-run: there is no project yet; import the dataset first (`overrule import FILE` calls nobody)"
            ));
        }
        let store = match self.dry_run {
            true => context.open()?,
            false => context.open_or_create()?,
        };
        // What another run is buying must not be planned here too.
        let _lock = match self.dry_run {
            true => None,
            false => Some(RunLock::take(context.project())?),
        };
        if let (Some(path), false) = (&self.dataset, self.dry_run) {
            datasets::check(path, false)?.import(&store)?;
        }
        let judges = context.judges(self.insecure_http);
        let choice = MethodChoice {
            methods: &self.methods,
            judges: &self.judges,
            options: MethodOptions { shuffle: self.rng },
            seed: self.seed.unwrap_or(context.config.run.seed),
        };
        let scope = RerankScope {
            queries: &self.query,
            candidates: self.candidates.as_deref(),
            retry_failed: self.retry_failed,
        };
        let prepared = prepare(&store, &judges, &choice, &scope)?;
        for note in &prepared.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        if let Some(budget) = self.budget {
            check_budget(budget, &prepared.ensemble)?;
        }
        let PreparedRun {
            plan,
            notes,
            ensemble,
            offline,
        } = prepared;
        let paid = plan.asks_servers()
            && (ensemble.iter().any(|judge| is_paid(judge.as_ref())) || plan.asks_rerankers());
        let estimates = match self.dry_run || paid {
            true => MethodEstimate::of(&store, &plan)?,
            false => Vec::new(),
        };
        if self.dry_run {
            return self.print_estimate(&plan, &estimates, &notes);
        }
        if offline {
            output::message(OFFLINE_LABEL);
        }
        if paid && plan.rankings() > 0 {
            confirm_spending(&describe(&plan, &estimates), self.yes)?;
        }
        let concurrency = self.concurrency.unwrap_or(context.config.run.concurrency);
        let control = RunControl {
            concurrency: concurrency.max(1),
            budget_usd: self.budget,
            ..RunControl::default()
        };
        let plan = Arc::new(plan);
        let ended = watch::watch(&plan, control, &store)?;
        let rows = plan.results(&store)?;
        let summary: Vec<MethodSummary> = plan
            .method_names()
            .map(|name| MethodSummary::new(name, plan.queries(), &rows))
            .collect();
        if self.json {
            let methods: Vec<_> = summary.iter().map(MethodSummary::json).collect();
            output::json(
                &json!({"queries": plan.queries(), "methods": methods, "warnings": notes}),
            )?;
        } else {
            output::text(&table(&summary))?;
            output::message("`overrule methods` measures them against labels, rulings or zELO");
        }
        let missing = summary
            .iter()
            .map(|one| plan.queries() - one.ranked - one.failed)
            .sum();
        let failed = summary.iter().map(|one| one.failed).sum();
        finish(missing, failed, ended, &summary)
    }

    fn print_estimate(
        &self,
        plan: &RerankPlan,
        estimates: &[MethodEstimate],
        notes: &[String],
    ) -> CommandResult {
        if self.json {
            return output::json(&json!({
                "queries": plan.queries(),
                "rankings": plan.rankings(),
                "already": plan.already,
                "methods": estimates,
                "warnings": notes,
            }));
        }
        output::text(&describe(plan, estimates))?;
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

/// Says what is left to do, and ends accordingly.
fn finish(
    missing: usize,
    failed: usize,
    ended: watch::RerankRunEnd,
    summary: &[MethodSummary],
) -> CommandResult {
    for one in summary.iter().filter(|one| one.failed > 0) {
        let (queries, why) = (counted(one.failed, "query"), one.first_failure.as_deref());
        let why = clean(why.unwrap_or_default());
        output::message(&format!(
            "{}: {queries} failed, the first one with: {why}",
            clean(&one.method)
        ));
    }
    let rankings = counted(missing, "ranking");
    if ended.interrupted && missing > 0 {
        output::message(&format!(
            "stopped; {rankings} missing, and the same command goes on"
        ));
        return Err(CommandFailure::interrupted());
    }
    output::message(&match (missing, failed) {
        (0, 0) => return Ok(()),
        (0, _) => "failed queries are tried again with --retry-failed".to_owned(),
        _ if ended.budget_reached => {
            format!("missing: {rankings}; the budget is reached; go on with a larger --budget")
        }
        _ => format!("missing: {rankings}; run the same command again"),
    });
    Err(CommandFailure::incomplete())
}

/// What the plan would need.
fn describe(plan: &RerankPlan, estimates: &[MethodEstimate]) -> String {
    let mut text = format!(
        "{}, {} to make, {} there already\n",
        counted(plan.queries(), "query"),
        counted(plan.rankings(), "ranking"),
        counted(plan.already, "ranking"),
    );
    let header = [
        "method",
        ">queries",
        ">calls at least",
        ">expected",
        ">at most",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">at least",
        ">expected",
        ">at most",
    ];
    let rows = estimates.iter().map(|estimate| {
        let calls = |volume: &CallVolume| format!("{:.0}", volume.calls);
        vec![
            clean(&estimate.method),
            estimate.queries.to_string(),
            calls(&estimate.least),
            calls(&estimate.expected),
            calls(&estimate.most),
            format!("{:.0}", estimate.expected.tokens_input),
            format!("{:.0}", estimate.expected.tokens_output),
            usd(estimate.least.usd),
            usd(estimate.expected.usd),
            usd(estimate.most.usd),
        ]
    });
    text.push_str(&output::table(&header, &rows.collect::<Vec<_>>()));
    if let Some(fewest) = estimates
        .iter()
        .filter(|estimate| estimate.measured < estimate.queries)
        .map(|estimate| estimate.measured)
        .min()
    {
        text.push_str(&format!(
            "Measured on {} of each method, played on simulated answers; at most: each call asked twice at its worst price.\n",
            counted(fewest, "query")
        ));
    }
    if plan.asks_servers() {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

/// How a method did.
struct MethodSummary {
    method: String,
    ranked: usize,
    failed: usize,
    first_failure: Option<String>,
    calls: u64,
    failed_calls: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    repairs: u64,
    truncated: u64,
    wall_ms: Vec<f64>,
}

impl MethodSummary {
    fn new(method: &str, queries: usize, rows: &[MethodRow]) -> Self {
        let own: Vec<&MethodRow> = rows
            .iter()
            .filter(|row| row.method == method)
            .take(queries)
            .collect();
        let sum = |of: fn(&MethodRow) -> u64| own.iter().map(|row| of(row)).sum();
        Self {
            method: method.to_owned(),
            ranked: own.iter().filter(|row| row.failure.is_none()).count(),
            failed: own.iter().filter(|row| row.failure.is_some()).count(),
            first_failure: own.iter().find_map(|row| row.failure.clone()),
            calls: sum(|row| row.calls),
            failed_calls: sum(|row| row.failed_calls),
            tokens: sum(|row| row.tokens_in + row.tokens_out),
            cost_usd: own
                .iter()
                .try_fold(0.0, |sum, row| row.cost_usd.map(|usd| sum + usd)),
            repairs: sum(|row| row.repairs),
            truncated: sum(|row| row.truncated),
            wall_ms: own
                .iter()
                .filter_map(|row| row.wall_ms)
                .map(|ms| ms as f64)
                .collect(),
        }
    }

    /// By nearest rank; `None` where every query had answers from before.
    fn median_ms(&self) -> Option<f64> {
        let mut sorted = self.wall_ms.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
            .get(sorted.len().div_ceil(2).saturating_sub(1))
            .copied()
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "method": self.method,
            "ranked": self.ranked,
            "failed": self.failed,
            "first_failure": self.first_failure,
            "calls": self.calls,
            "failed_calls": self.failed_calls,
            "tokens": self.tokens,
            "cost_usd": self.cost_usd,
            "repairs": self.repairs,
            "truncated_documents": self.truncated,
            "median_ms": self.median_ms(),
        })
    }
}

fn table(summary: &[MethodSummary]) -> String {
    let header = [
        "method",
        ">ranked",
        ">failed",
        ">calls",
        ">failed calls",
        ">repairs",
        ">tokens",
        ">cost",
        ">median ms a query",
    ];
    let rows = summary.iter().map(|one| {
        vec![
            clean(&one.method),
            one.ranked.to_string(),
            one.failed.to_string(),
            one.calls.to_string(),
            one.failed_calls.to_string(),
            one.repairs.to_string(),
            one.tokens.to_string(),
            usd(one.cost_usd),
            one.median_ms()
                .map_or_else(|| "–".to_owned(), |ms| format!("{ms:.0}")),
        ]
    });
    output::table(&header, &rows.collect::<Vec<_>>())
}
