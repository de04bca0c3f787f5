//! The built-in student: a softmax regression of three outcomes that does not know which document is called A.
//!
//! P(A) ∝ exp(−η), P(B) ∝ exp(η), P(tie) ∝ exp(τ) with η = w · odd features and τ = v · even features. Exchanging the
//! documents changes the sign of η alone, and with it P(A) and P(B), to the last bit.

mod cross_validation;
mod isotonic;
mod newton;

pub use cross_validation::cross_validate;
pub use isotonic::IsotonicCurves;

use super::OutcomeProbabilities;
use super::features::PairFeatures;
use serde::{Deserialize, Serialize};

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
    fn of_temperature(rows: &[ScoredLogits]) -> Self {
        Self {
            temperature: temperature(rows),
            isotonic: None,
        }
    }

    /// `None` for too few rows.
    fn of_isotonic(rows: &[ScoredLogits]) -> Option<Self> {
        let predicted = rows.iter().map(|((eta, tau), score, weight)| {
            let target = OutcomeProbabilities::soft_target(*score);
            (probabilities(*eta, *tau), target, *weight)
        });
        Some(Self {
            temperature: 1.0,
            isotonic: Some(IsotonicCurves::fit(predicted)?),
        })
    }

    fn predict(&self, (eta, tau): (f64, f64)) -> OutcomeProbabilities {
        let found = probabilities(eta / self.temperature, tau / self.temperature);
        self.isotonic
            .as_ref()
            .map_or(found, |curves| curves.apply(found))
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
    /// The model that minimises Σ weight · cross entropy with the soft targets + ½ · precision · (|w|² + |v|²), with the
    /// constant left out of the penalty; temperature 1. `None` without rows, or where rows have different features.
    pub fn fit(rows: &[TrainingRow], precision: f64) -> Option<Self> {
        Self::fit_where(rows, precision, None, |_| true)
    }

    /// The same of the rows whose query is wanted, sought from what another precision has found.
    fn fit_where(
        rows: &[TrainingRow],
        precision: f64,
        near: Option<&Self>,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let first = rows.first()?;
        let (odd, even) = (first.features.odd.len(), first.features.even.len());
        let alike = |row: &TrainingRow| {
            row.features.odd.len() == odd
                && row.features.even.len() == even
                && row.weight > 0.0
                && (0.0..=1.0).contains(&row.score)
        };
        let sound = even > 0 && precision > 0.0 && rows.iter().all(alike);
        let rows: Vec<&TrainingRow> = rows.iter().filter(|row| wanted(row.query)).collect();
        if !sound || rows.is_empty() {
            return None;
        }
        let start = near.map(|near| [&near.odd[..], &near.even].concat());
        let start = start.unwrap_or_else(|| vec![0.0; odd + even]);
        let weights = newton::minimise(&rows, odd, start, precision)?;
        let (odd, even) = weights.split_at(odd);
        Some(Self {
            odd: odd.to_vec(),
            even: even.to_vec(),
            temperature: 1.0,
            isotonic: None,
        })
    }

    pub fn predict(&self, pair: &PairFeatures) -> OutcomeProbabilities {
        let (eta, tau) = self.logits(pair);
        let found = probabilities(eta / self.temperature, tau / self.temperature);
        self.isotonic
            .as_ref()
            .map_or(found, |curves| curves.apply(found))
    }

    fn logits(&self, pair: &PairFeatures) -> (f64, f64) {
        let sum = |weights: &[f64], x: &[f64]| weights.iter().zip(x).map(|(w, x)| w * x).sum();
        (sum(&self.odd, &pair.odd), sum(&self.even, &pair.even))
    }
}

/// The three probabilities from the logits ±η and τ; exact in the tails.
fn probabilities(eta: f64, tau: f64) -> OutcomeProbabilities {
    let top = eta.abs().max(tau);
    let (a, b, tie) = ((-eta - top).exp(), (eta - top).exp(), (tau - top).exp());
    let sum = (a + b) + tie;
    OutcomeProbabilities::new(a / sum, b / sum)
        .unwrap_or_else(|| OutcomeProbabilities::soft_target(0.5))
}

/// The temperature that minimises the cross entropy of logits with targets, by golden section of its logarithm between
/// .1 and 10; 1 without any.
fn temperature(logits: &[ScoredLogits]) -> f64 {
    let loss = |log: f64| -> f64 {
        let scale = (-log).exp();
        let of = |((eta, tau), score, weight): &ScoredLogits| {
            weight * newton::cross_entropy(eta * scale, tau * scale, *score)
        };
        logits.iter().map(of).sum()
    };
    if logits.is_empty() {
        return 1.0;
    }
    let golden = 0.5 * (5.0f64.sqrt() - 1.0);
    let (mut low, mut high) = (-(10.0f64.ln()), 10.0f64.ln());
    let (mut x, mut y) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_x, mut at_y) = (loss(x), loss(y));
    for _ in 0..60 {
        if at_x <= at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - golden * (high - low);
            at_x = loss(x);
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + golden * (high - low);
            at_y = loss(y);
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests;
