//! `overrule pick`: asks judges to pick the relevant documents of pools.

mod watch;

use super::command::{CommandContext, CommandFailure, CommandResult};
use super::output::{self, clean};
use super::signals::RunEnd;
use super::spending::{SpendingOptions, confirm_spending, estimate_table};
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::import::datasets;
#[cfg(feature = "remote")]
use crate::app::pick::SharedPicks;
use crate::app::pick::{JudgePicks, PickAnswers, PickInputs, PickOptions, PickPlan};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::domain::adjudication::PickMode;
use crate::domain::number_words;
use crate::judge::{OFFLINE_LABEL, provider};
#[cfg(feature = "remote")]
use crate::registry::SharedCommand;
use crate::registry::SharingOptions;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "By default, a judge sees a query with its numbered documents and picks exactly as many as are \
labeled relevant. With --open, it picks any number, including none. With --per-document, it decides \
for each document whether it supports or refutes the query or lacks evidence, and quotes the sentence \
that proves it; documents that support or refute are picked.

An answer is invalid if it is not JSON, has the wrong number of picks, names a document twice or one \
that does not exist, or skips a document. The judge is then asked once more; a second invalid answer \
is counted as invalid and never repaired. A verdict whose quote is missing or not in the document is \
stored but counts neither as picked nor as not picked.

Answers are stored as they arrive. Run the same command again to resume. `overrule adjudication` \
compares the picks with the labels.

