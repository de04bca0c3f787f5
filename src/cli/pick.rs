//! `overrule pick`: judges pick the relevant documents of pools.

mod answers;
mod plan;
mod watch;

use super::choose_judges::{self, is_paid};
use super::{CommandContext, CommandFailure, CommandResult, benchmark, import, output};
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::adjudication::{PickMode, PickRecord};
use crate::domain::corpus::Pool;
use crate::domain::metrics::Qrels;
use crate::domain::sanitise;
use crate::judge::{JudgeEnsemble, OFFLINE_LABEL, provider};
use answers::{PickAnswers, QuestionState};
use anyhow::anyhow;
use clap::Args;
use plan::{PickOptions, PickPlan};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "A judge sees a query and its numbered documents and names exactly as many as are labelled relevant, or, with --open, as
many as it finds relevant, none included. With --per-document it says of every document whether it supports or refutes the
query or has not enough evidence, and copies the sentence that proves it; what supports or refutes is picked.

A wrong number of slots, a slot named twice or one that does not exist, a document without a verdict, a sentence that its
document lacks, and what is not JSON are invalid picks: asked for once more, then counted as invalid, never filled up.

Every answer is in the project as soon as it comes. Run the same command again to go on where it stopped; what has been
answered is not asked again. `overrule adjudication` holds the picks against the labels.

Examples:
  overrule pick
  overrule pick pools.jsonl --judges gpt,bm25 --permutations 2 --budget 5
  overrule pick --open --dry-run
  overrule pick --per-document --judges local"
)]
pub(super) struct PickCommand {
    /// Pools to bring into the project first, and to ask about: any dataset [default: all that the project holds]
    dataset: Option<PathBuf>,
    /// Only this query, repeatable
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Judges by name, in order [default: those of overrule.toml that have a key, else the offline ones]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Let judges pick any number of documents, and do not tell them how many are relevant
    #[arg(long)]
    open: bool,
    /// Let judges give every document a verdict (supports, refutes, not_enough) with the sentence that proves it
    #[arg(long, conflicts_with = "open")]
    per_document: bool,
    /// Ask about so many orders of each pool: its own first, then shuffled ones
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    permutations: u32,
    /// The grade from which on a document is relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Seed of the shuffled orders [default: the configured one]
    #[arg(long)]
    seed: Option<u64>,
    /// Also repeat calls that failed
    #[arg(long)]
    retry_failed: bool,
    /// Calls in flight of each judge at most
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
    /// Say what would be done, and stop
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Pools, their labels, and what judges have picked from them.
#[derive(Default)]
struct PickInputs {
    pools: Vec<Pool>,
    labels: Qrels,
    picks: Vec<PickRecord>,
}

impl PickCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let way = match (self.open, self.per_document) {
            (_, true) => PickMode::PerDocument,
            (true, false) => PickMode::AnyNumber,
            (false, false) => PickMode::Exactly,
        };
        let chosen = choose_judges::choose_pickers(context, &self.judges, way, self.insecure_http)?;
        for note in &chosen.notes {
            output::message(note);
        }
        let ensemble = chosen.ensemble;
        if let Some(budget) = self.budget {
            choose_judges::check_budget(budget, &ensemble)?;
        }
        // What another run is buying must not be planned here too. Where there is no project nobody runs.
        let _lock = match self.dry_run || (self.dataset.is_none() && !context.project().exists()) {
            true => None,
            false => Some(RunLock::take(context.project())?),
        };
        let held = self.held(context)?;
        let pools = self.pools(held)?;
        let mut sheet = PickAnswers::new(pools.picks);
        let options = PickOptions {
            way,
            permutations: self.permutations as usize,
            level: self.level,
            seed: self.seed.unwrap_or(context.config.run.seed),
            retry_failed: self.retry_failed,
        };
        let plan = PickPlan::new(&pools.pools, &pools.labels, &ensemble, &options, &sheet)
            .map_err(|what| {
                let place = self.dataset.as_deref().unwrap_or(context.project());
                CommandFailure::usage(anyhow!("{}: {what}", place.display()))
            })?;
        for note in &plan.notes {
            output::message(&format!("note: {note}"));
        }
        if self.dry_run {
            return self.tell_estimate(&plan);
        }
        if ensemble.iter().any(|judge| judge.spec().is_offline()) {
            output::message(OFFLINE_LABEL);
        }
        let paid = ensemble.iter().any(|judge| is_paid(judge.as_ref()));
        if paid && plan.calls() > 0 {
            choose_judges::confirm_spending(&words(&plan), self.yes)?;
        }
        let store = context.open_or_create()?;
        if let Some(path) = &self.dataset {
            import::checked(path, false)?.take_in(&store)?;
        }
        let control = RunControl {
            concurrency: self
                .concurrency
                .unwrap_or(context.config.run.concurrency)
                .max(1),
            budget_usd: self.budget,
            ..RunControl::default()
        };
        let ended = watch::watch(&plan, &ensemble, control, &store, &mut sheet)?;
        let rows = rows(&plan, &ensemble, &sheet);
        if self.json {
            output::json(&json!({
                "judges": rows,
                "spent_usd": sheet.spent_usd(),
                "warnings": plan.notes,
            }))?;
        } else {
            output::text(&table(&rows))?;
            output::message("`overrule adjudication` holds the picks against the labels");
        }
        let missing: u64 = rows.iter().filter_map(|row| row["missing"].as_u64()).sum();
        let failed: u64 = rows.iter().filter_map(|row| row["failed"].as_u64()).sum();
        if ended.interrupted && missing > 0 {
            let what = output::counted(missing as usize, "answer");
            output::message(&format!(
                "stopped; {what} missing, and the same command goes on"
            ));
            return Err(CommandFailure::interrupted());
        }
        match (missing, failed) {
            (0, 0) => Ok(()),
            (0, failed) => {
                let what = output::counted(failed as usize, "call");
                output::message(&format!(
                    "{what} failed; ask again for them with --retry-failed"
                ));
                Err(CommandFailure::incomplete())
            }
            (missing, _) => {
                let what = output::counted(missing as usize, "answer");
                let why = match ended.broke {
                    true => "the budget is reached; go on with a larger --budget",
                    false => "run the same command again",
                };
                output::message(&format!("missing: {what}; {why}"));
                Err(CommandFailure::incomplete())
            }
        }
    }

    /// What the project holds, or nothing where there is none yet and a dataset is to make one.
    fn held(&self, context: &CommandContext) -> Result<PickInputs, CommandFailure> {
        if self.dataset.is_some() && !context.project().exists() {
            return Ok(PickInputs::default());
        }
        let whole = self.dataset.is_none();
        Ok(context.open()?.read_blocking(move |db| {
            let queries = if whole { db.queries()? } else { Vec::new() };
            let pools = queries.into_iter().map(|query| db.pool(query.key));
            Ok(PickInputs {
                pools: pools.collect::<Result<_, _>>()?,
                labels: db.labels()?,
                picks: db.picks()?,
            })
        })?)
    }

    /// What is asked about.
    fn pools(&self, mut held: PickInputs) -> Result<PickInputs, CommandFailure> {
        if let Some(path) = &self.dataset {
            held.pools = benchmark::pools(path)?;
            for (query, grades) in benchmark::grades_of(&held.pools, path)? {
                held.labels.entry(query).or_default().extend(grades);
            }
        }
        for name in &self.query {
            if !held.pools.iter().any(|pool| pool.query.id.as_str() == name) {
                let name = sanitise::line(name);
                return Err(CommandFailure::usage(anyhow!(
                    "--query: there is no query {name:?}"
                )));
            }
        }
        if !self.query.is_empty() {
            let wanted = |pool: &Pool| self.query.iter().any(|name| name == pool.query.id.as_str());
            held.pools.retain(wanted);
        }
        Ok(held)
    }

    fn tell_estimate(&self, plan: &PickPlan) -> CommandResult {
        if self.json {
            output::json(&json!({
                "pools": plan.pools,
                "calls": plan.calls(),
                "already": plan.already,
                "judges": plan.estimates,
                "warnings": plan.notes,
            }))?;
        } else {
            output::text(&words(plan))?;
            output::text("dry run: nothing was called and nothing was changed\n")?;
        }
        Ok(())
    }
}

