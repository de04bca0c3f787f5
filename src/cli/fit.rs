//! `overrule fit`: a pure filter from battles to scores.

use crate::app::fit::{FitInput, fit_battles};
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::domain::rating::{RatingModel, RatingOptions};
use crate::domain::sanitize;
use anyhow::Context as _;
use clap::Args;
use std::io::{self, Read as _};

#[derive(Debug, Args)]
#[command(
    after_help = "Reads {\"documents\":[\"d1\",…],\"battles\":[{\"a\":\"d1\",\"b\":\"d2\",\"score\":0.667,\"weight\":1.0}]}.
A score is in 0..1, where 0 means that a is better; the weight is optional, in battles, and at
most 1e9. Writes scores with standard errors and 95 % rank intervals: for each document on its own
(rank_low, rank_high), and wider ones that hold for all documents at once (rank_low_at_once, …).

Example:
  echo '{\"documents\":[\"x\",\"y\"],\"battles\":[{\"a\":\"x\",\"b\":\"y\",\"score\":0.25}]}' | \
  overrule fit"
)]
pub(crate) struct FitCommand {
    /// Model: map, mle, zbench or thurstone
    #[arg(long, default_value_t = RatingModel::Map)]
    model: RatingModel,
    /// Dispersion: variance of a battle's score relative to one coin flip (1/3 for three judges)
    #[arg(long, default_value_t = 1.0 / 3.0)]
    phi: f64,
    /// Precision of the Gaussian prior, per battle
    #[arg(long, default_value_t = RatingOptions::default().lambda)]
    lambda: f64,
}

impl FitCommand {
    pub(crate) fn run(self) -> CommandResult {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("stdin is not readable text")
            .map_err(CommandFailure::usage)?;
        if text.trim().is_empty() {
            return Err(usage!(
                "stdin is empty; expected one JSON object with documents and battles, as `overrule \
                 fit --help` shows"
            ));
        }
        let input: FitInput = serde_json::from_str(&text)
            .map_err(|error| usage!("stdin: {}", sanitize::line(&error.to_string())))?;
        for (name, value) in [("--phi", self.phi), ("--lambda", self.lambda)] {
            if !value.is_finite() || value < 0.0 {
                return Err(usage!("{name} {value}: must be a number of at least 0"));
            }
        }
        let options = RatingOptions {
            model: self.model,
            lambda: self.lambda,
            taste: 0.0,
        };
        let fitted =
            fit_battles(&input, options, self.phi).map_err(|error| usage!("stdin: {error}"))?;
        output::json(&fitted)
    }
}
