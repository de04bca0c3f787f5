//! What calls would cost, and whether to make them.

use super::command::{CommandResult, usage};
use super::output::{self, clean};
use crate::app::annotate::estimate::JudgeEstimate;
use std::io::{self, BufRead as _, IsTerminal as _};

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
