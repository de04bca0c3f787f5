//! `overrule lists ask`: asks judges for the order of several documents.

use crate::app::error::AppError;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::domain::number_words::{count, usd};
use crate::features::lists::app::{ListEstimate, ListWish, ProbePlan, prepare_lists};
use crate::features::lists::domain::{AnswerForm, ListKind, ListPlan};
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::{AnswersEnd, watch_answers};
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// The lists to ask for.
#[derive(Debug, Args)]
pub(super) struct ListOptions {
    /// Number of documents shown, from 3 to 10
    #[arg(long, default_value_t = 5, value_name = "M", value_parser = clap::value_parser!(u8).range(3..=10))]
    size: u8,
    /// The part of the order to ask for: order (all documents), best-worst (these two) or best:K
    #[arg(long, default_value = "order", value_name = "order|best-worst|best:K")]
    answer: AnswerForm,
    /// Judges to ask [default: all of overrule.toml that can order lists]
    #[arg(long, value_delimiter = ',', value_name = "JUDGE,…")]
    pub(super) judges: Vec<String>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
}

impl ListOptions {
    pub(super) fn kind(&self) -> Result<ListKind, CommandFailure> {
        ListKind::new(usize::from(self.size), self.answer)
            .map_err(|error| usage!("--answer: {error}"))
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The judges take turns, and every list is shown in a random order. A reply that \
does not name each document exactly once, or exactly the documents asked for, is stored as malformed: \
it is never repaired and not asked again. A call that failed without a reply is asked again by the next run with the same options. \
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
    lists: ListOptions,
    /// How to choose documents
    #[arg(long, default_value = "swiss", value_name = "random|swiss|top")]
    plan: ListPlan,
    /// Number of list calls per query, including those that the project has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Ask about this query only; may be repeated
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AskCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let kind = self.lists.kind()?;
        let wish = ListWish {
            judges: self.lists.judges.clone(),
            queries: self.query.clone(),
            kind,
            plan: self.plan,
            calls: self.calls as usize,
            seed: self.lists.seed,
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
            // Probes are about all queries.
            let wish = ListWish {
                queries: Vec::new(),
                ..wish
            };
            let judges = context.judges(self.spending.insecure_http);
            let probes = ProbePlan::of(&store, &prepare_lists(&store, &judges, &wish)?)?;
            return self.dry_run(&estimate, &probes);
        }
        let end = if estimate.expected.calls > 0.0 {
            if run.is_paid() {
                confirm_spending(&describe(&estimate), self.spending.yes)?;
            }
            let control = self.spending.control(context, budget, run.judges());
            let (project, asked) = (store.clone(), Arc::clone(&run));
            let calls = estimate.expected.calls.round() as usize;
            let ask = |control, events| async move { asked.ask(&project, control, events).await };
            watch_answers(control, calls, ask, |missing| *missing)?.0
        } else {
            output::message("nothing to ask: the project has all of these calls");
            AnswersEnd::default()
        };
        if self.json {
            output::json(&json!({
                "calls_made": end.made,
                "missing_answers": end.missing,
                "spent_usd": end.spend.usd(),
            }))?;
        }
        end.report()?;
        if end.missing > 0 {
            return Err(CommandFailure::incomplete());
        }
        Ok(())
    }

    fn dry_run(&self, estimate: &ListEstimate, probes: &ProbePlan) -> CommandResult {
        let (of_probes, _) = probes.estimate();
        if self.json {
            let mut json = serde_json::to_value(estimate).map_err(AppError::failed)?;
            json["probes"] = json!(of_probes);
            return output::json(&json);
        }
        output::text(&describe(estimate))?;
        output::text(&compared(estimate, &of_probes))?;
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

/// The price of votes with the same information, and of the probes that the judges lack.
fn compared(estimate: &ListEstimate, probes: &CallVolume) -> String {
    let (lists, votes) = (&estimate.expected, &estimate.votes);
    if lists.calls == 0.0 {
        return String::new();
    }
    let mut text = format!(
        "lists {}; votes on pairs with the same information if φ is the same: {} calls, {}\n",
        or_unknown(lists.usd),
        count(votes.calls.round() as usize),
        or_unknown(votes.usd)
    );
    if probes.calls > 0.0 {
        text += &format!(
            "lists count only if the judges qualify: {}, {} (`overrule lists qualify`)\n",
            counted(probes.calls.round() as usize, "probe"),
            or_unknown(probes.usd)
        );
    }
    text
}

fn or_unknown(cost: Option<f64>) -> String {
    cost.map_or_else(|| "at an unknown price".to_owned(), usd)
}

fn describe(estimate: &ListEstimate) -> String {
    format!(
        "{}, {} already there\n{}",
        counted(estimate.queries, "query"),
        counted(estimate.answered, "answer"),
        volume_table(&estimate.expected, &estimate.most)
    )
}
