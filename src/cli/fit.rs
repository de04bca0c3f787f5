//! `overrule fit`: a pure filter from battles to scores.

use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::clean;
use crate::domain::rating::{self, Observation, RatingModel, RatingOptions};
use crate::domain::sanitise;
use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Read as _};

/// Seed of the draws behind rank intervals.
const SEED: u64 = 0x5eed;

#[derive(Debug, Args)]
#[command(
    after_help = "Reads {\"documents\":[\"d1\",…],\"battles\":[{\"a\":\"d1\",\"b\":\"d2\",\"score\":0.667,\"weight\":1.0}]}
(score in 0..1, 0 means a is better; weight optional, in battles) and writes scores with standard errors and
95 % rank intervals.

Example:
  echo '{\"documents\":[\"x\",\"y\"],\"battles\":[{\"a\":\"x\",\"b\":\"y\",\"score\":0.25}]}' | overrule fit"
)]
pub(super) struct FitCommand {
    /// map, mle, zbench or thurstone
    #[arg(long, default_value_t = RatingModel::Map)]
    model: RatingModel,
    /// Dispersion: variance of a battle's score relative to one coin flip (1/3 for three judges)
    #[arg(long, default_value_t = 1.0 / 3.0)]
    phi: f64,
    /// Precision of the Gaussian prior, per battle
    #[arg(long, default_value_t = RatingOptions::default().lambda)]
    lambda: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitInput {
    documents: Vec<String>,
    battles: Vec<FitBattle>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitBattle {
    a: String,
    b: String,
    score: f64,
    weight: Option<f64>,
}

#[derive(Debug, Serialize)]
struct FitOutput<'a> {
    model: RatingModel,
    scores: Vec<FitScore<'a>>,
    iterations: usize,
    gradient: f64,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FitScore<'a> {
    document: &'a str,
    zelo: f64,
    se: Option<f64>,
    rank: usize,
    rank_low: Option<usize>,
    rank_high: Option<usize>,
}

impl FitCommand {
    pub(super) fn run(self) -> CommandResult {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("stdin is not readable text")
            .map_err(CommandFailure::usage)?;
        let input: FitInput = serde_json::from_str(&text)
            .map_err(|error| usage!("stdin: {}", sanitise::line(&error.to_string())))?;
        for (name, value) in [("--phi", self.phi), ("--lambda", self.lambda)] {
            if !value.is_finite() || value < 0.0 {
                return Err(usage!("{name} {value}: expected a number from 0 up"));
            }
        }
        let mut index = HashMap::new();
        for (at, document) in input.documents.iter().enumerate() {
            if index.insert(document.as_str(), at).is_some() {
                let name = sanitise::line(document);
                return Err(usage!("stdin: documents[{at}]: {name:?} stands twice"));
            }
        }
        let mut observations = Vec::with_capacity(input.battles.len());
        for (at, battle) in input.battles.iter().enumerate() {
            let find = |id: &str| {
                index.get(id).copied().ok_or_else(|| {
                    let name = sanitise::line(id);
                    usage!("stdin: battles[{at}]: {name:?} is not among the documents")
                })
            };
            let (a, b) = (find(&battle.a)?, find(&battle.b)?);
            observations.push(Observation::new(
                a,
                b,
                battle.score,
                battle.weight.unwrap_or(1.0),
            ));
        }
        let options = RatingOptions {
            model: self.model,
            lambda: self.lambda,
        };
        let name = |at: &usize| input.documents.get(*at).map_or(String::new(), clean);
        let fit =
            rating::fit(input.documents.len(), &observations, &options, None).map_err(|error| {
                let who = error.blamed(|at| name(&at));
                let what = error.to_string().replace("observation ", "battle ");
                usage!("stdin: {what}{who}")
            })?;
        let covariance = rating::covariance(
            input.documents.len(),
            &observations,
            &fit,
            &options,
            self.phi,
        );
        let intervals = covariance
            .as_ref()
            .map(|covariance| rating::rank_intervals(&fit.scores, covariance, SEED));
        let ranks = rating::ranks(&fit.scores);
        let scores = input
            .documents
            .iter()
            .enumerate()
            .map(|(at, document)| FitScore {
                document,
                zelo: fit.scores[at],
                se: covariance.as_ref().map(|covariance| covariance.se(at)),
                rank: ranks[at],
                rank_low: intervals.as_ref().map(|intervals| intervals[at].low),
                rank_high: intervals.as_ref().map(|intervals| intervals[at].high),
            })
            .collect();
        let selves = input
            .battles
            .iter()
            .enumerate()
            .filter(|(_, battle)| battle.a == battle.b);
        let mut warnings: Vec<String> = selves
            .map(|(at, battle)| {
                format!(
                    "battles[{at}] is of {} with itself",
                    sanitise::line(&battle.a)
                )
            })
            .collect();
        let said = crate::domain::ranking::fit_warnings(
            input.documents.len(),
            &observations,
            &fit,
            &options,
        );
        warnings.extend(said.iter().map(|warning| warning.words(|at| name(&at))));
        output::json(&FitOutput {
            model: self.model,
            scores,
            iterations: fit.iterations,
            gradient: fit.gradient,
            warnings,
        })?;
        Ok(())
    }
}
