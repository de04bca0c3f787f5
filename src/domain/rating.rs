//! Scores from battles: Bradley–Terry with a Gaussian prior, alternative models, and the
//! uncertainty of the scores.
//!
//! A battle of documents `a` and `b` with score `s` means that `b` won the share `s` of it. Scores
//! are log-strengths in natural units: `b` beats `a` with probability σ(e_b − e_a). Every function
//! here is pure, and the same arguments give the same bits.

mod evidence;
mod link;
mod matrix;
mod newton;
mod ranks;
mod structure;
mod taste_errors;
mod tastes;
mod ties;
mod uncertainty;
mod zbench;

pub use evidence::{
    CLEAR_GAIN, PRIOR_BATTLES, PriorEvidence, PriorGridEnd, TasteEvidence, prior_grid_end,
};
pub use ranks::{RankInterval, TopDraws, cut_below, rank_intervals, ranks, top_draws};
pub use structure::{Structure, structure};
pub use taste_errors::{JudgeErrors, taste_errors};
pub use tastes::{MAX_TASTE, MIN_TASTE, Taste, weight_with_tastes};
pub use uncertainty::{
    Covariance, Dispersion, MAX_DENSE, covariance, covariance_drawn_in, dispersion, firmness,
    leverage,
};

use crate::domain::named::named;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The largest weight of an observation, in battles. With heavier ones, rounding would hide the
/// lighter battles.
pub const MAX_WEIGHT: f64 = 1e9;

/// Converts the default prior from the logistic to the erf scale: λ is multiplied by its square.
const ERF_SCALE: f64 = 2.376;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    /// The share of the battle that went to B, in 0..=1 (1: B is better).
    pub score: f64,
    /// Number of battles this counts for, from 0 to [`MAX_WEIGHT`].
    pub weight: f64,
    /// Discrimination: a factor for the gap of the two scores. 1 for a plain battle, the only value
    /// that zBench supports.
    pub slope: f64,
    /// An advantage of B that does not depend on the documents, in score units. 0 for a plain
    /// battle, the only value that zBench supports.
    pub offset: f64,
    /// The number of the judge who answered, if judges' tastes matter; `None` for verdicts and
    /// predictions. Ignored without tastes.
    pub judge: Option<u32>,
}

impl Observation {
    /// A plain battle: slope 1, offset 0.
    pub fn new(a: usize, b: usize, score: f64, weight: f64) -> Self {
        Self {
            a,
            b,
            score,
            weight,
            slope: 1.0,
            offset: 0.0,
            judge: None,
        }
    }

    /// The probability that B wins this battle, given the fitted scores, its slope and its offset.
    /// Tastes do not matter.
    pub fn expected(&self, model: RatingModel, scores: &[f64]) -> f64 {
        link::probability(model, self.argument(scores))
    }

    fn argument(&self, scores: &[f64]) -> f64 {
        self.slope * (scores[self.b] - scores[self.a]) + self.offset
    }

    /// Whether the likelihood depends on it: it has weight, and its documents differ.
    pub(in crate::domain) fn counts(&self) -> bool {
        self.a != self.b && self.weight > 0.0
    }
}

