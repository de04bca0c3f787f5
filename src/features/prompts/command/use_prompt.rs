//! `overrule prompt use`: replaces the prompt of a judge.

use super::versions::{text_of, version_named};
use crate::app::annotate::RunRequest;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::choose_judges::{are_paid, check_budget};
use crate::app::review::review_queue::{QueueRequest, build_review_queue};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::annotate::{cost, run_on_project};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::features::prompts::app::replacement::{
    Replacement, prepare_replacement, undo_replacement,
};
use crate::judge::ensemble::FILE;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Sets the prompt of a judge in overrule.toml, and prints how many votes become \
stale and what it costs to replace them. The text is written to the folder `prompts` next to it, \
unless it is built in. Answers from trials are used as votes without another call.

A judge with another prompt counts as a new one. Its votes are replaced query by query: --all, \
--query and --queue replace them now; otherwise, the next run over a query does. Until then, the \
old votes of the query count. --as keeps the judge and adds a copy with the prompt under another \
name.

The change is logged. --undo undoes the latest one. The votes under both prompts stay in the \
project, so nothing is paid for twice.

Examples:
  overrule prompt use gpt 1f3a --dry-run
  overrule prompt use gpt 1f3a --query q1 --query q2
  overrule prompt use gpt 1f3a --queue 20          the queries of the next 20 pairs to review
  overrule prompt use gpt 1f3a --as gpt-evidence
  overrule prompt use gpt --undo"
)]
pub(super) struct UseCommand {
    /// The judge of overrule.toml
    judge: String,
    /// Hash, built-in name or judge
    #[arg(required_unless_present = "undo")]
    prompt: Option<String>,
    /// Replace the votes of this query now (repeatable)
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "queue"])]
    query: Vec<String>,
    /// Replace the votes of the queries of the next N pairs of your review queue now
    #[arg(long, value_name = "N", conflicts_with = "all")]
    queue: Option<usize>,
    /// Replace the votes of all queries now
    #[arg(long)]
    all: bool,
    /// Keep the judge, and add a copy of it with the prompt under this name
    #[arg(long = "as", value_name = "NAME")]
    copy: Option<String>,
    /// Undo the latest change of the judge's prompt
    #[arg(long, conflicts_with_all = ["prompt", "query", "queue", "all", "copy"])]
    undo: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl UseCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let configuration = context.judges(self.spending.insecure_http);
        let Some(prompt) = &self.prompt else {
            return self.undo(context, &store);
        };
        // Held while the question is open and during the run, so that no other run can start in
        // between.
        let lock = self.spending.lock(context)?.map(Arc::new);
        let version = version_named(&store, prompt)?;
        let text = text_of(&version)?;
        let copy = self.copy.as_deref();
        let change =
            prepare_replacement(&store, &configuration, &self.judge, &version, text, copy)?;
        for note in &change.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let now = self.queries(context, &store)?;
        let latest = store.read_blocking(|db| db.latest_run())?;
        let request = RunRequest {
            queries: now.clone(),
            ..RunRequest::continuing(latest, &context.config.run)
        };
        let estimate = CostEstimate::of_project(&store, &change.ensemble, &request)?;
        let words = describe(&change, &estimate);
        if self.spending.dry_run {
            if self.json {
                return output::json(&as_json(&change, &estimate));
            }
            output::text(&words)?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            check_budget(budget, &change.ensemble)?;
        }
        let is_paid = are_paid(&change.ensemble);
        match (self.runs_now() && is_paid, self.json) {
            (true, _) => confirm_spending(&words, self.spending.yes)?,
            (false, true) => {}
            (false, false) => output::message(words.trim_end()),
        }
        change.carry_out(&store, &context.annotator())?;
        if self.json && !self.runs_now() {
            return output::json(&as_json(&change, &estimate));
        }
        output::message(&done_words(&change));
        let Some(lock) = lock.filter(|_| self.runs_now()) else {
            return Ok(());
        };
        let control = self.spending.control(context, budget, &change.ensemble);
        let ensemble = change.ensemble.clone();
        run_on_project(&lock, &store, ensemble, request, control, self.json)
    }

    fn runs_now(&self) -> bool {
        self.all || self.queue.is_some() || !self.query.is_empty()
    }

    /// The queries whose votes are replaced now; `None` for all.
    fn queries(
        &self,
        context: &CommandContext,
        store: &Store,
    ) -> Result<Option<Vec<QueryKey>>, CommandFailure> {
        if let Some(limit) = self.queue {
            return Ok(Some(queue_queries(context, store, limit)?));
        }
        if self.query.is_empty() {
            return Ok(None);
        }
        let names = self.query.clone();
        let keys = store.read_blocking(move |db| {
            names
                .iter()
                .map(|name| db.find_query(name))
                .collect::<Result<Vec<_>, _>>()
        })?;
        Ok(Some(keys))
    }

    fn undo(&self, context: &CommandContext, store: &Store) -> CommandResult {
        let _lock = RunLock::take(context.project())?;
        let configuration = context.judges(self.spending.insecure_http);
        let author = context.annotator();
        let undone = undo_replacement(store, &configuration, &self.judge, &author)?;
        if self.json {
            return output::json(&json!({
                "judge": self.judge, "before": undone.before, "after": undone.after,
            }));
        }
        let judge = clean(&self.judge);
        output::message(&if undone.is_removed {
            format!("{FILE}: {judge} is removed; its votes stay in the project")
        } else {
            format!(
                "{FILE}: the prompt of {judge} is {} again; its former votes count from the next \
                 run on, without a call",
                clean(&undone.after)
            )
        });
        Ok(())
    }
}

