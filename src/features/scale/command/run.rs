//! `overrule scale run`: asks a judge to grade the anchors of each query, or judges to answer
//! links.

use super::describe;
use super::watch_links::{describe_links, watch_links};
use crate::app::error::AppError;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::features::methods::command::rerank::terms::{EndedRun, RankingTerms};
use crate::features::scale::app::{
    ANCHORS, GradeSource, ScaleReport, prepare_anchor_run, prepare_link_run, scale_report,
};
use crate::store::Store;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "For each query, one judge grades a few documents, spread over the zELO ranking, from 0 to 3, one at \
a time. If you can, use a judge from another vendor than the judges of the battles. The command \
prints the resulting offset of each query; `scale fit` prints them again, and later exports contain \
linked scores.

If the judge's grades drift between queries (`scale fit` reports this), use --link. A link shows two \
documents of different queries and asks which one answers its own query better. Links are chosen in \
rounds, between documents with similar scores, so that every query takes part once per round (with \
an odd number of queries, one takes part twice).

Answers are stored as they arrive. Run the same command again to resume; documents that are already \
graded, including by `rerank --method pointwise`, are skipped. If an answer cannot be read, its \
document has no grade.

Examples:
  overrule scale run --judge bm25                 offline, to try it
  overrule scale run --judge gpt --dry-run        calls, tokens and dollars
  overrule scale run --judge gpt --anchors 8 --budget 5
  overrule scale run --link 4 --judge gpt,claude --dry-run"
)]
pub(super) struct RunCommand {
    /// Judge who grades (repeatable with --link)
    #[arg(
        long = "judge",
        value_name = "NAME",
        required = true,
        value_delimiter = ','
    )]
    judges: Vec<String>,
    /// Number of links per query, in which judges compare documents of two queries, instead of
    /// grades
    #[arg(long, value_name = "L", conflicts_with_all = ["anchors", "query"], value_parser = clap::value_parser!(u8).range(1..))]
    link: Option<u8>,
    /// Random seed of links [default: from the configuration]
    #[arg(long, requires = "link")]
    seed: Option<u64>,
    /// Number of documents per query
    #[arg(long, value_name = "N", default_value_t = ANCHORS, value_parser = clap::value_parser!(u8).range(1..))]
    anchors: u8,
    /// Use only this query (repeatable)
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// Retry documents without a grade
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RunCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let _lock = self.spending.lock(context)?;
        if let Some(links) = self.link {
            return self.link(context, &store, usize::from(links));
        }
        let [judge] = self.judges.as_slice() else {
            return Err(usage!(
                "--judge: a scale needs the grades of one judge: name one (--link takes several)"
            ));
        };
        let prepared = prepare_anchor_run(
            &store,
            &context.judges(self.spending.insecure_http),
            judge,
            usize::from(self.anchors),
            &self.query,
            self.retry_failed,
        )?;
        let terms = RankingTerms {
            spending: &self.spending,
            json: self.json,
            noun: "anchor set",
            unattended: true,
        };
        let Some(made) = terms.carry_out(context, &store, prepared)? else {
            return Ok(());
        };
        let (graded, ungraded) = grades(&made);
        let report = scale_report(&store, GradeSource::Judge(judge));
        if self.json {
            let effort = made.summary.first().map(|one| one.json());
            let scale = report.as_ref().map(|report| report.json()).ok();
            let why = report.as_ref().err().map(ToString::to_string);
            output::json(&json!({
                "judge": judge,
                "queries": made.plan.queries(),
                "graded": graded,
                "ungraded": ungraded,
                "effort": effort,
                "scale": scale,
                "no_scale": why,
                "warnings": made.notes,
            }))?;
        } else {
            print_scale(&report)?;
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

impl RunCommand {
    /// Asks judges to answer links.
    fn link(&self, context: &CommandContext, store: &Store, links: usize) -> CommandResult {
        let run = prepare_link_run(
            store,
            &context.judges(self.spending.insecure_http),
            &self.judges,
            links,
            self.seed.unwrap_or(context.config.run.seed),
            self.retry_failed,
        )?;
        for note in &run.judges.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(store))?;
        if let Some(budget) = budget {
            run.judges.check_budget(budget)?;
        }
        let estimate = run.estimate(store)?;
        if self.spending.dry_run && self.json {
            return output::json(&json!({
                "queries": estimate.queries,
                "links": estimate.there,
                "links_to_plan": estimate.planned,
                "expected": estimate.expected,
                "most": estimate.most,
            }));
        }
        let words = describe_links(&estimate);
        if self.spending.dry_run {
            output::text(&words)?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        if run.judges.are_paid() && estimate.expected.calls > 0.0 {
            confirm_spending(&words, self.spending.yes)?;
        }
        let control = self.spending.control(context, budget, &run.judges.ensemble);
        let ended = watch_links(run, control, store)?;
        let report = scale_report(store, GradeSource::Links);
        if self.json {
            let scale = report.as_ref().map(|report| report.json()).ok();
            output::json(&json!({
                "answered": ended.answered,
                "unreadable": ended.unreadable,
                "missing": ended.missing,
                "spent_usd": ended.spent.told_usd(),
                "calls_without_price": ended.spent.unpriced,
                "scale": scale,
                "no_scale": report.as_ref().err().map(ToString::to_string),
            }))?;
        } else {
            print_scale(&report)?;
        }
        ended.finish()
    }
}

/// Prints the scale, or why there is none.
fn print_scale(report: &Result<ScaleReport, AppError>) -> CommandResult {
    match report {
        Ok(report) => {
            for note in &report.notes {
                output::message(&format!("note: {}", clean(note)));
            }
            output::text(&describe(report))
        }
        Err(why) => {
            output::message(&clean(why.to_string()));
            Ok(())
        }
    }
}

/// Numbers of documents with and without a grade, for queries that did not fail as a whole.
fn grades(made: &EndedRun) -> (usize, usize) {
    let scores = || made.rows.iter().flat_map(|row| row.scores.iter().flatten());
    let graded = scores().flatten().count();
    (graded, scores().count() - graded)
}
