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

/// What is to be judged, by whom, and how.
pub(super) struct Plan<'a> {
    pub(super) dataset: &'a Path,
    pub(super) skip_bad: bool,
    pub(super) ensemble: &'a Ensemble,
    pub(super) request: &'a Request,
    /// In batches, at their price.
    pub(super) batch: bool,
}

impl Plan<'_> {
    /// Calls, tokens and dollars that the dataset would need.
    pub(super) fn estimate(&self, context: &Context) -> Result<Estimate, Failure> {
        let store = if context.project().exists() {
            Some(context.open()?)
        } else {
            None
        };
        let mut estimate = Estimate::new(self.ensemble);
        if self.batch {
            estimate = estimate.in_batches();
        }
        for pool in pools(self.dataset, self.skip_bad)? {
            estimate.add(&pool, self.ensemble, self.request, store.as_ref())?;
        }
        Ok(estimate)
    }

    /// Asks before money is spent, where there is somebody to ask; says what it will be either way.
    pub(super) fn confirm(&self, context: &Context, yes: bool) -> Result<(), Failure> {
        if !self.ensemble.iter().any(|judge| is_paid(judge.as_ref())) {
            return Ok(());
        }
        let estimate = self.estimate(context)?;
        if estimate.calls() == 0 {
            return Ok(());
        }
        output::complain(words(&estimate).trim_end());
        if yes || !io::stdin().is_terminal() {
            return Ok(());
        }
        output::complain(
            "Start? Type y and press Enter; anything else leaves. (--yes does not ask.)",
        );
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        match answer.trim() {
            "y" | "Y" | "yes" => Ok(()),
            _ => Err(Failure::usage(anyhow!(
                "not started; nothing was called and nothing was spent"
            ))),
        }
    }
}

/// The estimate as a table, with what it rests on.
pub(super) fn words(estimate: &Estimate) -> String {
    let most = if estimate.rounds { "at most " } else { "" };
    let mut text = format!(
        "{} queries, {most}{} battles, {} votes there already\n",
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
        "total: {most}{} calls, {} expected, {} at most\n",
        estimate.calls(),
        usd(estimate.cost_usd()),
        usd(estimate.worst_usd())
    ));
    if estimate.pending > 0 {
        text.push_str(&format!(
            "{} more calls are being made by batches\n",
            estimate.pending
        ));
    }
    if estimate.batch {
        text.push_str(
            "at the price of batches, but for one call a judge, made at once to see that such calls work\n",
        );
    }
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
