//! Percentile bootstrap intervals, seeded.

use super::{Interval, LEVEL};
use crate::domain::sampling::SeededRng;
use serde::Serialize;

/// How often a bootstrap resamples.
pub const RESAMPLES: usize = 1000;

/// An estimate with its bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BootstrapEstimate {
    /// The estimate from the data.
    pub value: f64,
    /// Its percentile interval; `None` for fewer than two units.
    pub interval: Option<Interval>,
    /// How many units it is from.
    pub n: usize,
}

/// The percentile bootstrap interval of a statistic of exchangeable units (Efron & Tibshirani 1993, ch. 13).
///
/// `statistic` is given the indexes of a resample, drawn from `0..units` with replacement, and may find it undefined.
/// `None` for fewer than two units, and where more than one resample in twenty is undefined. The ends are order
/// statistics of [`RESAMPLES`] resamples. The interval of few units is too narrow: with 10 of them it covers a mean at
/// about 90 %.
pub fn bootstrap(
    units: usize,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Option<Interval> {
    if units < 2 {
        return None;
    }
    let mut rng = SeededRng::new(seed, &["bootstrap"]);
    let mut drawn = vec![0; units];
    let mut values = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| rng.below(units));
        values.extend(statistic(&drawn).filter(|value| value.is_finite()));
    }
    if values.len() < RESAMPLES - RESAMPLES / 20 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let tail = (0.5 * (1.0 - LEVEL) * values.len() as f64) as usize;
    Some(Interval {
        low: *values.get(tail)?,
        high: *values.get(values.len() - 1 - tail)?,
    })
}

/// The mean of values, one a unit, with its bootstrap interval. `None` without values or with one that is not finite.
pub fn bootstrap_mean(values: &[f64], seed: u64) -> Option<BootstrapEstimate> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = values.len();
    let mean = |sum: f64| sum / n as f64;
    Some(BootstrapEstimate {
        value: mean(values.iter().sum()),
        interval: bootstrap(n, seed, |drawn| {
            Some(mean(drawn.iter().map(|at| values[*at]).sum()))
        }),
        n,
    })
}

/// The mean of `x − y` over paired values, one pair a unit, with its bootstrap interval: pairs are drawn together.
///
/// `None` as in [`bootstrap_mean`], and where the two are not equally many.
pub fn bootstrap_difference(x: &[f64], y: &[f64], seed: u64) -> Option<BootstrapEstimate> {
    (x.len() == y.len()).then_some(())?;
    let gaps: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    bootstrap_mean(&gaps, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_about_its_normal_one() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 200)).collect();
        let estimate = bootstrap_mean(&values, 1).unwrap();
        let interval = estimate.interval.unwrap();
        // Standard deviation 57.73 of the uniform values, so the half width is 1.96 · 57.73 / √200 = 8.0.
        assert_eq!((estimate.value, estimate.n), (99.5, 200));
        assert!((interval.low - 91.5).abs() < 1.0, "{interval:?}");
        assert!((interval.high - 107.5).abs() < 1.0, "{interval:?}");
        assert_eq!(bootstrap_mean(&values, 1), Some(estimate));
        assert_ne!(bootstrap_mean(&values, 2), Some(estimate));
    }

    #[test]
    fn pairs_are_drawn_together() {
        let x: Vec<f64> = (0..30).map(|i| f64::from(i * i)).collect();
        let y: Vec<f64> = x.iter().map(|x| x - 2.0).collect();
        let interval = bootstrap_difference(&x, &y, 5).unwrap().interval.unwrap();
        assert_eq!((interval.low, interval.high), (2.0, 2.0));
        assert_eq!(bootstrap_difference(&x, &y[1..], 5), None);
    }

    #[test]
    fn one_value_has_a_mean_and_no_interval() {
        let one = bootstrap_mean(&[3.0], 1).unwrap();
        assert_eq!((one.value, one.interval, one.n), (3.0, None, 1));
        assert_eq!(bootstrap_mean(&[], 1), None);
        assert_eq!(bootstrap_mean(&[1.0, f64::NAN], 1), None);
    }

    #[test]
    fn a_statistic_that_is_often_undefined_has_no_interval() {
        let half = bootstrap(8, 1, |drawn| (drawn[0] < 4).then_some(1.0));
        assert_eq!(half, None);
    }
}