/// What the plan would need.
fn words(plan: &PickPlan) -> String {
    let mut text = format!(
        "{}, {} to make, {} there already\n",
        output::counted(plan.pools, "pool"),
        output::counted(plan.calls(), "call"),
        output::counted(plan.already, "answer")
    );
    text.push_str(&choose_judges::estimate_table(&plan.estimates));
    if plan.estimates.iter().any(|judge| !judge.offline) {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

/// One row a judge: how its questions stand.
fn rows(plan: &PickPlan, ensemble: &JudgeEnsemble, sheet: &PickAnswers) -> Vec<Value> {
    ensemble
        .iter()
        .enumerate()
        .map(|(seat, judge)| {
            let calls = plan.questions_of(seat);
            let count = |state: fn(&QuestionState) -> bool| {
                calls
                    .iter()
                    .filter(|call| sheet.state(call).is_some_and(state))
                    .count()
            };
            let (valid, invalid, failed) = (
                count(|state| state.picked),
                count(|state| !state.picked && state.invalid >= plan::ASKED),
                count(|state| !state.picked && state.invalid == 0 && state.failed),
            );
            let (usage, cost_usd) = sheet.used(&calls);
            json!({
                "judge": judge.spec().name,
                "offline": judge.spec().is_offline(),
                "questions": calls.len(),
                "valid": valid,
                "invalid": invalid,
                "failed": failed,
                "missing": calls.len() - valid - invalid - failed,
                "tokens_input": usage.input,
                "tokens_output": usage.output,
                "cost_usd": cost_usd,
            })
        })
        .collect()
}

fn table(rows: &[Value]) -> String {
    let header = [
        "judge", ">asked", ">valid", ">invalid", ">failed", ">missing", ">cost",
    ];
    let cells = |row: &Value| {
        let name = row["judge"].as_str().unwrap_or_default();
        let mut cells = vec![sanitise::line(name).into_owned()];
        for key in ["questions", "valid", "invalid", "failed", "missing"] {
            cells.push(row[key].to_string());
        }
        cells.push(choose_judges::usd(row["cost_usd"].as_f64()));
        cells
    };
    output::table(&header, &rows.iter().map(cells).collect::<Vec<_>>())
}
