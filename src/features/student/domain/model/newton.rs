//! Fits the softmax regression: damped Newton steps on a convex objective, with Cholesky
//! decomposition of its Hessian.

use super::probabilities;
use super::training::TrainingPairs;
use crate::domain::numeric::{dot, solve};
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::domain::features::{LANES, Lanes, PairFeatures};
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
        // Selected without branches: neither the sign of η nor the larger one is predictable.
        let size = eta.abs();
        let (top, other) = if tau > size { (tau, size) } else { (size, tau) };
        // 1, and not a number for an infinite logit.
        let first = 1.0 + 0.0 * top;
        let (second, least) = ((other - top).exp(), (-size - top).exp());
        let (decisive, tie) = if tau > size {
            (second, first)
        } else {
            (first, second)
        };
        let (a, b) = if eta < 0.0 {
            (decisive, least)
        } else {
            (least, decisive)
        };
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
    /// The largest logit, and Σ exp of the three logits, each minus the largest: in 1..=3.
    top: f64,
    sum: f64,
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
            top,
            sum,
        }
    }
}

/// Σ weight · ln x of numbers in 1..=3: of many with one weight, by one logarithm of their product.
struct WeightedLogs {
    sum: f64,
    weight: f64,
    /// Of the last numbers, which have this weight.
    product: f64,
}

impl Default for WeightedLogs {
    fn default() -> Self {
        Self {
            sum: 0.0,
            weight: 0.0,
            product: 1.0,
        }
    }
}

impl WeightedLogs {
    /// Products stay below three times this, so that none overflows.
    const LARGEST: f64 = 1e300;

    #[inline]
    fn add(&mut self, weight: f64, x: f64) {
        if weight != self.weight || self.product > Self::LARGEST {
            self.sum = self.sum();
            (self.weight, self.product) = (weight, 1.0);
        }
        self.product *= x;
    }

    fn sum(&self) -> f64 {
        self.sum + self.weight * self.product.ln()
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
        let mut hessian = wants_hessian.then(|| HessianSum::of_penalty(self));
        let weights = weights.split_at(odd);
        let mut slopes = [&gradient[..odd], &gradient[odd..]].map(padded);
        let (mut loss, mut all) = (0.0, 0.0);
        let mut logs = WeightedLogs::default();
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
                loss += target.weight * (found.top - (eta * preference + tau * tie));
                logs.add(target.weight, found.sum);
                let [of_odd, of_even] = &mut slopes;
                let (odd, even) = pair.padded();
                add_products(of_odd, [target.weight * (m - preference)], [lanes(odd)]);
                add_products(of_even, [target.weight * (t - tie)], [lanes(even)]);
                let Some(hessian) = &mut hessian else {
                    continue;
                };
                curves[read] = curve(&found, target.weight);
                read += 1;
                if read == TOGETHER {
                    let [a, b, c, d] = &pairs;
                    hessian.add([a, b, c, d], curves);
                    read = 0;
                }
            }
        })?;
        if let Some(hessian) = &mut hessian {
            for (pair, curve) in pairs.iter().zip(curves).take(read) {
                hessian.add([pair], [curve]);
            }
        }
        let [of_odd, of_even] = &slopes;
        gradient[..odd].copy_from_slice(&of_odd[..odd]);
        let even = gradient.len() - odd;
        gradient[odd..].copy_from_slice(&of_even[..even]);
        let slope = Slope {
            value: penalty + (loss + logs.sum()),
            pairs: all,
            gradient,
        };
        Ok((slope, hessian.map(|hessian| hessian.rows())))
    }
}

/// The Hessian while pairs are added to it.
struct HessianSum {
    /// Number of odd, and of even features.
    odd: usize,
    even: usize,
    /// Row by row, the cells with odd features, and in rows of even ones those with even features,
    /// each up to whole lanes. Cells above the diagonal are not read.
    cells: Vec<f64>,
}

impl HessianSum {
    /// The Hessian of the penalty.
    fn of_penalty(objective: &Objective<'_>) -> Self {
        let (width, odd) = objective.shape;
        let mut cells = Vec::new();
        for at in 0..width {
            let row = at.checked_sub(odd);
            if row.is_some() {
                cells.resize(cells.len() + odd.next_multiple_of(LANES), 0.0);
            }
            // A tiny penalty on the constant keeps the matrix regular if no pair, or every pair, is
            // a tie.
            let precision = objective.precision(at).max(1e-9);
            let (row, start) = (row.unwrap_or(at), cells.len());
            cells.resize(start + whole_lanes(row), 0.0);
            cells[start + row] = precision;
        }
        Self {
            odd,
            even: width - odd,
            cells,
        }
    }

