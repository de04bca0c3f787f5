//! The difference of two judges' shares of right answers on the same pairs.

use crate::domain::agreement::Interval;
use crate::domain::analysis::wilson_share;
use serde::Serialize;

/// Numbers of pairs by which of two judges is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairedCounts {
    pub both_right: usize,
    pub only_new: usize,
    pub only_old: usize,
    pub both_wrong: usize,
}

impl PairedCounts {
    /// Counts pairs, each with whether the new and the old judge are right.
    pub fn of(pairs: impl IntoIterator<Item = [bool; 2]>) -> Self {
        let mut counts = Self::default();
        for pair in pairs {
            *match pair {
                [true, true] => &mut counts.both_right,
                [true, false] => &mut counts.only_new,
                [false, true] => &mut counts.only_old,
                [false, false] => &mut counts.both_wrong,
            } += 1;
        }
        counts
    }

    pub fn pairs(self) -> usize {
        self.both_right + self.only_new + self.only_old + self.both_wrong
    }

    /// Number of pairs about which the new judge is right, and the old one.
    pub fn right(self) -> [usize; 2] {
        [
            self.both_right + self.only_new,
            self.both_right + self.only_old,
        ]
    }

    /// The share of pairs about which the new judge is right minus that of the old one; `None`
    /// without pairs.
    pub fn difference(self) -> Option<f64> {
        let n = self.pairs() as f64;
        (n > 0.0).then(|| (self.only_new as f64 - self.only_old as f64) / n)
    }

    /// The interval of the difference at a level such as 0.9, from the Wilson intervals of both
    /// shares and their correlation with a continuity correction (Newcombe 1998, *Improved
    /// confidence intervals for the difference between binomial proportions based on paired data*,
    /// method 10). `None` without pairs.
    pub fn interval(self, level: f64) -> Option<Interval> {
        let difference = self.difference()?;
        let n = self.pairs() as f64;
        let [new, old] = self.right().map(|right| right as f64 / n);
        let ([new_low, new_high], [old_low, old_high]) = (
            distances(new, wilson_share(new, n, level)),
            distances(old, wilson_share(old, n, level)),
        );
        let phi = self.correlation();
        let limit = |of_new: f64, of_old: f64| {
            // Rounding can make a difference of equal numbers negative.
            let square = of_new.powi(2) - 2.0 * phi * of_new * of_old + of_old.powi(2);
            square.max(0.0).sqrt()
        };
        Some(Interval {
            low: difference - limit(new_low, old_high),
            high: difference + limit(new_high, old_low),
        })
    }

    /// The correlation φ of the two judges' right answers, with the continuity correction of
    /// method 10.
    fn correlation(self) -> f64 {
        let [a, b, c, d] = [
            self.both_right,
            self.only_new,
            self.only_old,
            self.both_wrong,
        ]
        .map(|count| count as f64);
        let product = a * d - b * c;
        let corrected = if product > 0.0 {
            (product - (a + b + c + d) / 2.0).max(0.0)
        } else {
            product
        };
        let scale = ((a + b) * (c + d) * (a + c) * (b + d)).sqrt();
        if scale > 0.0 { corrected / scale } else { 0.0 }
    }
}

/// The distances of a share from its limits.
fn distances(share: f64, (low, high): (f64, f64)) -> [f64; 2] {
    [share - low, high - share]
}

/// The one-sided mid-p value of McNemar's test that the new judge is right more often:
/// P(X > b) + P(X = b) / 2 for X ~ Bin(b + c, ½), where b pairs are right for the new judge only and
/// c for the old one only. 0.5 if there is no such pair.
pub fn better_p(only_new: usize, only_old: usize) -> f64 {
    let n = only_new + only_old;
    // Sum from the end of the distribution, by ratios of neighbouring terms on a log scale.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..only_old {
        tail += term.exp();
        term += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    tail + term.exp() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    const GOLDEN: &str = include_str!("../../../tests/golden/trust/gate.json");

    #[derive(Deserialize)]
    struct Golden {
        tolerance: f64,
        mcnemar: Vec<McNemarCase>,
        difference: Vec<DifferenceCase>,
    }

    #[derive(Deserialize)]
    struct McNemarCase {
        b: usize,
        c: usize,
        better_mid_p: f64,
        worse_mid_p: f64,
    }

    #[derive(Deserialize)]
    struct DifferenceCase {
        a: usize,
        b: usize,
        c: usize,
        d: usize,
        difference: f64,
        low: f64,
        high: f64,
    }

    #[test]
    fn the_difference_has_the_interval_of_newcombe() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        assert!(golden.difference.len() > 5);
        for case in golden.difference {
            let counts = PairedCounts {
                both_right: case.a,
                only_new: case.b,
                only_old: case.c,
                both_wrong: case.d,
            };
            let interval = counts.interval(0.95).unwrap();
            let found = [counts.difference().unwrap(), interval.low, interval.high];
            for (found, expected) in found.iter().zip([case.difference, case.low, case.high]) {
                assert!((found - expected).abs() < golden.tolerance, "{counts:?}");
            }
        }
        assert_eq!(PairedCounts::default().interval(0.95), None);
    }

    #[test]
    fn the_mid_p_value_is_exact() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        assert!(golden.mcnemar.len() > 5);
        for McNemarCase {
            b,
            c,
            better_mid_p,
            worse_mid_p,
        } in golden.mcnemar
        {
            assert!(
                (better_p(b, c) - better_mid_p).abs() < golden.tolerance,
                "{b} {c}"
            );
            assert!(
                (better_p(c, b) - worse_mid_p).abs() < golden.tolerance,
                "{b} {c}"
            );
        }
        assert!(better_p(1_200, 1_000) < 0.001 && better_p(1_090, 1_100) > 0.5);
    }
}