named! {
    "a model", "lowercase";
    #[derive(Default)]
    pub enum RatingModel {
        /// Bradley–Terry with a Gaussian prior: one finite solution for any battles.
        #[default]
        Map,
        /// Bradley–Terry without a prior: fails unless every document is linked to every other by
        /// wins both ways.
        Mle,
        /// zBench's iteration with zBench's stopping rule, with identical results.
        Zbench,
        /// The normal-error model of the zELO paper, P = (1 + erf(e_b − e_a)) / 2, with a Gaussian
        /// prior.
        Thurstone,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RatingOptions {
    pub model: RatingModel,
    /// Prior precision per document if one battle weighs 1; above 0. `Map` uses it directly,
    /// `Thurstone` times 2.376², which is the same prior on the erf scale; `Mle` and `Zbench` have
    /// no prior.
    pub lambda: f64,
    /// Variance of a judge's taste for a document, relative to that of true scores; 0 if judges have
    /// no tastes. Only `Map` models them (science.md § Tastes).
    #[serde(skip_serializing_if = "is_zero")]
    pub taste: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Default for RatingOptions {
    fn default() -> Self {
        Self {
            model: RatingModel::Map,
            lambda: 0.05,
            taste: 0.0,
        }
    }
}

impl RatingOptions {
    /// The precision on the scale of the model's own scores: 0 without a prior.
    fn precision(&self) -> f64 {
        match self.model {
            RatingModel::Map => self.lambda,
            RatingModel::Mle | RatingModel::Zbench => 0.0,
            RatingModel::Thurstone => self.lambda * ERF_SCALE * ERF_SCALE,
        }
    }

    /// The precision of a judge's taste for a document if one battle weighs 1; `None` without tastes.
    pub(in crate::domain) fn taste_precision(&self) -> Option<f64> {
        (self.model == RatingModel::Map && self.taste > 0.0).then(|| self.lambda / self.taste)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// One score per document, summing to 0. Natural-log strength; about 2.4 times smaller on the
    /// Thurstone scale. Scores that the solver cannot distinguish, given its stopping rule, are
    /// equal.
    pub scores: Vec<f64>,
    /// The judges' tastes for the documents that they have compared; empty if none are modeled.
    pub tastes: Vec<Taste>,
    /// Newton steps taken, or zBench iterations.
    pub iterations: usize,
    /// The largest absolute component of the objective's gradient at the scores.
    pub gradient: f64,
    /// Whether the solver met its own stopping rule. zBench gives up after 1000 iterations and uses
    /// the last scores.
    pub converged: bool,
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatingError {
    /// The likelihood without a prior has no finite maximum.
    #[error("the battles alone do not fix the scores: {}", why(unbounded, *components))]
    NoFiniteMaximum {
        /// Documents whose score would diverge, by pool index: see [`Structure::unbounded`].
        unbounded: Vec<usize>,
        /// Number of groups of documents that never met; the gap between two groups is
        /// undetermined.
        components: usize,
    },
    #[error("observation {index}: {reason}")]
    BadObservation {
        /// Its index in the slice.
        index: usize,
        reason: &'static str,
    },
    #[error("the prior precision must be a number above 0, not {lambda}")]
    BadPrior { lambda: f64 },
    #[error(
        "the variance of tastes must be 0 or from {MIN_TASTE} to {MAX_TASTE} times that of scores, not {taste}"
    )]
    BadTaste { taste: f64 },
}

impl RatingError {
    /// The documents that cause the error, after a colon, or an empty string; `name` returns the
    /// name of a document.
    pub fn blamed(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::NoFiniteMaximum { unbounded, .. } if !unbounded.is_empty() => {
                let names: Vec<String> = unbounded.iter().map(|at| name(*at)).collect();
                format!(": {}", names.join(", "))
            }
            _ => String::new(),
        }
    }
}

fn why(unbounded: &[usize], components: usize) -> String {
    let mut reasons = Vec::new();
    if !unbounded.is_empty() {
        reasons.push(format!(
            "{} of the documents only win or only lose against the rest of their group",
            unbounded.len()
        ));
    }
    if components > 1 {
        reasons.push(format!(
            "the documents fall into {components} groups that never met"
        ));
    }
    reasons.join(", and ")
}

/// Fits the model to the observations of one pool.
///
/// Observations of weight 0 do not change a bit of the result, and neither do battles of a document
/// against itself, except in `Zbench`, where they raise the diagonal of the win matrix. `warm` is
/// the starting point of the Newton solvers, which reach the same scores (within 1e-12) from
/// anywhere. `Zbench` always starts at 0, since its result depends on the path.
pub fn fit(
    documents: usize,
    observations: &[Observation],
    options: &RatingOptions,
    warm: Option<&[f64]>,
) -> Result<Fit, RatingError> {
    check(documents, observations)?;
    match options.model {
        RatingModel::Zbench => return Ok(zbench::fit(documents, observations)),
        RatingModel::Mle => refuse_unbounded(documents, observations)?,
        RatingModel::Map | RatingModel::Thurstone => {
            if !(options.lambda.is_finite() && options.lambda > 0.0) {
                return Err(RatingError::BadPrior {
                    lambda: options.lambda,
                });
            }
        }
    }
    let taste = options.taste;
    if taste != 0.0 && !(MIN_TASTE..=MAX_TASTE).contains(&taste) {
        return Err(RatingError::BadTaste { taste });
    }
    Ok(if options.model == RatingModel::Thurstone {
        newton::minimize(documents, observations, options, warm, link::erf_link)
    } else {
        newton::minimize(documents, observations, options, warm, link::logistic)
    })
}

fn refuse_unbounded(documents: usize, observations: &[Observation]) -> Result<(), RatingError> {
    let structure = structure(documents, observations);
    if structure.is_strongly_connected() {
        return Ok(());
    }
    Err(RatingError::NoFiniteMaximum {
        unbounded: structure.unbounded,
        components: structure.component_count,
    })
}

fn check(documents: usize, observations: &[Observation]) -> Result<(), RatingError> {
    for (index, o) in observations.iter().enumerate() {
        let reason = if o.a >= documents || o.b >= documents {
            "it names a document that is not in the pool"
        } else if !(0.0..=1.0).contains(&o.score) {
            "its score is not a number from 0 to 1"
        } else if !(0.0..=MAX_WEIGHT).contains(&o.weight) {
            "its weight is not a number from 0 to 1e9"
        } else if !(o.slope.is_finite() && o.offset.is_finite()) {
            "its slope or its offset is not a finite number"
        } else {
            continue;
        };
        return Err(RatingError::BadObservation { index, reason });
    }
    Ok(())
}

/// The fitted probability that `b` beats `a` in a plain battle.
pub fn expected(model: RatingModel, scores: &[f64], a: usize, b: usize) -> f64 {
    link::probability(model, scores[b] - scores[a])
}
