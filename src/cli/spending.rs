//! Shows the cost of calls, and asks whether to make them.

use super::argument::{ArgumentError, number};
use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, clean};
use crate::app::annotate::estimate::JudgeEstimate;
use crate::app::choose_judges::bound_note;
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::number_words;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use clap::Args;
use std::io::{self, BufRead as _, IsTerminal as _};

/// On which terms a command may ask judges and services.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SpendingOptions {
    /// Maximum number of calls in flight per judge or reranker
    #[arg(long, value_name = "N", value_parser = at_once)]
    concurrency: Option<usize>,
    /// Budget of the project in dollars, including earlier spending; a run that reaches it ends
    /// with exit code 3 [default: from the project, or the configuration]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    budget: Option<f64>,
    /// Do not ask before spending money or setting votes aside
    #[arg(long)]
    pub(crate) yes: bool,
    /// Allow sending keys unencrypted to other machines
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// Print the calls and their cost, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl SpendingOptions {
    /// The budget that applies. A dry run spends nothing and gets only the option's value.
    pub(crate) fn budget(
        &self,
        context: &CommandContext,
        project: Option<&Store>,
    ) -> Result<Option<f64>, CommandFailure> {
        if self.dry_run {
            Ok(self.budget)
        } else {
            budget_in_force(context, self.budget, project)
        }
    }

    /// Keeps others from planning the calls that are bought here; not needed for a dry run.
    pub(crate) fn lock(&self, context: &CommandContext) -> Result<Option<RunLock>, CommandFailure> {
        if self.dry_run {
            Ok(None)
        } else {
            Ok(Some(RunLock::take(context.project())?))
        }
    }

    /// The initial controls of a run of these judges. Prints a note if the system allows fewer
    /// calls in flight than it could have.
    pub(crate) fn control(
        &self,
        context: &CommandContext,
        budget: Option<f64>,
        judges: &JudgeEnsemble,
    ) -> RunControl {
        let concurrency = self.concurrency.unwrap_or(context.config.run.concurrency);
        if let Some(note) = bound_note(judges, concurrency) {
            output::message(&format!("note: {note}"));
        }
        RunControl {
            concurrency: concurrency.max(1),
            budget_usd: budget,
            ..RunControl::default()
        }
    }
}

fn at_once(text: &str) -> Result<usize, ArgumentError> {
    number(text, "a whole number of at least 1", |number| *number > 0)
}

/// Parses an amount of money on the command line.
pub(crate) fn dollars(text: &str) -> Result<f64, ArgumentError> {
    number(
        text.trim_start_matches('$'),
        "a dollar amount of 0 or more, such as 2.50",
        |usd: &f64| usd.is_finite() && *usd >= 0.0,
    )
}

/// The maximum total spending of the project in dollars after a command has asked judges: from
/// `--budget`, or else from the project, or else from the configuration. `None` for no limit.
pub(super) fn budget_in_force(
    context: &CommandContext,
    given: Option<f64>,
    project: Option<&Store>,
) -> Result<Option<f64>, CommandFailure> {
    if given.is_some() {
        return Ok(given);
    }
    let kept = project.map(|store| store.read_blocking(|db| db.project_budget()));
    let kept = kept.transpose()?.flatten();
    if let Some(Some(usd)) = kept {
        output::message(&format!(
            "budget ${usd}, set in this project (--budget changes it for one run)"
        ));
    }
    Ok(kept_budget(context, kept))
}

/// The budget stored in the project, which may be unlimited, or else the configured one.
pub(super) fn kept_budget(context: &CommandContext, kept: Option<Option<f64>>) -> Option<f64> {
    kept.unwrap_or(context.config.run.budget)
}

/// Shows what is about to be spent, or which votes are set aside, and asks for confirmation, if
/// there is someone to ask.
pub(crate) fn confirm_spending(words: &str, yes: bool) -> CommandResult {
    output::message(words.trim_end());
    if yes || !io::stdin().is_terminal() {
        return Ok(());
    }
    output::message(
        "Start? Type y and press Enter. Any other answer stops the command. (--yes: do not ask)",
    );
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(usage!(
            "not started; nothing was called and nothing was spent"
        )),
    }
}

/// The same, but nothing is spent without `--yes` if there is nobody to ask.
pub(crate) fn confirm_spending_on_terminal(words: &str, yes: bool) -> CommandResult {
    if yes || io::stdin().is_terminal() {
        return confirm_spending(words, yes);
    }
    output::message(words.trim_end());
    Err(usage!(
        "not started, since it costs money and there is no terminal to ask on; --yes starts it \
         without asking"
    ))
}

/// The effort and cost for each judge.
pub(super) fn estimate_table(judges: &[JudgeEstimate]) -> String {
    let rows = judges.iter().map(|judge| {
        vec![
            clean(&judge.name),
            judge.calls.to_string(),
            judge.tokens_input.to_string(),
            judge.tokens_output.to_string(),
            usd(judge.cost_usd),
            usd(judge.worst_usd),
        ]
    });
    let header = [
        "judge",
        ">calls",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">expected",
        ">at most",
    ];
    output::table(&header, &rows.collect::<Vec<_>>())
}

/// Formats an amount in dollars.
pub(crate) fn usd(usd: Option<f64>) -> String {
    usd.map_or("price unknown".to_owned(), number_words::usd)
}
