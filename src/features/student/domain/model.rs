//! The built-in student: a softmax regression of three outcomes that is symmetric in the documents.
//!
//! P(A) ∝ exp(−η), P(B) ∝ exp(η), P(tie) ∝ exp(τ) with η = w · odd features and τ = v · even
//! features. Swapping the documents only changes the sign of η, and thereby swaps P(A) and P(B), to
//! the last bit.

mod cross_validation;
mod isotonic;
mod newton;
mod temperature;
mod training;

pub use cross_validation::{CrossValidation, NoModel, cross_validate};
pub use isotonic::IsotonicCurves;
pub use training::{TrainingPairs, TrainingQuery, UnjudgedNumbers};

use super::features::PairFeatures;
use super::spool::{Spool, SpoolError};
use crate::domain::prediction::OutcomeProbabilities;
use newton::Exponentials;
use serde::{Deserialize, Serialize};
use temperature::{LastStep, temperature};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudentModel {
    /// Weights of the odd features.
    pub odd: Vec<f64>,
    /// Weights of the even features, the first of which is the constant.
    pub even: Vec<f64>,
    /// Divisor of η and τ: above 1 if the model would be overconfident.
    pub temperature: f64,
    /// Calibration curves for the probabilities, if they do better on held-out queries than a
    /// temperature alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isotonic: Option<IsotonicCurves>,
}

/// The logits η and τ of a pair, with its score and its weight in battles.
type ScoredLogits = ((f64, f64), f64, f64);

/// The pairs of a group of queries, with their logits by one model: η, τ, score and weight.
struct ScoredGroup {
    rows: Spool<4>,
}

impl ScoredGroup {
    fn each(&self, mut visit: impl FnMut(ScoredLogits)) -> Result<(), SpoolError> {
        let row = |[eta, tau, score, weight]: [f64; 4]| visit(((eta, tau), score, weight));
        self.rows.each(row)
    }
}

/// How logits become calibrated probabilities.
#[derive(Clone, Debug, PartialEq)]
struct Calibration {
    temperature: f64,
    isotonic: Option<IsotonicCurves>,
}

impl Calibration {
    /// Fits a temperature to the rows of some groups, starting from a nearby one.
    fn of_temperature(
        groups: &[&ScoredGroup],
        near: f64,
        last: LastStep,
    ) -> Result<Self, SpoolError> {
        let each = |visit: &mut dyn FnMut(_)| groups.iter().try_for_each(|of| of.each(&mut *visit));
        Ok(Self {
            temperature: temperature(each, near, last)?,
            isotonic: None,
        })
    }

    fn of_curves(curves: IsotonicCurves) -> Self {
        Self {
            temperature: 1.0,
            isotonic: Some(curves),
        }
    }

    fn predict(&self, logits: (f64, f64)) -> OutcomeProbabilities {
        calibrated(logits, self.temperature, self.isotonic.as_ref())
    }

    /// Σ weight · cross entropy with the soft targets, in nats.
    fn loss(&self, rows: &ScoredGroup) -> Result<f64, SpoolError> {
        let mut loss = 0.0;
        rows.each(|(logits, score, weight)| {
            loss += weight * newton::cross_entropy_of(score, self.predict(logits));
        })?;
        Ok(loss)
    }
}

impl StudentModel {
    /// The model that minimizes Σ weight · cross entropy with the soft targets + ½ · precision ·
    /// (|w|² + |v|²) over the pairs of the queries at some places, without penalizing the constant;
    /// temperature 1. Starts from the result for another precision or other queries. `None` without
    /// pairs, and if pairs have different features.
    fn of_pairs(
        pairs: &TrainingPairs,
        queries: &[usize],
        precision: f64,
        near: Option<&Self>,
    ) -> Result<Option<Self>, SpoolError> {
        let shape = pairs.shape().filter(|_| precision > 0.0);
        let Some((width, odd)) = shape else {
            return Ok(None);
        };
        let start = near.map(|near| [&near.odd[..], &near.even].concat());
        let start = start.unwrap_or_else(|| vec![0.0; width]);
        let weights = newton::minimize(pairs, (width, odd), queries, start, precision)?;
        let model = |weights: Vec<f64>| {
            let (odd, even) = weights.split_at(odd);
            Self {
                odd: odd.to_vec(),
                even: even.to_vec(),
                temperature: 1.0,
                isotonic: None,
            }
        };
        Ok(weights.map(model))
    }

    pub fn predict(&self, pair: &PairFeatures) -> OutcomeProbabilities {
        calibrated(self.logits(pair), self.temperature, self.isotonic.as_ref())
    }

    fn logits(&self, pair: &PairFeatures) -> (f64, f64) {
        let sum = |weights: &[f64], x: &[f64]| {
            let both = weights.len().min(x.len());
            let (weights, x) = (&weights[..both], &x[..both]);
            (0..both).map(|at| weights[at] * x[at]).sum()
        };
        (sum(&self.odd, pair.odd()), sum(&self.even, pair.even()))
    }
}

/// The probabilities for logits after applying a temperature and calibration curves.
fn calibrated(
    (eta, tau): (f64, f64),
    temperature: f64,
    isotonic: Option<&IsotonicCurves>,
) -> OutcomeProbabilities {
    let found = probabilities(eta / temperature, tau / temperature);
    isotonic.map_or(found, |curves| curves.apply(found))
}

/// The three probabilities for the logits ±η and τ, accurate in the tails.
fn probabilities(eta: f64, tau: f64) -> OutcomeProbabilities {
    let Exponentials { a, b, sum, .. } = Exponentials::of(eta, tau);
    OutcomeProbabilities::new(a / sum, b / sum)
        .unwrap_or_else(|| OutcomeProbabilities::soft_target(0.5))
}

#[cfg(test)]
mod tests;
