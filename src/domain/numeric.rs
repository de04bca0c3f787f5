//! Shared arithmetic: sums of products in a fixed order, sorting by score, linear systems,
//! correlation and median.

use statrs::statistics::{Data, OrderStatistics};

/// Sums the terms of two lists with `LANES` accumulators: a single accumulator would wait for each
/// addition to complete, and a fixed order gives the same bits on every machine, whatever its
/// vector width.
#[inline]
pub(super) fn sum_of<const LANES: usize>(
    x: &[f64],
    y: &[f64],
    term: impl Fn(f64, f64) -> f64,
) -> f64 {
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    // Indexes instead of `zip`, whose constructor is a call that costs as much as a short list.
    let of_rest = x_rest.len().min(y_rest.len());
    let rest: f64 = (0..of_rest).map(|at| term(x_rest[at], y_rest[at])).sum();
    let mut lanes = [0.0; LANES];
    for at in 0..xs.len().min(ys.len()) {
        let (x, y) = (&xs[at], &ys[at]);
        for lane in 0..LANES {
            lanes[lane] += term(x[lane], y[lane]);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The dot product, summed like [`sum_of`].
#[inline]
pub(crate) fn dot<const LANES: usize>(x: &[f64], y: &[f64]) -> f64 {
    sum_of::<LANES>(x, y, |x, y| x * y)
}

/// y += factor · x.
#[inline]
pub(super) fn axpy(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// Indexes by score, best first; equal scores stay in index order.
pub(crate) fn best_first(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]));
    order
}

/// The logistic function, accurate in both tails.
pub(crate) fn sigma(z: f64) -> f64 {
    let tail = (-z.abs()).exp();
    (if z >= 0.0 { 1.0 } else { tail }) / (1.0 + tail)
}

/// Solves H x = g by Cholesky decomposition, reading only the lower triangle of H; `None` unless H
/// is positive definite.
pub(crate) fn solve(mut matrix: Vec<Vec<f64>>, right: &[f64]) -> Option<Vec<f64>> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - known;
            matrix[i][j] = if i == j {
                (rest > 0.0).then(|| rest.sqrt())?
            } else {
                rest / matrix[j][j]
            };
        }
    }
    let mut x = right.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| matrix[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / matrix[i][i];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// Pearson's correlation in −1..=1; `None` if one side does not vary.
pub(crate) fn correlation(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let mut means = PairMeans::of(pairs.clone().count());
    pairs.clone().for_each(|pair| means.add(pair));
    let mut spread = PairSpread::about(means);
    pairs.for_each(|pair| spread.add(pair));
    spread.correlation()
}

/// The means of a number of pairs, for a [`PairSpread`] about them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairMeans {
    n: f64,
    x: f64,
    y: f64,
}

impl PairMeans {
    pub(crate) fn of(pairs: usize) -> Self {
        let n = pairs as f64;
        Self { n, x: 0.0, y: 0.0 }
    }

    pub(crate) fn add(&mut self, (x, y): (f64, f64)) {
        self.x += x / self.n;
        self.y += y / self.n;
    }
}

/// Sums of squares and products about the means, from a second pass over the same pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairSpread {
    means: PairMeans,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl PairSpread {
    pub(crate) fn about(means: PairMeans) -> Self {
        Self {
            means,
            xx: 0.0,
            yy: 0.0,
            xy: 0.0,
        }
    }

    pub(crate) fn add(&mut self, (x, y): (f64, f64)) {
        let (x, y) = (x - self.means.x, y - self.means.y);
        self.xx += x * x;
        self.yy += y * y;
        self.xy += x * y;
    }

    /// See [`correlation`].
    pub(crate) fn correlation(&self) -> Option<f64> {
        let Self { means, xx, yy, xy } = *self;
        // Equal numbers differ from their mean only by rounding.
        let varies = |squares: f64, mean: f64| squares > 1e-24 * means.n * (1.0 + mean * mean);
        (varies(xx, means.x) && varies(yy, means.y)).then(|| xy / (xx * yy).sqrt())
    }
}

/// The median (the mean of the middle two for an even number of values); `None` without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| Data::new(values).median())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_where_it_is_positive_definite() {
        let x = solve(vec![vec![4.0], vec![2.0, 3.0]], &[2.0, 5.0]).unwrap();
        assert!((x[0] + 0.5).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
        assert_eq!(solve(vec![vec![1.0], vec![2.0, 1.0]], &[1.0, 1.0]), None);
        assert_eq!(solve(vec![vec![f64::NAN]], &[1.0]), None);
        assert_eq!(solve(vec![vec![1e-300]], &[1e300]), None);
    }

    #[test]
    fn a_sum_adds_its_lanes_and_then_the_rest() {
        let x: Vec<f64> = (1..=11).map(|at| 1.0 / f64::from(at)).collect();
        let y: Vec<f64> = (1..=11).map(|at| f64::from(at).sqrt()).collect();
        let lane = |lane: usize| 0.0 + x[lane] * y[lane] + x[lane + 4] * y[lane + 4];
        let lanes = lane(0) + lane(1) + lane(2) + lane(3);
        let rest = x[8] * y[8] + x[9] * y[9] + x[10] * y[10];
        assert_eq!(dot::<4>(&x, &y).to_bits(), (lanes + rest).to_bits());
        assert_eq!(dot::<4>(&x[..2], &y[..2]), x[0] * y[0] + x[1] * y[1]);
        assert_eq!(dot::<4>(&[], &[]), 0.0);
    }

    #[test]
    fn a_correlation_wants_two_sides_that_vary() {
        let of = |x: &[f64], y: &[f64]| correlation(x.iter().copied().zip(y.iter().copied()));
        assert!((of(&[1.0, 2.0, 3.0], &[2.0, 1.0, 3.0]).unwrap() - 0.5).abs() < 1e-12);
        assert!((of(&[1.0, 2.0], &[9.0, -4.0]).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(of(&[0.1; 7], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
        assert_eq!(of(&[], &[]), None);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
