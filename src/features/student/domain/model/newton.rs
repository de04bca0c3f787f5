//! Fits the softmax regression: damped Newton steps on a convex objective, with Cholesky
//! decomposition of its Hessian.

use super::{TrainingRow, probabilities};
use crate::domain::numeric::{dot, solve};
use crate::domain::prediction::OutcomeProbabilities;
use std::ops::Range;

const STEPS: usize = 60;
/// Largest gradient, relative to the rows, at which a fit has converged.
const TOLERANCE: f64 = 1e-10;
/// If a step's predicted gain, relative to the rows, is below this value, it is lost in the
/// rounding of the objective, and the step is taken without checking.
const BLURRED: f64 = 1e-11;
/// If the first step with a new Hessian has a predicted gain below this, relative to the rows, the
/// Hessian is reused for the next steps.
const NEAR: f64 = 1e-5;
/// A step is the last one if the next would have a predicted gain below this, relative to the rows.
const LAST: f64 = 1e-19;
const SMALLEST: f64 = 1e-300;
/// Number of rows added to a Hessian at a time, so that its cells are read and written once for all
/// of them.
const TOGETHER: usize = 4;

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

/// The exponentials of the logits −η, η and τ of A, B and a tie, each divided by the largest, so
/// that none overflows.
pub(super) struct Exponentials {
    pub(super) a: f64,
    pub(super) b: f64,
    tie: f64,
    pub(super) sum: f64,
    /// The largest logit.
    top: f64,
}

impl Exponentials {
    #[inline]
    pub(super) fn of(eta: f64, tau: f64) -> Self {
        let top = eta.abs().max(tau);
        let (a, b, tie) = ((-eta - top).exp(), (eta - top).exp(), (tau - top).exp());
        let sum = (a + b) + tie;
        Self {
            a,
            b,
            tie,
            sum,
            top,
        }
    }
}

/// The outcome probabilities for given logits; swapping the documents only changes the sign of the
/// preference, and no other bit.
pub(super) struct Outcomes {
    /// P(B) − P(A).
    pub(super) preference: f64,
    /// P(A) + P(B).
    pub(super) decisiveness: f64,
    pub(super) tie: f64,
    /// ln Σ exp of the three logits.
    pub(super) log_sum: f64,
}

impl Outcomes {
    #[inline]
    pub(super) fn of(eta: f64, tau: f64) -> Self {
        let Exponentials {
            a,
            b,
            tie,
            sum,
            top,
        } = Exponentials::of(eta, tau);
        Self {
            preference: (b - a) / sum,
            decisiveness: (a + b) / sum,
            tie: tie / sum,
            log_sum: top + sum.ln(),
        }
    }
}

/// Training pairs as one contiguous table, which is read sequentially.
pub(super) struct TrainingTable {
    odd: usize,
    width: usize,
    /// By row: the odd features, then the even ones, the first of which is the constant.
    cells: Vec<f64>,
    /// By row.
    targets: Vec<Target>,
}

struct Target {
    preference: f64,
    tie: f64,
    weight: f64,
}

impl TrainingTable {
    /// `None` without rows, and if rows have different features, a weight of 0 or a score outside
    /// 0..=1.
    pub(super) fn new(rows: &[TrainingRow]) -> Option<Self> {
        let first = rows.first()?;
        let (odd, even) = (first.features.odd.len(), first.features.even.len());
        let sound = |row: &TrainingRow| {
            row.features.odd.len() == odd
                && row.features.even.len() == even
                && row.weight > 0.0
                && (0.0..=1.0).contains(&row.score)
        };
        if even == 0 || !rows.iter().all(sound) {
            return None;
        }
        let mut cells = Vec::with_capacity(rows.len() * (odd + even));
        for row in rows {
            cells.extend(&row.features.odd);
            cells.extend(&row.features.even);
        }
        let target = |row: &TrainingRow| {
            let target = OutcomeProbabilities::soft_target(row.score);
            Target {
                preference: target.preference(),
                tie: target.tie(),
                weight: row.weight,
            }
        };
        Some(Self {
            odd,
            width: odd + even,
            cells,
            targets: rows.iter().map(target).collect(),
        })
    }

    /// Number of features, and how many of them (the first ones) are odd.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.width, self.odd)
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.cells[at * self.width..(at + 1) * self.width]
    }
}

struct Objective<'a> {
    table: &'a TrainingTable,
    /// The rows to fit.
    rows: &'a [Range<usize>],
    precision: f64,
}

/// Value and gradient of the objective at some weights.
struct Slope {
    value: f64,
    gradient: Vec<f64>,
    /// By fitted row: second derivatives of the loss by η and η, η and τ, and τ and τ.
    curves: Vec<[f64; 3]>,
}