/// The queries of the next pairs of the review queue.
fn queue_queries(
    context: &CommandContext,
    store: &Store,
    limit: usize,
) -> Result<Vec<QueryKey>, CommandFailure> {
    store.refresh_priorities(&mut |_| {})?;
    let request = QueueRequest {
        policy: context.config.judging.policy,
        scope: None,
        only: None,
        annotator: context.annotator(),
        seed: context.config.run.seed,
        limit,
        gold: context.config.judging.gold,
        overlap: context.config.judging.overlap,
        conflicts: false,
        against: None,
    };
    let items = store.read_blocking(move |db| build_review_queue(db, &request))?;
    let mut queries: Vec<QueryKey> = items.iter().map(|item| item.query).collect();
    queries.sort_unstable();
    queries.dedup();
    if queries.is_empty() {
        return Err(usage!("--queue: the review queue is empty"));
    }
    Ok(queries)
}

fn done_words(change: &Replacement) -> String {
    let judge = clean(&change.judge);
    match change.copied {
        Some(_) => format!("{FILE}: {judge} is added; `prompt use {judge} --undo` removes it"),
        None => format!(
            "{FILE}: the prompt of {judge} is {}; `prompt use {judge} --undo` undoes the change",
            clean(&change.after)
        ),
    }
}

fn describe(change: &Replacement, estimate: &CostEstimate) -> String {
    let judge = clean(&change.judge);
    let cost = cost::describe(estimate, &change.ensemble);
    if let Some(original) = &change.copied {
        return format!(
            "{FILE}: adds {judge}, a copy of {} with the prompt {}. Asking all judges:\n{cost}",
            clean(original),
            clean(&change.after)
        );
    }
    let file = if change.changes_file() {
        format!(
            "{FILE}: prompt of {judge}: {} → {}\n",
            clean(&change.before),
            clean(&change.after)
        )
    } else {
        format!(
            "{FILE} stays as it is: the prompt of {judge} is {}\n",
            clean(&change.after)
        )
    };
    format!(
        "{file}{} of {judge} become stale. Replacing the votes:\n{cost}",
        counted(change.stale_votes, "vote")
    )
}

fn as_json(change: &Replacement, estimate: &CostEstimate) -> serde_json::Value {
    let trial_answers: usize = estimate
        .judges
        .iter()
        .filter(|of| of.name == change.judge)
        .map(|of| of.bought)
        .sum();
    json!({
        "judge": change.judge,
        "before": change.before,
        "after": change.after,
        "stale_votes": change.stale_votes,
        "trial_answers": trial_answers,
        "replacing": estimate,
    })
}
