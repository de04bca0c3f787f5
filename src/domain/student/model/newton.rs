//! The fit of the softmax regression: damped Newton steps on a convex objective, with a Cholesky factor of its Hessian.

use super::{TrainingRow, probabilities};
use crate::domain::numeric::solve;
use crate::domain::student::OutcomeProbabilities;

const STEPS: usize = 60;
/// Largest gradient, relative to the rows, at which a fit is done.
const TOLERANCE: f64 = 1e-10;
const SMALLEST: f64 = 1e-300;

/// −Σ P* ln P of the logits ±η and τ against the soft target of a score, in nats.
pub(super) fn cross_entropy(eta: f64, tau: f64, score: f64) -> f64 {
    cross_entropy_of(score, probabilities(eta, tau))
}

/// −Σ P* ln P of a prediction against the soft target of a score, in nats.
pub(super) fn cross_entropy_of(score: f64, found: OutcomeProbabilities) -> f64 {
    let target = OutcomeProbabilities::soft_target(score);
    let pairs = [
        (target.a(), found.a()),
        (target.b(), found.b()),
        (target.tie(), found.tie()),
    ];
    let parts = pairs.iter().filter(|(target, _)| *target > 0.0);
    parts
        .map(|(target, p)| -target * p.max(SMALLEST).ln())
        .sum()
}

struct Objective<'a> {
    rows: &'a [&'a TrainingRow],
    odd: usize,
    precision: f64,
}

impl Objective<'_> {
    fn logits(&self, row: &TrainingRow, weights: &[f64]) -> (f64, f64) {
        let (odd, even) = weights.split_at(self.odd);
        let sum = |w: &[f64], x: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum();
        (sum(odd, &row.features.odd), sum(even, &row.features.even))
    }

    /// The constant, the first of the even weights, is not held back.
    fn precision(&self, at: usize) -> f64 {
        if at == self.odd { 0.0 } else { self.precision }
    }

    fn value(&self, weights: &[f64]) -> f64 {
        let penalty = weights.iter().enumerate();
        let penalty = penalty.map(|(at, w)| 0.5 * self.precision(at) * w * w);
        let rows = self.rows.iter().map(|row| {
            let (eta, tau) = self.logits(row, weights);
            row.weight * cross_entropy(eta, tau, row.score)
        });
        penalty.sum::<f64>() + rows.sum::<f64>()
    }

    /// Gradient, and the lower triangle of the Hessian row by row.
    fn derivatives(&self, weights: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = weights.len();
        let mut gradient: Vec<f64> = (0..n).map(|at| self.precision(at) * weights[at]).collect();
        let mut hessian: Vec<Vec<f64>> = (0..n).map(|at| vec![0.0; at + 1]).collect();
        for (at, row) in hessian.iter_mut().enumerate() {
            // A trace of precision on the constant keeps the matrix regular where no pair is, or all are, a tie.
            row[at] = self.precision(at).max(1e-9);
        }
        for row in self.rows {
            let (eta, tau) = self.logits(row, weights);
            let (found, target) = (
                probabilities(eta, tau),
                OutcomeProbabilities::soft_target(row.score),
            );
            let (m, t) = (found.preference(), found.tie());
            let pull = [
                row.weight * (m - target.preference()),
                row.weight * (t - target.tie()),
            ];
            let curves = [
                row.weight * (found.decisiveness() - m * m),
                -row.weight * t * m,
                row.weight * t * (1.0 - t),
            ];
            let (odd, even) = (&row.features.odd, &row.features.even);
            let places = gradient.iter_mut().zip(&mut hessian);
            let values = odd.iter().map(|x| (false, x));
            let values = values.chain(even.iter().map(|x| (true, x)));
            for (at, ((slope, curve), (is_even, x))) in places.zip(values).enumerate() {
                let kind = usize::from(is_even);
                *slope += pull[kind] * x;
                let (with_odd, with_even) =
                    curve.split_at_mut(at.min(odd.len()) + usize::from(!is_even));
                add_scaled(with_odd, curves[kind] * x, odd);
                add_scaled(with_even, curves[2] * x, even);
            }
        }
        (gradient, hessian)
    }
}

fn add_scaled(to: &mut [f64], scale: f64, of: &[f64]) {
    for (to, of) in to.iter_mut().zip(of) {
        *to += scale * of;
    }
}

/// The weights at the minimum, sought from `start`, which has the `odd` weights first; `None` where they are no numbers.
pub(super) fn minimise(
    rows: &[&TrainingRow],
    odd: usize,
    start: Vec<f64>,
    precision: f64,
) -> Option<Vec<f64>> {
    let objective = Objective {
        rows,
        odd,
        precision,
    };
    let goal = TOLERANCE * rows.iter().map(|row| row.weight).sum::<f64>();
    let mut weights = start;
    let mut value = objective.value(&weights);
    for _ in 0..STEPS {
        let (gradient, hessian) = objective.derivatives(&weights);
        if gradient.iter().all(|x| x.abs() <= goal) {
            break;
        }
        let step = solve(hessian, &gradient)?;
        let slope: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..40 {
            let trial: Vec<f64> = weights
                .iter()
                .zip(&step)
                .map(|(w, s)| w - length * s)
                .collect();
            let reached = objective.value(&trial);
            if reached <= value - 1e-4 * length * slope {
                found = Some((trial, reached));
                break;
            }
            length *= 0.5;
        }
        // No step leads down: what is left is rounding.
        let Some((trial, reached)) = found else {
            break;
        };
        (weights, value) = (trial, reached);
    }
    weights.iter().all(|w| w.is_finite()).then_some(weights)
}