impl Objective<'_> {
    /// The constant, the first of the even weights, is not penalized.
    fn precision(&self, at: usize) -> f64 {
        if at == self.table.odd {
            0.0
        } else {
            self.precision
        }
    }

    fn at(&self, weights: &[f64]) -> Slope {
        let mut gradient: Vec<f64> = weights
            .iter()
            .enumerate()
            .map(|(at, w)| self.precision(at) * w)
            .collect();
        let penalty: f64 = gradient.iter().zip(weights).map(|(g, w)| 0.5 * g * w).sum();
        let (odd_weights, even_weights) = weights.split_at(self.table.odd);
        let mut curves = Vec::with_capacity(self.rows.iter().map(Range::len).sum());
        let mut loss = 0.0;
        for at in self.rows.iter().cloned().flatten() {
            let row = self.table.row(at);
            let target = &self.table.targets[at];
            let (odd, even) = row.split_at(self.table.odd);
            let (eta, tau) = (dot::<4>(odd_weights, odd), dot::<4>(even_weights, even));
            let found = Outcomes::of(eta, tau);
            let (m, t) = (found.preference, found.tie);
            loss += target.weight * (found.log_sum - (eta * target.preference + tau * target.tie));
            let pull = [
                target.weight * (m - target.preference),
                target.weight * (t - target.tie),
            ];
            let (of_odd, of_even) = gradient.split_at_mut(self.table.odd);
            add_scaled(of_odd, pull[0], odd);
            add_scaled(of_even, pull[1], even);
            curves.push([
                target.weight * (found.decisiveness - m * m),
                -target.weight * t * m,
                target.weight * t * (1.0 - t),
            ]);
        }
        Slope {
            value: penalty + loss,
            gradient,
            curves,
        }
    }

    /// The lower triangle of the Hessian, by rows.
    fn hessian(&self, curves: &[[f64; 3]]) -> Vec<Vec<f64>> {
        let mut hessian: Vec<Vec<f64>> =
            (0..self.table.width).map(|at| vec![0.0; at + 1]).collect();
        for (at, row) in hessian.iter_mut().enumerate() {
            // A tiny penalty on the constant keeps the matrix regular if no pair, or every pair, is
            // a tie.
            row[at] = self.precision(at).max(1e-9);
        }
        let mut rest = curves;
        for range in self.rows {
            let mut at = range.start;
            while at + TOGETHER <= range.end {
                let (block, after) = rest.split_at(TOGETHER);
                let rows: [&[f64]; TOGETHER] = std::array::from_fn(|row| self.table.row(at + row));
                self.add(&mut hessian, rows, std::array::from_fn(|row| block[row]));
                (rest, at) = (after, at + TOGETHER);
            }
            for at in at..range.end {
                let (curve, after) = rest.split_at(1);
                self.add(&mut hessian, [self.table.row(at)], [curve[0]]);
                rest = after;
            }
        }
        hessian
    }

    #[inline]
    fn add<const N: usize>(
        &self,
        hessian: &mut [Vec<f64>],
        rows: [&[f64]; N],
        curves: [[f64; 3]; N],
    ) {
        let odd = self.table.odd;
        for (at, cells) in hessian.iter_mut().enumerate() {
            let scale = |kind: usize| std::array::from_fn(|row| curves[row][kind] * rows[row][at]);
            let (with_odd, with_even) = cells.split_at_mut(odd.min(at + 1));
            add_products(
                with_odd,
                scale(usize::from(at >= odd)),
                rows.map(|row| &row[..odd]),
            );
            if at >= odd {
                add_products(with_even, scale(2), rows.map(|row| &row[odd..]));
            }
        }
    }
}

fn add_scaled(to: &mut [f64], scale: f64, of: &[f64]) {
    for (to, of) in to.iter_mut().zip(of) {
        *to += scale * of;
    }
}

/// Adds Σ scale · x to each cell, where x is the corresponding number of each row.
#[inline]
fn add_products<const N: usize>(cells: &mut [f64], scale: [f64; N], rows: [&[f64]; N]) {
    let rows = rows.map(|row| &row[..cells.len()]);
    for (at, cell) in cells.iter_mut().enumerate() {
        let mut sum = *cell;
        for row in 0..N {
            sum += scale[row] * rows[row][at];
        }
        *cell = sum;
    }
}

/// The weights at the minimum, odd ones first, over some rows of a table, starting from `start`;
/// `None` without rows, and if the weights are not finite.
pub(super) fn minimize(
    table: &TrainingTable,
    rows: &[Range<usize>],
    start: Vec<f64>,
    precision: f64,
) -> Option<Vec<f64>> {
    let objective = Objective {
        table,
        rows,
        precision,
    };
    let all: f64 = rows
        .iter()
        .cloned()
        .flatten()
        .map(|at| table.targets[at].weight)
        .sum();
    if all <= 0.0 {
        return None;
    }
    let mut weights = start;
    let mut slope = objective.at(&weights);
    // A Hessian with the predicted gain of its first step.
    let mut known: Option<(Vec<Vec<f64>>, f64)> = None;
    for _ in 0..STEPS {
        if slope.gradient.iter().all(|x| x.abs() <= TOLERANCE * all) {
            break;
        }
        let near = known.take().filter(|(_, first)| *first <= NEAR);
        let (hessian, first) = match near {
            Some((hessian, first)) => (hessian, Some(first)),
            None => (objective.hessian(&slope.curves), None),
        };
        let step = solve(hessian.clone(), &slope.gradient)?;
        let promised: f64 = step.iter().zip(&slope.gradient).map(|(s, g)| s * g).sum();
        let promised = promised / all;
        let first = first.unwrap_or(promised);
        let moved = |length: f64| -> Vec<f64> {
            weights
                .iter()
                .zip(&step)
                .map(|(w, s)| w - length * s)
                .collect()
        };
        // With the same Hessian, each step multiplies the predicted gain by about the gain of the
        // first step.
        if promised * first <= LAST {
            weights = moved(1.0);
            break;
        }
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..40 {
            let trial = moved(length);
            let reached = objective.at(&trial);
            let gain = 1e-4 * length * promised * all;
            if promised <= BLURRED || reached.value <= slope.value - gain {
                found = Some((trial, reached));
                break;
            }
            length *= 0.5;
        }
        // No step descends: only rounding is left.
        let Some(found) = found else {
            break;
        };
        (weights, slope) = found;
        known = Some((hessian, first));
    }
    weights.iter().all(|w| w.is_finite()).then_some(weights)
}
