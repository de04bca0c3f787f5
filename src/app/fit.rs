//! A pure filter from battles to scores: the input and output of `overrule fit`.

use crate::app::error::{AppError, invalid};
use crate::domain::ranking::fit_warnings;
use crate::domain::rating::{self, Observation, RatingModel, RatingOptions};
use crate::domain::sanitize;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Random seed of the samples behind rank intervals.
const SEED: u64 = 0x5eed;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitInput {
    pub documents: Vec<String>,
    pub battles: Vec<FitBattle>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitBattle {
    pub a: String,
    pub b: String,
    pub score: f64,
    pub weight: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct FitOutput<'a> {
    pub model: RatingModel,
    pub scores: Vec<FitScore<'a>>,
    pub iterations: usize,
    pub gradient: f64,
    pub warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct FitScore<'a> {
    pub document: &'a str,
    pub zelo: f64,
    pub se: Option<f64>,
    pub rank: usize,
    pub rank_low: Option<usize>,
    pub rank_high: Option<usize>,
    /// The simultaneous 95 % interval: those of all documents hold jointly.
    pub rank_low_at_once: Option<usize>,
    pub rank_high_at_once: Option<usize>,
}

/// Scores with standard errors and 95 % rank intervals; `phi` is the dispersion of a battle's
/// score.
pub fn fit_battles(
    input: &FitInput,
    options: RatingOptions,
    phi: f64,
) -> Result<FitOutput<'_>, AppError> {
    let mut index = HashMap::new();
    for (at, document) in input.documents.iter().enumerate() {
        if index.insert(document.as_str(), at).is_some() {
            let name = sanitize::line(document);
            return Err(invalid!("documents[{at}]: {name:?} occurs twice"));
        }
    }
    let mut observations = Vec::with_capacity(input.battles.len());
    for (at, battle) in input.battles.iter().enumerate() {
        let find = |id: &str| {
            index.get(id).copied().ok_or_else(|| {
                let name = sanitize::line(id);
                invalid!("battles[{at}]: {name:?} is not among the documents")
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
    let name = |at: &usize| {
        input
            .documents
            .get(*at)
            .map_or(String::new(), |name| sanitize::line(name).into_owned())
    };
    let fit =
        rating::fit(input.documents.len(), &observations, &options, None).map_err(|error| {
            let who = error.blamed(|at| name(&at));
            let what = error.to_string().replace("observation ", "battle ");
            invalid!("{what}{who}")
        })?;
    let mut by_identifier: Vec<usize> = (0..input.documents.len()).collect();
    by_identifier.sort_by_key(|at| &input.documents[*at]);
    let covariance = rating::covariance_drawn_in(by_identifier, &observations, &fit, &options, phi);
    let intervals = covariance
        .as_ref()
        .map(|covariance| rating::rank_intervals(&fit.scores, covariance, SEED));
    let interval = |at: usize| intervals.as_ref()?.get(at).copied();
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
            rank_low: interval(at).map(|i| i.low),
            rank_high: interval(at).map(|i| i.high),
            rank_low_at_once: interval(at).map(|i| i.low_at_once),
            rank_high_at_once: interval(at).map(|i| i.high_at_once),
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
                "battles[{at}] compares {} with itself",
                sanitize::line(&battle.a)
            )
        })
        .collect();
    let said = fit_warnings(input.documents.len(), &observations, &fit, &options);
    warnings.extend(said.iter().map(|warning| warning.words(|at| name(&at))));
    Ok(FitOutput {
        model: options.model,
        scores,
        iterations: fit.iterations,
        gradient: fit.gradient,
        warnings,
    })
}
