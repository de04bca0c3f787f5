//! Fits the softmax regression: damped Newton steps on a convex objective, with Cholesky
//! decomposition of its Hessian.

use super::probabilities;
use super::training::TrainingPairs;
use crate::domain::numeric::{dot, solve};
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::domain::features::PairFeatures;
use crate::features::student::domain::spool::SpoolError;

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
        let exp = |logit: f64| match logit - top {
            // The largest: nothing to compute.
            0.0 => 1.0,
            below => below.exp(),
        };
        let (a, b, tie) = (exp(-eta), exp(eta), exp(tau));
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

struct Objective<'a> {
    pairs: &'a TrainingPairs,
    /// Number of features, and how many of them (the first ones) are odd.
    shape: (usize, usize),
    /// Places of the queries to fit.
    queries: &'a [usize],
    precision: f64,
}

/// Value and gradient of the objective at some weights.
struct Slope {
    value: f64,
    /// Weight of all pairs.
    pairs: f64,
    gradient: Vec<f64>,
}

/// The lower triangle of the matrix of second derivatives, by rows.
type Hessian = Vec<Vec<f64>>;

/// η and τ of a pair.
#[inline]
fn logits(weights: (&[f64], &[f64]), pair: &PairFeatures) -> (f64, f64) {
    (
        dot::<4>(weights.0, pair.odd()),
        dot::<4>(weights.1, pair.even()),
    )
}

impl Objective<'_> {
    /// The constant, the first of the even weights, is not penalized.
    fn precision(&self, at: usize) -> f64 {
        let (_, odd) = self.shape;
        if at == odd { 0.0 } else { self.precision }
    }

    /// The value and the gradient at some weights, and if wanted the Hessian, in one pass over the
    /// pairs.
    fn at(
        &self,
        weights: &[f64],
        wants_hessian: bool,
    ) -> Result<(Slope, Option<Hessian>), SpoolError> {
        let mut gradient: Vec<f64> = weights
            .iter()
            .enumerate()
            .map(|(at, w)| self.precision(at) * w)
            .collect();
        let penalty: f64 = gradient.iter().zip(weights).map(|(g, w)| 0.5 * g * w).sum();
        let (_, odd) = self.shape;
        let mut hessian = wants_hessian.then(|| self.of_penalty());
        let weights = weights.split_at(odd);
        let (of_odd, of_even) = gradient.split_at_mut(odd);
        let (mut loss, mut all) = (0.0, 0.0);
        let mut pairs: [PairFeatures; TOGETHER] = Default::default();
        let mut curves = [[0.0; 3]; TOGETHER];
        let mut read = 0;
        self.pairs.each_at(self.queries, |query| {
            for (at, target) in query.pairs.iter().enumerate() {
                let pair = &mut pairs[read];
                query.read(at, pair);
                let (eta, tau) = logits(weights, pair);
                let found = Outcomes::of(eta, tau);
                let (m, t) = (found.preference, found.tie);
                let soft = OutcomeProbabilities::soft_target(target.score);
                let (preference, tie) = (soft.preference(), soft.tie());
                all += target.weight;
                loss += target.weight * (found.log_sum - (eta * preference + tau * tie));
                add_scaled(of_odd, target.weight * (m - preference), pair.odd());
                add_scaled(of_even, target.weight * (t - tie), pair.even());
                let Some(hessian) = &mut hessian else {
                    continue;
                };
                curves[read] = curve(&found, target.weight);
                read += 1;
                if read == TOGETHER {
                    let [a, b, c, d] = &pairs;
                    self.add(hessian, [a, b, c, d], curves);
                    read = 0;
                }
            }
        })?;
        if let Some(hessian) = &mut hessian {
            for (pair, curve) in pairs.iter().zip(curves).take(read) {
                self.add(hessian, [pair], [curve]);
            }
        }
        let slope = Slope {
            value: penalty + loss,
            pairs: all,
            gradient,
        };
        Ok((slope, hessian))
    }

    /// The Hessian of the penalty.
    fn of_penalty(&self) -> Hessian {
        let (width, _) = self.shape;
        let mut hessian: Hessian = (0..width).map(|at| vec![0.0; at + 1]).collect();
        for (at, row) in hessian.iter_mut().enumerate() {
            // A tiny penalty on the constant keeps the matrix regular if no pair, or every pair, is
            // a tie.
            row[at] = self.precision(at).max(1e-9);
        }
        hessian
    }

    #[inline]
    fn add<const N: usize>(
        &self,
        hessian: &mut [Vec<f64>],
        pairs: [&PairFeatures; N],
        curves: [[f64; 3]; N],
    ) {
        let (_, odd) = self.shape;
        let mut rows = [&[][..]; N];
        for (row, pair) in rows.iter_mut().zip(pairs) {
            *row = pair.all();
        }
        for (at, cells) in hessian.iter_mut().enumerate() {
            let (with_odd, with_even) = cells.split_at_mut(odd.min(at + 1));
            let kind = usize::from(at >= odd);
            add_products(with_odd, at, curves, kind, rows, 0);
            if at >= odd {
                add_products(with_even, at, curves, 2, rows, odd);
            }
        }
    }
}

