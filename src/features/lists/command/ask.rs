//! `overrule lists ask`: asks judges for the order of several documents.

use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, ProgressPace, clean};
use crate::cli::signals::RunEnd;
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::client::RunControl;
use crate::domain::spend::Spend;
use crate::features::lists::app::{ListEstimate, ListRun, ListWish, prepare_lists};
use crate::features::lists::domain::{AnswerForm, ListKind, ListPlan};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::watch_questions;
use crate::store::Store;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// The kind of list to ask for.
#[derive(Debug, Args)]
pub(super) struct KindOptions {
    /// Number of documents shown, from 3 to 10
    #[arg(long, default_value_t = 5, value_name = "M", value_parser = clap::value_parser!(u8).range(3..=10))]
    size: u8,
    /// The part of the order to ask for: order (all documents) or best:K
    #[arg(long, default_value = "order", value_name = "order|best:K")]
    answer: AnswerForm,
}

impl KindOptions {
    pub(super) fn kind(&self) -> Result<ListKind, CommandFailure> {
        ListKind::new(usize::from(self.size), self.answer)
            .map_err(|error| usage!("--answer: {error}"))
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The judges take turns, and every list is shown in a random order. A reply that \
does not name each document exactly once is stored as malformed: it is never repaired and not asked \
again. A call that failed without a reply is asked again by the next run with the same options. \
Answers that the project holds are not bought again.

Plans: random shows all documents equally often. swiss shows neighbors in the order so far. top \
shows the documents whose order matters most for the top ranks. swiss and top wait for the answers of \
a round before they choose the next one.

Examples:
  overrule lists ask --calls 60 --dry-run
  overrule lists ask --size 5 --calls 60 --plan top --budget 5
  overrule lists ask --size 10 --answer best:3 --calls 20 --judges gpt,claude --yes"
)]
pub(crate) struct AskCommand {
    #[command(flatten)]
    kind: KindOptions,
    /// How to choose documents
    #[arg(long, default_value = "swiss", value_name = "random|swiss|top")]
    plan: ListPlan,
    /// Number of list calls per query, including those that the project has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Judges to ask [default: all of overrule.toml that can order lists]
    #[arg(long, value_delimiter = ',', value_name = "JUDGE,…")]
    judges: Vec<String>,
    /// Ask about this query only; may be repeated
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AskCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let kind = self.kind.kind()?;
        let wish = ListWish {
            judges: self.judges.clone(),
            queries: self.query.clone(),
            kind,
            plan: self.plan,
            calls: self.calls as usize,
            seed: self.seed,
        };
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let _lock = self.spending.lock(context)?;
        let run = Arc::new(prepare_lists(
            &store,
            &context.judges(self.spending.insecure_http),
            &wish,
        )?);
        for note in &run.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        if run.too_small > 0 {
            output::message(&format!(
                "skipped {} with fewer than {} documents",
                counted(run.too_small, "query"),
                kind.size()
            ));
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            run.check_budget(budget)?;
        }
        let estimate = run.estimate(&store)?;
        if self.spending.dry_run {
            return self.dry_run(&estimate);
        }
        let (end, asked) = if estimate.expected.calls > 0.0 {
            if run.is_paid() {
                confirm_spending(&describe(&estimate), self.spending.yes)?;
            }
            let control = self.spending.control(context, budget, run.judges());
            watch(&run, control, &store, &estimate)?
        } else {
            output::message("nothing to ask: the project has all of these calls");
            (RunEnd::default(), Asked::default())
        };
        if self.json {
            output::json(&json!({
                "calls_made": asked.made,
                "missing_answers": asked.missing,
                "spent_usd": asked.spend.usd(),
            }))?;
        }
        asked.finish(&end)
    }

    fn dry_run(&self, estimate: &ListEstimate) -> CommandResult {
        if self.json {
            return output::json(estimate);
        }
        output::text(&describe(estimate))?;
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

#[derive(Default)]
struct Asked {
    made: usize,
    spend: Spend,
    missing: usize,
}

impl Asked {
    /// Reports missing answers, and returns the exit code.
    fn finish(&self, end: &RunEnd) -> CommandResult {
        if end.interrupted {
            return Err(CommandFailure::interrupted());
        }
        if self.missing == 0 {
            return Ok(());
        }
        output::message(&format!(
            "incomplete: {} missing; {}",
            counted(self.missing, "answer"),
            if end.budget_reached {
                "the budget is reached; continue with a larger --budget"
            } else {
                "run the same command again to continue"
            }
        ));
        Err(CommandFailure::incomplete())
    }
}

fn describe(estimate: &ListEstimate) -> String {
    format!(
        "{}, {} already there\n{}",
        counted(estimate.queries, "query"),
        counted(estimate.answered, "answer"),
        volume_table(&estimate.expected, &estimate.most)
    )
}

/// Asks, and shows progress on stderr.
fn watch(
    run: &Arc<ListRun>,
    control: RunControl,
    store: &Store,
    estimate: &ListEstimate,
) -> Result<(RunEnd, Asked), CommandFailure> {
    let (store, run) = (store.clone(), Arc::clone(run));
    let mut asked = Asked::default();
    let mut pace = ProgressPace::new();
    let calls = estimate.expected.calls.round() as usize;
    let progress = |asked: &Asked| {
        format!(
            "{} of {} made, spent {}",
            asked.made,
            counted(calls, "call"),
            asked.spend.words()
        )
    };
    let (end, missing) = watch_questions(
        control,
        |control, events| async move { run.ask(&store, control, events).await },
        |event| {
            if let RerankEvent::Called(charge) = event {
                asked.made += 1;
                asked.spend += charge;
                if pace.is_due() {
                    output::message(&progress(&asked));
                }
            }
        },
    )?;
    asked.missing = missing;
    output::message(&progress(&asked));
    Ok((end, asked))
}
