//! Measures how far labels agree: shares with intervals, Cohen's κ, Krippendorff's α, and shares
//! from a sample drawn with unequal probabilities.
//!
//! Every interval is at the level [`LEVEL`]. Undefined estimates are `None`, never 0.

mod alpha;
mod battles;
mod clusters;
mod kappa;
mod survey;

pub use alpha::{Alpha, LabelUnits, alpha};
pub use battles::{
    BattleLabels, LabelShares, LabelTable, battle_alpha, battle_kappa, label_shares,
};
pub use clusters::ClusteredError;
pub use kappa::{Kappa, kappa};
pub use survey::{SampledItem, SurveyShare, survey_share};

use super::analysis::wilson_share;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::BTreeMap;

/// The confidence level of every interval in this module.
pub const LEVEL: f64 = 0.95;

/// An interval at the level [`LEVEL`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The normal interval `value` ± z · `se`, clamped to `least`..=`most`. `None` unless `se` is
    /// above 0: if every answer was the same, an estimated error of 0 says nothing.
    pub fn normal(value: f64, se: f64, least: f64, most: f64) -> Option<Self> {
        let half = Normal::standard().inverse_cdf(0.5 + LEVEL / 2.0) * se;
        (se > 0.0 && half.is_finite() && value.is_finite()).then(|| Self {
            low: (value - half).max(least),
            high: (value + half).min(most),
        })
    }

    fn wilson(share: f64, n: f64) -> Self {
        let (low, high) = wilson_share(share, n, LEVEL);
        Self { low, high }
    }
}

/// A share of equally weighted items, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The numerator: a count, or a sum of fractions if items can count in part.
    pub part: f64,
    pub n: usize,
    /// `part` / `n`, in 0..=1.
    pub value: f64,
    /// The Wilson score interval (Wilson 1927), over clusters if there are any.
    pub interval: Interval,
}

impl Share {
    /// The mean of values in 0..=1 that come in clusters, such as battles of queries. Values
    /// outside this range, NaN included, are skipped; `None` if none are left.
    ///
    /// The interval is Wilson's with an effective number of answers that matches the variance of
    /// the cluster totals, at most the actual number, and with the t quantile (Korn & Graubard
    /// 1998). With a single cluster, or one item per cluster, it is Wilson's interval of the items.
    /// Wilson's variance is that of yes-or-no answers, which is the largest possible: with values
    /// in between, the interval is too wide rather than too narrow.
    pub fn clustered(values: impl IntoIterator<Item = (usize, f64)>) -> Option<Self> {
        let mut totals: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        let values = values.into_iter();
        for (cluster, value) in values.filter(|(_, value)| (0.0..=1.0).contains(value)) {
            let (part, n) = totals.entry(cluster).or_default();
            *part += value;
            *n += 1;
        }
        Self::of_clusters(totals.into_values())
    }

    /// [`Share::clustered`] of each cluster's part and number of items.
    pub fn of_clusters(totals: impl IntoIterator<Item = (f64, usize)>) -> Option<Self> {
        let totals: Vec<(f64, usize)> = totals.into_iter().filter(|(_, n)| *n > 0).collect();
        let sum: f64 = totals.iter().map(|(part, _)| part).sum();
        let n: usize = totals.iter().map(|(_, n)| n).sum();
        if totals.len() < 2 || totals.len() == n {
            return Self::sum(sum, n);
        }
        let value = sum / n as f64;
        let pull = |(part, of): &(f64, usize)| (part - value * *of as f64) / n as f64;
        let error = ClusteredError::new(totals.iter().map(pull).enumerate());
        Self::of_sum(sum, n, error)
    }

    /// The share of a sum over `n` items, using its clustered error; without one, Wilson's interval
    /// of the items.
    pub fn of_sum(part: f64, n: usize, error: Option<ClusteredError>) -> Option<Self> {
        let share = Self::sum(part, n)?;
        // Clusters that do not differ at all say nothing about how much others might.
        let Some(error) = error.filter(|error| error.se > 0.0) else {
            return Some(share);
        };
        let n = share.n as f64;
        let worth = share.value * (1.0 - share.value) / error.se.powi(2);
        let effective = worth.min(n) * error.normal_factor();
        Some(Self {
            interval: Interval::wilson(share.value, effective),
            ..share
        })
    }

    fn sum(part: f64, n: usize) -> Option<Self> {
        let value = (n > 0).then(|| part / n as f64)?;
        Some(Self {
            part,
            n,
            value,
            interval: Interval::wilson(value, n as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::analysis::wilson;

    #[test]
    fn a_share_has_the_interval_of_wilson() {
        let share = Share::of_clusters([(81.0, 263)]).unwrap();
        assert_eq!(
            wilson(81, 263, LEVEL),
            Some((share.interval.low, share.interval.high))
        );
        assert_eq!(Share::of_clusters([(0.0, 0)]), None);
    }

    #[test]
    fn halves_count_as_halves_and_nonsense_is_left_out() {
        let values = [1.0, 0.5, 0.0, f64::NAN, 1.5];
        let share = Share::clustered(values.map(|value| (0, value))).unwrap();
        assert_eq!((share.part, share.n, share.value), (1.5, 3, 0.5));
        assert_eq!(Share::clustered([(0, f64::NAN)]), None);
    }

    #[test]
    fn no_error_gives_no_normal_interval() {
        assert_eq!(Interval::normal(1.0, 0.0, -1.0, 1.0), None);
        assert_eq!(Interval::normal(1.0, f64::NAN, -1.0, 1.0), None);
        let cut = Interval::normal(0.9, 0.1, -1.0, 1.0).unwrap();
        assert!((cut.low - 0.704_003_6).abs() < 1e-6 && cut.high == 1.0);
    }
}
