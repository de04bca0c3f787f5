//! Whether longer documents have the better chance, beyond what their scores explain.

use super::Rating;
use super::logistic::LogisticSearch;
use crate::domain::agreement::{Interval, Share};
use serde::{Deserialize, Serialize};

/// How length goes with a judge's preference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LengthBias {
    /// Of the ballots that are no tie and whose documents differ in length, those for the longer document.
    ///
    /// Longer documents may well be better: this alone is no bias.
    pub longer: Option<Share>,
    /// The slope on length with the fitted gap held fixed.
    pub slope: Option<LengthSlope>,
}

/// λ in logit P(B) = β (e_b − e_a) + λ ln(length of B / length of A).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthSlope {
    /// λ: positive where the judge prefers length. Twice the length is worth λ ln 2 on the scale of the scores times β.
    pub value: f64,
    /// Its standard error, with the queries as clusters where there are several; the error of the fitted gaps is not in it.
    pub se: f64,
    pub interval: Option<Interval>,
    /// Ballots with a gap and two documents that are not empty.
    pub n: usize,
}

/// What one query adds to how often a judge prefers the longer document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LengthTally {
    longer: u32,
    /// Ballots that are no tie and whose documents differ in length.
    uneven: u32,
}

impl LengthTally {
    pub(super) fn of(ratings: &[Rating]) -> Self {
        let mut tally = Self::default();
        let ratings = ratings.iter().filter(|rating| rating.a != rating.b);
        for rating in ratings.filter(|b| b.length_a != b.length_b && b.margin.get() != 0.0) {
            let longer_is_b = rating.length_b > rating.length_a;
            tally.uneven += 1;
            tally.longer += u32::from(longer_is_b == (rating.margin.get() > 0.0));
        }
        tally
    }

    /// The share over queries, which are its clusters.
    pub(super) fn share(queries: &[Self]) -> Option<Share> {
        let of = |tally: &Self| (f64::from(tally.longer), tally.uneven as usize);
        Share::of_clusters(queries.iter().map(of))
    }
}

impl LengthSlope {
    /// The slope of a search over cases of (gap, ln of the lengths' ratio), unless it has no finite maximum.
    ///
    /// The gaps are best those of the whole ensemble: gaps fitted to this judge's votes alone already contain its bias.
    pub(super) fn of(search: LogisticSearch) -> Option<Self> {
        let n = search.cases();
        search.found().map(|fit| Self {
            value: fit.coefficients[1],
            se: fit.se[1],
            interval: fit.interval(1),
            n,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{length_bias, rating};
    use super::*;

    #[test]
    fn the_slope_is_the_log_odds_a_doubling() {
        // At every gap the document of twice the length wins three times of four.
        let mut ratings = Vec::new();
        for gap in [1.0, -1.0] {
            for (length_a, length_b, wins) in [(10, 20, 3), (20, 10, 1)] {
                ratings.extend((0..4).map(|vote| Rating {
                    length_a,
                    length_b,
                    gap: Some(gap),
                    ..rating(0, 0, 1, if vote < wins { 1.0 } else { -1.0 })
                }));
            }
        }
        let empty = Rating {
            length_a: 0,
            ..ratings[0]
        };
        ratings.push(empty);
        let bias = length_bias(&ratings);
        let (longer, slope) = (bias.longer.unwrap(), bias.slope.unwrap());
        assert_eq!((longer.part, longer.n, slope.n), (13.0, 17, 16));
        assert!(
            (slope.value - 3.0f64.ln() / 2.0f64.ln()).abs() < 1e-9,
            "{slope:?}"
        );
        assert!(slope.interval.unwrap().low < slope.value);
    }

    #[test]
    fn ties_equal_lengths_and_missing_gaps_say_nothing() {
        let tie = Rating {
            length_a: 5,
            ..rating(0, 0, 1, 0.0)
        };
        assert_eq!(
            length_bias(&[tie, rating(0, 0, 2, 1.0)]),
            LengthBias::default()
        );
    }
}