Examples:
  overrule pick
  overrule pick pools.jsonl --judges gpt,bm25 --permutations 2 --budget 5
  overrule pick --open --dry-run
  overrule pick --per-document --judges local
  overrule --project w1.db pick pools.jsonl --remote postgres://ada@db.example.org/search"
)]
pub(super) struct PickCommand {
    /// Dataset of pools to import and ask about [default: all pools of the project]
    dataset: Option<PathBuf>,
    /// Ask only about this query (repeatable)
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Judges to use [default: those of overrule.toml, or the offline judges]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Let judges pick any number of documents, without telling them how many are relevant
    #[arg(long)]
    open: bool,
    /// Ask for a verdict on every document (supports, refutes, not_enough) with the sentence that
    /// proves it
    #[arg(long, conflicts_with = "open")]
    per_document: bool,
    /// Number of document orders to try per pool: the original one first, then shuffled ones
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    permutations: u32,
    /// Lowest relevant grade
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Random seed [default: from the configuration]
    #[arg(long)]
    seed: Option<u64>,
    /// Retry failed calls
    #[arg(long)]
    retry_failed: bool,
    /// Stop if a document is longer than a judge is shown of it, instead of truncating it
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

impl PickCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let way = match (self.open, self.per_document) {
            (_, true) => PickMode::PerDocument,
            (true, false) => PickMode::AnyNumber,
            (false, false) => PickMode::Exactly,
        };
        let judges = context.judges(self.spending.insecure_http);
        let chosen = judges.choose_pickers(&self.judges, way)?;
        let ensemble = chosen.ensemble;
        let (dataset, exists) = (self.dataset.as_deref(), context.has_project());
        // Open the project before taking the lock: an upgrade checks whether another version holds
        // it.
        let project = (exists || dataset.is_none()).then(|| context.open());
        let project = project.transpose()?;
        let budget = self.spending.budget(context, project.as_ref())?;
        if let Some(budget) = budget {
            check_budget(budget, &ensemble)?;
        }
        // Two runs must not plan the same calls. Without a project, no other run exists.
        let lock = if self.spending.dry_run || (dataset.is_none() && !exists) {
            None
        } else {
            Some(Arc::new(RunLock::take(context.project())?))
        };
        let mut inputs = PickInputs::read(project.as_ref(), dataset, &self.query)?;
        let mut answers = PickAnswers::new(std::mem::take(&mut inputs.picks));
        let options = PickOptions {
            way,
            permutations: self.permutations as usize,
            relevant_from: self.level,
            seed: self.seed.unwrap_or(context.config.run.seed),
            retry_failed: self.retry_failed,
            refuse_long: self.refuse_long,
        };
        let plan = PickPlan::new(&inputs, &ensemble, &options, &answers)?;
        chosen.notes.iter().for_each(|note| output::message(note));
        for note in &plan.notes {
            output::message(&format!("note: {note}"));
        }
        if self.spending.dry_run {
            return self.print_estimate(&plan);
        }
        if ensemble.iter().any(|judge| judge.spec().is_offline()) {
            output::message(OFFLINE_LABEL);
        }
        let paid = ensemble.iter().any(|judge| is_paid(judge.as_ref()));
        if paid && plan.calls() > 0 {
            confirm_spending(&describe(&plan), self.spending.yes)?;
        }
        let store = context.open_or_create()?;
        if let Some(path) = dataset {
            datasets::check(path, false)?.import(&store)?;
        }
        let control = self.spending.control(context, budget, &ensemble);
        #[cfg(feature = "remote")]
        if self.sharing.is_set() {
            let lock = match lock {
                Some(lock) => lock,
                None => Arc::new(RunLock::take(context.project())?),
            };
            return self.sharing.share(SharedCommand {
                store,
                lock,
                questions: Arc::new(SharedPicks::new(inputs, ensemble, options, &plan)),
                control,
                dataset,
                json: self.json,
            });
        }
        let (ended, spent) = watch::watch(&plan, &ensemble, control, &store, &mut answers)?;
        drop(lock);
        let rows = plan.progress(&ensemble, &answers);
        if self.json {
            output::json(&json!({
                "judges": rows,
                "spent_usd": spent.told_usd(),
                "calls_without_price": spent.unpriced,
                "warnings": plan.notes,
            }))?;
        } else {
            output::text(&table(&rows))?;
            for row in rows.iter().filter(|row| row.unproven > 0) {
                output::message(&format!(
                    "{}: {} without a sentence of the document; they count neither as picked nor \
                     as not picked",
                    clean(&row.judge),
                    counted(row.unproven, "verdict"),
                ));
            }
            for row in &rows {
                let cut = row.truncated;
                if let Some(chars) = cut.max_document_chars {
                    output::message(&format!(
                        "{}: {} of {} truncated, to {} characters or more",
                        clean(&row.judge),
                        counted(cut.documents, "document"),
                        counted(cut.pools, "pool"),
                        number_words::count(chars),
                    ));
                }
            }
            output::message("`overrule adjudication` compares the picks with the labels");
        }
        let missing = rows.iter().map(|row| row.missing).sum();
        let failed = rows.iter().map(|row| row.failed).sum();
        finish(missing, failed, ended)
    }

    fn print_estimate(&self, plan: &PickPlan) -> CommandResult {
        if self.json {
            return output::json(&json!({
                "pools": plan.pools,
                "calls": plan.calls(),
                "already": plan.already,
                "judges": plan.estimates,
                "warnings": plan.notes,
            }));
        }
        output::text(&describe(plan))?;
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

/// Reports the remaining work, and returns the corresponding result.
fn finish(missing: usize, failed: usize, ended: RunEnd) -> CommandResult {
    let answers = counted(missing, "answer");
    if ended.interrupted && missing > 0 {
        output::message(&format!(
            "stopped; {answers} missing; run the same command again to resume"
        ));
        return Err(CommandFailure::interrupted());
    }
    output::message(&match (missing, failed) {
        (0, 0) => return Ok(()),
        (0, failed) => {
            let calls = counted(failed, "call");
            format!("{calls} failed; ask again for them with --retry-failed")
        }
        _ if ended.budget_reached => {
            format!("missing: {answers}; the budget is reached; continue with a larger --budget")
        }
        _ => format!("missing: {answers}; run the same command again"),
    });
    Err(CommandFailure::incomplete())
}

/// Describes the effort of the plan.
fn describe(plan: &PickPlan) -> String {
    let mut text = format!(
        "{}, {} to make, {} already there\n",
        counted(plan.pools, "pool"),
        counted(plan.calls(), "call"),
        counted(plan.already, "answer")
    );
    text.push_str(&estimate_table(&plan.estimates));
    if plan.estimates.iter().any(|judge| !judge.offline) {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

fn table(rows: &[JudgePicks]) -> String {
    let header = [
        "judge", ">asked", ">valid", ">invalid", ">failed", ">missing", ">cut", ">cost",
    ];
    let cells = rows.iter().map(|row| {
        let counts = [
            row.questions,
            row.valid,
            row.invalid,
            row.failed,
            row.missing,
            row.truncated.documents,
        ];
        let mut cells = vec![clean(&row.judge)];
        cells.extend(counts.map(|count| count.to_string()));
        cells.push(row.spend.in_short());
        cells
    });
    output::table(&header, &cells.collect::<Vec<_>>())
}
