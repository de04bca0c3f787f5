//! `overrule annotate --lists`: asks about lists of a dataset's documents instead of pairs.

use super::ask::{Asking, call_count};
use crate::app::export::write_annotated;
use crate::app::output_file::{output_name, write_whole};
use crate::app::text_format::counted;
use crate::cli::annotate::AskedDataset;
use crate::cli::batch::fetch_ended;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::features::lists::app::{ListWish, is_counted};
use crate::features::lists::domain::{AnswerForm, ListKind, ListPlan, PairShare};
use crate::store::Store;
use clap::Args;
use std::sync::Arc;
use tempfile::TempDir;

#[derive(Debug, Args)]
#[command(next_help_heading = "Lists")]
pub(crate) struct ListRunOptions {
    /// Ask for the order of M documents at once, 3 to 10, instead of pairs. Writes scores only once
    /// these lists count (`overrule manual lists`)
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(3..=10), conflicts_with_all = [
        "pair", "sample", "shard", "probe", "measure", "pin_model", "retry_failed", "cycles",
        "document_limit", "ai_scores", "sampler", "judging", "focus", "top", "round", "battles", "prior",
        "max_calls",
    ])]
    lists: Option<u8>,
    /// The part of the order to ask for: order (all documents), best-worst (these two) or best:K
    #[arg(long, default_value = "order", value_name = "FORM", requires = "lists")]
    list_answer: AnswerForm,
    /// How to choose the documents of a list: random, swiss or top
    #[arg(long, default_value = "swiss", value_name = "PLAN", requires = "lists")]
    list_plan: ListPlan,
    /// Number of list calls per query, including those that the project has; with --mix, of all
    /// calls [default: enough to show each document eight times]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "lists")]
    list_calls: Option<u32>,
    /// Spend this share of the calls, such as 20%, on battles of pairs that the lists have shown
    #[arg(
        long,
        value_name = "SHARE",
        requires = "lists",
        conflicts_with = "batch"
    )]
    mix: Option<PairShare>,
}

impl ListRunOptions {
    pub(crate) fn is_set(&self) -> bool {
        self.lists.is_some()
    }

    /// Asks for the lists of a dataset, and writes its scores if lists count.
    pub(crate) fn ask(&self, context: &CommandContext, of: &AskedDataset<'_>) -> CommandResult {
        let queries: Vec<String> = of.dataset.query_ids().map(str::to_owned).collect();
        if queries.is_empty() {
            return Err(usage!("{}: no valid query", of.path.display()));
        }
        let kind = ListKind::new(usize::from(self.lists.unwrap_or(0)), self.list_answer);
        let asking = Asking {
            wish: ListWish {
                judges: of.judges.to_vec(),
                queries,
                kind: kind.map_err(|error| usage!("--list-answer: {error}"))?,
                plan: self.list_plan,
                calls: call_count(self.list_calls),
                mix: self.mix,
                seed: of.seed,
            },
            spending: of.spending,
            batch: of.batch,
            json: of.json,
        };
        // Two runs must not plan the same calls.
        let lock = of.spending.lock(context)?;
        if of.batch && lock.is_some() && context.has_project() {
            fetch_ended(context, &context.open()?, of.spending.insecure_http)?;
        }
        let prices = Prices::of(context, of)?;
        let offer = asking.offer(context, &prices.store)?;
        offer.tell();
        let project = context.has_project().then(|| context.open()).transpose()?;
        let budget = asking.budget(context, project.as_ref(), &offer)?;
        let Some(lock) = lock else {
            return asking.dry_run(context, &prices.store, &offer);
        };
        if let (Some(project), Some(mix)) = (&project, offer.mix()) {
            mix.check_votes(project, asking.wish.queries.clone())?;
        }
        // The question may be answered by killing the program.
        drop(prices);
        asking.confirm(&offer)?;
        let store = context.open_or_create()?;
        let import = of.dataset.import(&store)?;
        let skipped = (import.skipped > 0)
            .then(|| format!("skipped {}", counted(import.skipped, "invalid line")));
        for words in skipped.into_iter().chain(import.updated()) {
            output::message(&format!("{}: {words}", of.path.display()));
        }
        // The project may hold a part of what was priced.
        let offer = asking.offer(context, &store)?;
        let lock = Arc::new(lock);
        let asked = asking.ask(context, &store, &lock, (&offer, budget));
        // Scores wait for open batches.
        if asked.as_ref().is_err_and(CommandFailure::is_interruption)
            || asked.is_err() && offer.waiting(&store)?.in_batches > 0
        {
            return asked;
        }
        let (keys, kind) = (import.keys.clone(), asking.wish.kind);
        if !store.read_blocking(move |db| is_counted(db, &keys, kind))? {
            output::message(&format!(
                "{} was not written, since these lists do not count yet: run `overrule lists \
                 qualify`, `overrule lists count`, and then the same command again",
                output_name(&of.out)
            ));
            asked?;
            return Err(CommandFailure::incomplete());
        }
        let unscored = write_whole(&of.out, |file| {
            write_annotated(&store, &import.keys, None, of.keep_unscored, file, |_| {})
        })?;
        of.report_written(unscored);
        asked
    }
}

/// A project that the price of a dataset's lists follows from.
struct Prices {
    store: Store,
    /// Removed with it.
    _folder: Option<TempDir>,
}

impl Prices {
    /// The project if it has the whole dataset, or else a temporary one, in which nothing is
    /// answered.
    fn of(context: &CommandContext, of: &AskedDataset<'_>) -> Result<Self, CommandFailure> {
        if context.has_project() {
            let store = context.open()?;
            of.dataset.refuse_edited(&store)?;
            if of.dataset.keys(&store, "").is_ok() {
                return Ok(Self {
                    store,
                    _folder: None,
                });
            }
        }
        let folder = tempfile::tempdir()?;
        let store = Store::open(&folder.path().join("prices.db"))?;
        of.dataset.import(&store)?;
        Ok(Self {
            store,
            _folder: Some(folder),
        })
    }
}
