//! What calls would cost, and whether to make them.

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, clean};
use crate::app::annotate::estimate::JudgeEstimate;
use crate::store::Store;
use std::io::{self, BufRead as _, IsTerminal as _};

/// Dollars that the project may have spent in all when a command has asked judges: those of its `--budget`, else those that the
/// project keeps, else the configured ones. `None` is no limit.
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
    Ok(kept.unwrap_or(context.config.run.budget))
}

/// Says what is about to be spent and asks, where there is somebody to ask.
pub(super) fn confirm_spending(words: &str, yes: bool) -> CommandResult {
    output::message(words.trim_end());
    if yes || !io::stdin().is_terminal() {
        return Ok(());
    }
    output::message("Start? Type y and press Enter; anything else leaves. (--yes does not ask.)");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(usage!(
            "not started; nothing was called and nothing was spent"
        )),
    }
}

/// What each judge would need.
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

/// Dollars in words.
pub(super) fn usd(usd: Option<f64>) -> String {
    usd.map_or("price unknown".to_owned(), |usd| format!("${usd:.4}"))
}
