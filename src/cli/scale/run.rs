//! `overrule scale run`: a judge grades the anchors of each query.

use super::describe;
use crate::app::one_scale::{GradeSource, prepare_anchor_run, scale_report};
use crate::app::run_lock::RunLock;
use crate::app::wording::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, clean};
use crate::cli::rerank::terms::{EndedRun, RankingTerms};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "A few documents of each query, spread over its ranking by zELO, are graded 0 to 3 by one judge who sees them one by one: five calls a query.
Take a judge of another vendor than those of the battles where there is one. The offsets that follow are printed; `scale fit` prints
them again, and exports hold linked scores from then on.

Every answer is in the project before it counts. Run the same command again to go on where it stopped: what was graded is not asked
again, also where `rerank --method pointwise` asked it. A document whose answer could not be read has no grade.

Examples:
  overrule scale run --judge bm25                 offline, to try it
  overrule scale run --judge gpt --dry-run        calls, tokens and dollars
  overrule scale run --judge gpt --anchors 8 --budget 5"
)]
pub(super) struct RunCommand {
    /// The judge who grades
    #[arg(long, value_name = "NAME")]
    judge: String,
    /// Documents of each query
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    anchors: u8,
    /// Only this query, repeatable
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Also ask again for documents that got no grade
    #[arg(long)]
    retry_failed: bool,
    /// Calls in flight at most
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

impl RunCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        // What another run is buying must not be planned here too.
        let _lock = match self.dry_run {
            true => None,
            false => Some(RunLock::take(context.project())?),
        };
        let prepared = prepare_anchor_run(
            &store,
            &context.judges(self.insecure_http),
            &self.judge,
            usize::from(self.anchors),
            &self.query,
            self.retry_failed,
        )?;
        let terms = RankingTerms {
            budget: self.budget,
            concurrency: self.concurrency,
            yes: self.yes,
            dry_run: self.dry_run,
            json: self.json,
            noun: "anchor set",
        };
        let Some(made) = terms.carry_out(context, &store, prepared)? else {
            return Ok(());
        };
        let (graded, ungraded) = grades(&made);
        let report = scale_report(&store, GradeSource::Judge(&self.judge));
        if self.json {
            let effort = made.summary.first().map(|one| one.json());
            let scale = report.as_ref().map(|report| report.json()).ok();
            let why = report.as_ref().err().map(ToString::to_string);
            output::json(&json!({
                "judge": self.judge,
                "queries": made.plan.queries(),
                "graded": graded,
                "ungraded": ungraded,
                "effort": effort,
                "scale": scale,
                "no_scale": why,
                "warnings": made.notes,
            }))?;
        } else {
            match &report {
                Ok(report) => {
                    for note in &report.notes {
                        output::message(&format!("note: {}", clean(note)));
                    }
                    output::text(&describe(report))?;
                }
                Err(why) => output::message(&clean(why.to_string())),
            }
        }
        if ungraded > 0 {
            output::message(&format!(
                "{} of {} without a grade: the answer could not be read; --retry-failed asks again",
                ungraded,
                counted(graded + ungraded, "document")
            ));
        }
        made.finish()?;
        match ungraded {
            0 => Ok(()),
            _ => Err(CommandFailure::incomplete()),
        }
    }
}

/// Documents with a grade and without, of queries that did not fail as a whole.
fn grades(made: &EndedRun) -> (usize, usize) {
    let scores = || made.rows.iter().flat_map(|row| row.scores.iter().flatten());
    let graded = scores().flatten().count();
    (graded, scores().count() - graded)
}
