//! The built-in student: a softmax regression of three outcomes that does not know which document is called A.
//!
//! P(A) ∝ exp(−η), P(B) ∝ exp(η), P(tie) ∝ exp(τ) with η = w · odd features and τ = v · even features. Exchanging the
//! documents changes the sign of η alone, and with it P(A) and P(B), to the last bit.

mod cross_validation;
mod isotonic;
mod newton;
mod temperature;

pub use cross_validation::{NoModel, cross_validate};
pub use isotonic::IsotonicCurves;

use super::OutcomeProbabilities;
use super::features::PairFeatures;
use newton::{Exponentials, TrainingTable};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use temperature::temperature;

/// A pair to learn from.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingRow {
    pub features: PairFeatures,
    /// The ensemble's score in 0..=1 (1: B better), from which the soft target follows.
    pub score: f64,
    /// In battles, above 0.
    pub weight: f64,
    /// The query that the pair is of.
    pub query: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudentModel {
    /// Weights of the odd features.
    pub odd: Vec<f64>,
    /// Weights of the even features, of which the first is the constant.
    pub even: Vec<f64>,
    /// What η and τ are divided by: above 1 for a model that would be too sure.
    pub temperature: f64,
    /// What the probabilities are then replaced by, where that does better on queries left out than a temperature alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isotonic: Option<IsotonicCurves>,
}

/// The logits η and τ of a pair with its score and its weight in battles.
type ScoredLogits = ((f64, f64), f64, f64);

/// How logits become probabilities that can be believed.
#[derive(Clone, Debug, PartialEq)]
struct Calibration {
    temperature: f64,
    isotonic: Option<IsotonicCurves>,
}

impl Calibration {
    /// Sought from a temperature that is near.
    fn of_temperature<'a>(rows: impl Iterator<Item = &'a ScoredLogits> + Clone, near: f64) -> Self {
        Self {
            temperature: temperature(rows, near),
            isotonic: None,
        }
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
    fn loss(&self, rows: &[ScoredLogits]) -> f64 {
        let of = |(logits, score, weight): &ScoredLogits| {
            weight * newton::cross_entropy_of(*score, self.predict(*logits))
        };
        rows.iter().map(of).sum()
    }
}

impl StudentModel {
    /// The model that minimises Σ weight · cross entropy with the soft targets + ½ · precision · (|w|² + |v|²) over some rows of
    /// a table, with the constant left out of the penalty; temperature 1. Sought from what another precision or other rows have
    /// found. `None` without rows.
    fn of_table(
        table: &TrainingTable,
        rows: &[Range<usize>],
        precision: f64,
        near: Option<&Self>,
    ) -> Option<Self> {
        if precision <= 0.0 {
            return None;
        }
        let (width, odd) = table.shape();
        let start = near.map(|near| [&near.odd[..], &near.even].concat());
        let start = start.unwrap_or_else(|| vec![0.0; width]);
        let weights = newton::minimise(table, rows, start, precision)?;
        let (odd, even) = weights.split_at(odd);
        Some(Self {
            odd: odd.to_vec(),
            even: even.to_vec(),
            temperature: 1.0,
            isotonic: None,
        })
    }

    pub fn predict(&self, pair: &PairFeatures) -> OutcomeProbabilities {
        calibrated(self.logits(pair), self.temperature, self.isotonic.as_ref())
    }

    fn logits(&self, pair: &PairFeatures) -> (f64, f64) {
        let sum = |weights: &[f64], x: &[f64]| weights.iter().zip(x).map(|(w, x)| w * x).sum();
        (sum(&self.odd, &pair.odd), sum(&self.even, &pair.even))
    }
}

/// The probabilities of logits after a temperature and curves.
fn calibrated(
    (eta, tau): (f64, f64),
    temperature: f64,
    isotonic: Option<&IsotonicCurves>,
) -> OutcomeProbabilities {
    let found = probabilities(eta / temperature, tau / temperature);
    isotonic.map_or(found, |curves| curves.apply(found))
}

/// The three probabilities from the logits ±η and τ; exact in the tails.
fn probabilities(eta: f64, tau: f64) -> OutcomeProbabilities {
    let Exponentials { a, b, sum, .. } = Exponentials::of(eta, tau);
    OutcomeProbabilities::new(a / sum, b / sum)
        .unwrap_or_else(|| OutcomeProbabilities::soft_target(0.5))
}

#[cfg(test)]
mod tests;
