//! `overrule annotate --lists`: asks about lists of a dataset's documents instead of pairs.

use super::ask::{Asking, call_count};
use crate::app::export::write_annotated;
use crate::app::output_file::write_whole;
use crate::app::text_format::counted;
use crate::cli::annotate::AskedDataset;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::features::lists::app::ListWish;
use crate::features::lists::domain::{AnswerForm, ListKind, ListPlan, PairShare};
use crate::store::Store;
use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Lists")]
pub(crate) struct ListRunOptions {
    /// Ask for the order of M documents at once, 3 to 10, instead of pairs (`overrule manual lists`)
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u8).range(3..=10), conflicts_with_all = [
        "pair", "sample", "shard", "batch", "probe", "measure", "pin_model", "retry_failed", "cycles",
        "document_limit", "ai_scores", "sampler", "judging", "round", "battles", "max_calls", "prior",
    ])]
    lists: Option<u8>,
    /// The part of the order to ask for: order (all documents), best-worst (these two) or best:K
    #[arg(
        long,
        default_value = "order",
        value_name = "order|best-worst|best:K",
        requires = "lists"
    )]
    list_answer: AnswerForm,
    /// How to choose the documents of a list
    #[arg(
        long,
        default_value = "swiss",
        value_name = "random|swiss|top",
        requires = "lists"
    )]
    list_plan: ListPlan,
    /// Number of list calls per query, including those that the project has; with --mix, of all
    /// calls [default: as many as show each document eight times]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "lists")]
    list_calls: Option<u32>,
    /// Spend this share of the calls on battles of pairs that the lists have shown
    #[arg(long, value_name = "SHARE%", requires = "lists")]
    mix: Option<PairShare>,
}

impl ListRunOptions {
    pub(crate) fn is_set(&self) -> bool {
        self.lists.is_some()
    }

    /// Asks for the lists of a dataset, and writes its scores if lists count.
    pub(crate) fn ask(&self, context: &CommandContext, of: &AskedDataset<'_>) -> CommandResult {
        let kind = ListKind::new(usize::from(self.lists.unwrap_or(0)), self.list_answer);
        let asking = Asking {
            wish: ListWish {
                judges: of.judges.to_vec(),
                queries: of.dataset.query_ids().map(str::to_owned).collect(),
                kind: kind.map_err(|error| usage!("--list-answer: {error}"))?,
                plan: self.list_plan,
                calls: call_count(self.list_calls),
                mix: self.mix,
                seed: of.seed,
            },
            spending: of.spending,
            json: of.json,
        };
        if of.spending.dry_run {
            if context.has_project() {
                let store = context.open()?;
                of.dataset.keys(&store, "--dry-run with --lists")?;
                return asking.run(context, &store, None);
            }
            let folder = tempfile::tempdir()?;
            let store = Store::open(&folder.path().join("prices.db"))?;
            of.dataset.import(&store)?;
            return asking.run(context, &store, None);
        }
        // Two runs must not plan the same calls.
        let lock = of.spending.lock(context)?;
        let store = context.open_or_create()?;
        let import = of.dataset.import(&store)?;
        let skipped = (import.skipped > 0)
            .then(|| format!("skipped {}", counted(import.skipped, "invalid line")));
        for words in skipped.into_iter().chain(import.updated()) {
            output::message(&format!("{}: {words}", of.path.display()));
        }
        asking.run(context, &store, lock)?;
        if store.read_blocking(|db| db.counting_model())?.is_none() {
            output::message(
                "no scores were written, since list calls do not count yet: run `overrule lists \
                 qualify`, `overrule lists count`, and then the same command again",
            );
            return Ok(());
        }
        let unscored = write_whole(&of.out, |file| {
            write_annotated(&store, &import.keys, None, of.keep_unscored, file, |_| {})
        })?;
        of.report_written(unscored);
        Ok(())
    }
}
