//! Sums of products in a fixed order, and the order of scores.

/// The sum of the terms of two lists, `LANES` at once: a single sum would wait for itself, and an order that is fixed gives
/// the same bits whatever vectors the machine has.
#[inline]
pub(super) fn sum_of<const LANES: usize>(
    x: &[f64],
    y: &[f64],
    term: impl Fn(f64, f64) -> f64,
) -> f64 {
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let rest: f64 = rest.map(|(x, y)| term(*x, *y)).sum();
    let mut lanes = [0.0; LANES];
    for (x, y) in xs.zip(ys) {
        for lane in 0..LANES {
            lanes[lane] += term(x[lane], y[lane]);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The scalar product, as [`sum_of`] adds.
#[inline]
pub(super) fn dot<const LANES: usize>(x: &[f64], y: &[f64]) -> f64 {
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

/// The logistic function, exact in both tails.
pub(super) fn sigma(z: f64) -> f64 {
    let tail = (-z.abs()).exp();
    (if z >= 0.0 { 1.0 } else { tail }) / (1.0 + tail)
}
