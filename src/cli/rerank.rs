//! `overrule rerank`: methods put the candidates of queries in order.

mod watch;

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, clean};
use super::signals::RunEnd;
use super::spending::{confirm_spending, usd};
use crate::app::choose_judges::is_paid;
use crate::app::import::datasets;
use crate::app::rerank::estimate::{CallVolume, MethodEstimate};
use crate::app::rerank::{MethodChoice, PreparedRun, RerankPlan, RerankScope, prepare};
use crate::app::run_lock::RunLock;
use crate::app::wording::counted;
use crate::client::RunControl;
use crate::domain::methods::{MethodEffort, MethodRow};
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
  overrule rerank in.jsonl --method rankgpt@20    the queries of in.jsonl only, whatever else the project holds
  overrule rerank --method tourrank@20:r2 --method zelo@20:b2 --judges gpt --budget 5
  overrule rerank --method cohere@100 --candidates colbert.trec --dry-run"
)]
pub(super) struct RerankCommand {
    /// Rank the queries of this dataset only, and bring it into the project first [default: all queries of the project]
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
    /// Rank one query after the other: slower, but p50 and p95 are then the method's own, without waiting for other queries
    #[arg(long)]
    one_at_a_time: bool,
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
        let dataset = match &self.dataset {
            None => None,
            Some(path) => {
                let dataset = datasets::check(path, false)?.with_queries(&self.query)?;
                Some(match self.dry_run {
                    true => dataset.keys(&store, "--dry-run")?,
                    false => dataset.import(&store)?.keys,
                })
            }
        };
        let judges = context.judges(self.insecure_http);
        let choice = MethodChoice {
            methods: &self.methods,
            judges: &self.judges,
            options: MethodOptions { shuffle: self.rng },
            seed: self.seed.unwrap_or(context.config.run.seed),
        };
        let scope = RerankScope {
            dataset: dataset.as_deref(),
            queries: &self.query,
            candidates: self.candidates.as_deref(),
            retry_failed: self.retry_failed,
            one_at_a_time: self.one_at_a_time,
        };
        let prepared = prepare(&store, &judges, &choice, &scope)?;
        for note in &prepared.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        if let Some(budget) = self.budget {
            prepared.check_budget(budget)?;
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
            .map(|name| MethodSummary::new(name, &rows))
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
            .map(|one| plan.queries() - one.effort.queries)
            .sum();
        let failed = summary.iter().map(|one| one.effort.failed).sum();
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
    ended: RunEnd,
    summary: &[MethodSummary],
) -> CommandResult {
    for one in summary.iter().filter(|one| one.effort.failed > 0) {
        let queries = counted(one.effort.failed, "query");
        let why = one.first_failure.as_deref();
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

/// How a method did on the plan's queries.
struct MethodSummary {
    method: String,
    effort: MethodEffort,
    first_failure: Option<String>,
}

impl MethodSummary {
    fn new(method: &str, rows: &[MethodRow]) -> Self {
        let own = || rows.iter().filter(|row| row.method == method);
        Self {
            method: method.to_owned(),
            effort: MethodEffort::of(own()),
            first_failure: own().find_map(|row| row.failure.clone()),
        }
    }

    fn ranked(&self) -> usize {
        self.effort.queries - self.effort.failed
    }

    /// Of all queries with a result; `None` where the price of one is not known.
    fn cost_usd(&self) -> Option<f64> {
        (self.effort.priced == self.effort.queries).then_some(self.effort.cost_usd)
    }

    fn json(&self) -> serde_json::Value {
        let effort = &self.effort;
        json!({
            "method": self.method,
            "ranked": self.ranked(),
            "failed": effort.failed,
            "first_failure": self.first_failure,
            "calls": effort.calls,
            "failed_calls": effort.failed_calls,
            "tokens": effort.tokens_in + effort.tokens_out,
            "cost_usd": self.cost_usd(),
            "repairs": effort.repairs,
            "truncated_documents": effort.truncated,
            "median_ms": effort.wall_p50_ms,
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
        let effort = &one.effort;
        vec![
            clean(&one.method),
            one.ranked().to_string(),
            effort.failed.to_string(),
            effort.calls.to_string(),
            effort.failed_calls.to_string(),
            effort.repairs.to_string(),
            (effort.tokens_in + effort.tokens_out).to_string(),
            usd(one.cost_usd()),
            effort
                .wall_p50_ms
                .map_or_else(|| "–".to_owned(), |ms| ms.to_string()),
        ]
    });
    output::table(&header, &rows.collect::<Vec<_>>())
}