/// The second derivatives of a pair's loss by η and η, η and τ, and τ and τ.
#[inline]
fn curve(found: &Outcomes, weight: f64) -> [f64; 3] {
    let (m, t) = (found.preference, found.tie);
    [
        weight * (found.decisiveness - m * m),
        -weight * t * m,
        weight * t * (1.0 - t),
    ]
}

#[inline]
fn add_scaled(to: &mut [f64], scale: f64, of: &[f64]) {
    let of = &of[..to.len()];
    for (at, to) in to.iter_mut().enumerate() {
        *to += scale * of[at];
    }
}

/// Adds Σ curve · x · y to each cell: x is the number of each row at an index, y that of the cell,
/// starting with the one at `first`.
#[inline]
fn add_products<const N: usize>(
    cells: &mut [f64],
    at: usize,
    curves: [[f64; 3]; N],
    kind: usize,
    rows: [&[f64]; N],
    first: usize,
) {
    let mut scale = [0.0; N];
    let mut numbers = [&[][..]; N];
    for row in 0..N {
        scale[row] = curves[row][kind] * rows[row][at];
        numbers[row] = &rows[row][first..first + cells.len()];
    }
    for (at, cell) in cells.iter_mut().enumerate() {
        let mut sum = *cell;
        for row in 0..N {
            sum += scale[row] * numbers[row][at];
        }
        *cell = sum;
    }
}

/// The weights at the minimum, odd ones first, over the pairs of the queries at some places,
/// starting from `start`; `None` without pairs, and if the weights are not finite. `shape` is that
/// of the pairs.
pub(super) fn minimize(
    pairs: &TrainingPairs,
    shape: (usize, usize),
    queries: &[usize],
    start: Vec<f64>,
    precision: f64,
) -> Result<Option<Vec<f64>>, SpoolError> {
    let objective = Objective {
        pairs,
        shape,
        queries,
        precision,
    };
    let mut weights = start;
    let (mut slope, mut next) = objective.at(&weights, true)?;
    let all = slope.pairs;
    if all <= 0.0 {
        return Ok(None);
    }
    // A Hessian with the predicted gain of its first step, if it is reused.
    let mut known: Option<(Hessian, f64)> = None;
    for _ in 0..STEPS {
        if slope.gradient.iter().all(|x| x.abs() <= TOLERANCE * all) {
            break;
        }
        let known_or_next = known.take().map(|(hessian, first)| (hessian, Some(first)));
        let known_or_next = known_or_next.or_else(|| Some((next.take()?, None)));
        let Some((hessian, first)) = known_or_next else {
            return Ok(None);
        };
        let Some(step) = solve(hessian.clone(), &slope.gradient) else {
            return Ok(None);
        };
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
        let is_near = first <= NEAR;
        let mut length = 1.0;
        let mut found = None;
        for _ in 0..40 {
            let trial = moved(length);
            let (reached, at_trial) = objective.at(&trial, !is_near)?;
            let gain = 1e-4 * length * promised * all;
            if promised <= BLURRED || reached.value <= slope.value - gain {
                found = Some((trial, reached, at_trial));
                break;
            }
            length *= 0.5;
        }
        // No step descends: only rounding is left.
        let Some(found) = found else {
            break;
        };
        (weights, slope, next) = found;
        known = is_near.then_some((hessian, first));
    }
    Ok(weights.iter().all(|w| w.is_finite()).then_some(weights))
}
