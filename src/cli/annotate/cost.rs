//! What a run would need, said beforehand.

use super::super::import::pools;
use super::super::judges::is_paid;
use super::super::{Context, Failure, output};
use crate::domain::sanitise;
use crate::engine::Request;
use crate::engine::estimate::Estimate;
use crate::judge::{Ensemble, OFFLINE_LABEL, provider};
use anyhow::anyhow;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;

/// Calls, tokens and dollars that a dataset would need.
pub(super) fn estimate(
    context: &Context,
    dataset: &Path,
    skip_bad: bool,
    ensemble: &Ensemble,
    request: &Request,
) -> Result<Estimate, Failure> {
    let store = if context.project().exists() {
        Some(context.open()?)
    } else {
        None
    };
    let mut estimate = Estimate::new(ensemble);
    for pool in pools(dataset, skip_bad)? {
        estimate.add(&pool, ensemble, request, store.as_ref())?;
    }
    Ok(estimate)
}

/// The estimate as a table, with what it rests on.
pub(super) fn words(estimate: &Estimate) -> String {
    let mut text = format!(
        "{} queries, {} battles, {} votes there already\n",
        estimate.queries, estimate.battles, estimate.already
    );
    let usd = |usd: Option<f64>| usd.map_or("price unknown".to_owned(), |usd| format!("${usd:.4}"));
    let rows: Vec<Vec<String>> = estimate
        .judges
        .iter()
        .map(|judge| {
            vec![
                sanitise::line(&judge.name).into_owned(),
                judge.calls.to_string(),
                judge.tokens_input.to_string(),
                judge.tokens_output.to_string(),
                usd(judge.cost_usd),
                usd(judge.worst_usd),
            ]
        })
        .collect();
    let header = [
        "judge",
        ">calls",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">expected",
        ">at most",
    ];
    text.push_str(&output::table(&header, &rows));
    text.push_str(&format!(
        "total: {} calls, {} expected, {} at most\n",
        estimate.calls(),
        usd(estimate.cost_usd()),
        usd(estimate.worst_usd())
    ));
    if estimate.judges.iter().any(|judge| judge.offline) {
        text.push_str(&format!(
            "{OFFLINE_LABEL}; their tokens are words, and they cost nothing\n"
        ));
    }
    if estimate.judges.iter().any(|judge| !judge.offline) {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

/// Asks before money is spent, where there is somebody to ask; says what it will be either way.
pub(super) fn confirm(
    context: &Context,
    dataset: &Path,
    skip_bad: bool,
    ensemble: &Ensemble,
    request: &Request,
    yes: bool,
) -> Result<(), Failure> {
    if !ensemble.iter().any(|judge| is_paid(judge.as_ref())) {
        return Ok(());
    }
    let estimate = estimate(context, dataset, skip_bad, ensemble, request)?;
    if estimate.calls() == 0 {
        return Ok(());
    }
    output::complain(words(&estimate).trim_end());
    if yes || !io::stdin().is_terminal() {
        return Ok(());
    }
    output::complain("Start? Type y and press Enter; anything else leaves. (--yes does not ask.)");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::usage(anyhow!(
            "not started; nothing was called and nothing was spent"
        ))),
    }
}
