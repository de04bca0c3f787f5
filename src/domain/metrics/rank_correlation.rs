//! How alike two rankings of the same documents are.

use std::collections::BTreeSet;

/// Kendall's τ-b of two lists of scores in −1..=1: concordant less discordant pairs over the geometric mean of the pairs
/// untied in each (Kendall 1945). Quadratic in the length.
///
/// `None` for lists of different lengths, for a list whose values are all equal, and where a value is not a number.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    if !comparable(x, y) {
        return None;
    }
    let (mut agree, mut untied_x, mut untied_y) = (0i64, 0i64, 0i64);
    for (at, (xi, yi)) in x.iter().zip(y).enumerate() {
        for (xj, yj) in x.iter().zip(y).take(at) {
            let (dx, dy) = (sign(xi, xj), sign(yi, yj));
            agree += dx * dy;
            untied_x += dx * dx;
            untied_y += dy * dy;
        }
    }
    let tau = agree as f64 / (untied_x as f64 * untied_y as f64).sqrt();
    tau.is_finite().then(|| tau.clamp(-1.0, 1.0))
}

/// Spearman's ρ of two lists of scores in −1..=1: the correlation of their ranks, equal values sharing their mean rank.
///
/// `None` as for [`kendall_tau_b`].
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if !comparable(x, y) {
        return None;
    }
    let (x, y) = (mean_ranks(x), mean_ranks(y));
    // Ranks are halves of whole numbers around a common mean, so these sums are exact.
    let centre = (x.len() as f64 + 1.0) / 2.0;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x
        .iter()
        .map(|r| r - centre)
        .zip(y.iter().map(|r| r - centre))
    {
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    let rho = xy / (xx * yy).sqrt();
    rho.is_finite().then(|| rho.clamp(-1.0, 1.0))
}

/// Rank-biased overlap of two rankings, best first, extrapolated from what they show, in 0..=1 (Webber, Moffat & Zobel
/// 2010, equation 32).
///
/// `persistence` in (0, 1) says how deep a reader goes: 0.9 puts 86 % of the weight on the first ten ranks. The lists may
/// differ in length and content. `None` where one is empty or holds something twice, or for another persistence.
pub fn rank_biased_overlap<T: Ord>(x: &[T], y: &[T], persistence: f64) -> Option<f64> {
    let (long, short) = if x.len() < y.len() { (y, x) } else { (x, y) };
    let distinct = |list: &[T]| list.iter().collect::<BTreeSet<_>>().len() == list.len();
    let persists = persistence > 0.0 && persistence < 1.0;
    if short.is_empty() || !persists || !distinct(long) || !distinct(short) {
        return None;
    }
    let (l, s) = (long.len(), short.len() as f64);
    let (mut in_long, mut in_short) = (BTreeSet::new(), BTreeSet::new());
    let (mut shared, mut shared_at_short, mut sum, mut weight) = (0usize, 0usize, 0.0, 1.0);
    for (at, item) in long.iter().enumerate() {
        let depth = (at + 1) as f64;
        weight *= persistence;
        if let Some(other) = short.get(at) {
            shared += usize::from(in_long.contains(other)) + usize::from(in_short.contains(item));
            shared += usize::from(item == other);
            in_short.insert(other);
            shared_at_short = shared;
        } else {
            shared += usize::from(in_short.contains(item));
            sum += weight * shared_at_short as f64 * (depth - s) / (s * depth);
        }
        in_long.insert(item);
        sum += weight * shared as f64 / depth;
    }
    let rest = (shared - shared_at_short) as f64 / l as f64 + shared_at_short as f64 / s;
    Some((1.0 - persistence) / persistence * sum + rest * weight)
}

fn comparable(x: &[f64], y: &[f64]) -> bool {
    x.len() == y.len() && !x.iter().chain(y).any(|value| value.is_nan())
}

fn sign(x: &f64, y: &f64) -> i64 {
    i64::from(x > y) - i64::from(x < y)
}

/// The rank of each value from 1 for the smallest; equal values share the mean of their ranks.
fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().map(|value| value + 0.0).enumerate().collect();
    order.sort_unstable_by(|x, y| x.1.total_cmp(&y.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tie in order.chunk_by(|x, y| x.1 == y.1) {
        for (at, _) in tie {
            ranks[*at] = before as f64 + (tie.len() as f64 + 1.0) / 2.0;
        }
        before += tie.len();
    }
    ranks
}