    #[inline]
    fn add<const N: usize>(&mut self, pairs: [&PairFeatures; N], curves: [[f64; 3]; N]) {
        let (mut odd, mut even) = ([&[][..]; N], [&[][..]; N]);
        let (mut of_odd, mut of_even) = ([&[][..]; N], [&[][..]; N]);
        for pair in 0..N {
            (odd[pair], even[pair]) = pairs[pair].padded();
            (of_odd[pair], of_even[pair]) = (lanes(odd[pair]), lanes(even[pair]));
        }
        let mut rest = &mut self.cells[..];
        for at in 0..self.odd {
            let (cells, others) = rest.split_at_mut(whole_lanes(at));
            rest = others;
            add_products(cells, scales(curves, 0, odd, at), of_odd);
        }
        for at in 0..self.even {
            let (with_odd, others) = rest.split_at_mut(self.odd.next_multiple_of(LANES));
            let (with_even, others) = others.split_at_mut(whole_lanes(at));
            rest = others;
            add_products(with_odd, scales(curves, 1, even, at), of_odd);
            add_products(with_even, scales(curves, 2, even, at), of_even);
        }
    }

    /// The sum of all pairs.
    fn rows(&self) -> Hessian {
        let mut rest = &self.cells[..];
        let mut next = |cells: usize| {
            let (of, others) = rest.split_at(cells.next_multiple_of(LANES));
            rest = others;
            &of[..cells]
        };
        let of_odd = (0..self.odd).map(|at| (at + 1, 0));
        let of_even = (0..self.even).map(|at| (self.odd, at + 1));
        let row = |(odd, even)| [next(odd), next(even)].concat();
        of_odd.chain(of_even).map(row).collect()
    }
}

/// Number of cells up to and including the one at an index, in whole lanes.
#[inline]
fn whole_lanes(at: usize) -> usize {
    (at + 1).next_multiple_of(LANES)
}

#[inline]
fn lanes(numbers: &[f64]) -> &[Lanes] {
    let (lanes, _) = numbers.as_chunks();
    lanes
}

/// Numbers followed by zeros up to whole lanes.
fn padded(numbers: &[f64]) -> Vec<f64> {
    let mut padded = numbers.to_vec();
    padded.resize(numbers.len().next_multiple_of(LANES), 0.0);
    padded
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

/// A second derivative of each pair times its number at an index.
#[inline]
fn scales<const N: usize>(
    curves: [[f64; 3]; N],
    kind: usize,
    numbers: [&[f64]; N],
    at: usize,
) -> [f64; N] {
    let mut scales = [0.0; N];
    for pair in 0..N {
        scales[pair] = curves[pair][kind] * numbers[pair][at];
    }
    scales
}

/// Adds Σ scale · number to each cell, pair by pair.
#[inline]
fn add_products<const N: usize>(cells: &mut [f64], scales: [f64; N], numbers: [&[Lanes]; N]) {
    let (cells, _) = cells.as_chunks_mut::<LANES>();
    let mut of_cells = [&[][..]; N];
    for pair in 0..N {
        of_cells[pair] = &numbers[pair][..cells.len()];
    }
    for at in 0..cells.len() {
        let mut sum = cells[at];
        for pair in 0..N {
            let numbers = &of_cells[pair][at];
            for lane in 0..LANES {
                sum[lane] += scales[pair] * numbers[lane];
            }
        }
        cells[at] = sum;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn logarithms_of_products_are_sums_of_logarithms(
            numbers in prop::collection::vec(
                (prop::sample::select(vec![1.0, 1.0, 2.5]), 1.0..=3.0f64),
                0..2_000,
            )
        ) {
            let mut logs = WeightedLogs::default();
            numbers.iter().for_each(|(weight, x)| logs.add(*weight, *x));
            let expected: f64 = numbers.iter().map(|(weight, x)| weight * x.ln()).sum();
            prop_assert!((logs.sum() - expected).abs() <= 1e-12 * (1.0 + expected));
        }
    }

    #[test]
    fn many_logarithms_of_one_weight_do_not_overflow() {
        let mut logs = WeightedLogs::default();
        (0..10_000).for_each(|_| logs.add(2.0, 3.0));
        assert!((logs.sum() / (20_000.0 * 3.0f64.ln()) - 1.0).abs() < 1e-12);
        logs.add(2.0, f64::NAN);
        assert!(logs.sum().is_nan());
    }
}
