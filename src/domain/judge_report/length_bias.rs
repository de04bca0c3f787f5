//! Measures whether a judge prefers longer documents beyond what their scores explain.

use super::Rating;
use super::logistic::LogisticSearch;
use crate::domain::agreement::{Interval, Share};
use serde::{Deserialize, Serialize};

/// How a judge's preference depends on length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LengthBias {
    /// Among the ballots without a tie and with documents of different lengths, the share for the
    /// longer document.
    ///
    /// Longer documents may really be better, so this alone is not a bias.
    pub longer: Option<Share>,
    /// The slope on length, controlling for the fitted gap.
    pub slope: Option<LengthSlope>,
}

/// λ in logit P(B) = β (e_b − e_a) + λ ln(length of B / length of A).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthSlope {
    /// λ: positive if the judge prefers longer documents. Doubling the length is worth λ ln 2 on
    /// the scale of the scores times β.
    pub value: f64,
    /// Its standard error, clustered by query if there are several; it does not include the error
    /// of the fitted gaps.
    pub se: f64,
    pub interval: Option<Interval>,
    /// Ballots with a gap and two nonempty documents.
    pub n: usize,
}

/// One query's contribution to how often a judge prefers the longer document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LengthTally {
    longer: u32,
    /// Ballots without a tie and with documents of different lengths.
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

    /// The share over queries, clustered by query.
    pub(super) fn share(queries: &[Self]) -> Option<Share> {
        let of = |tally: &Self| (f64::from(tally.longer), tally.uneven as usize);
        Share::of_clusters(queries.iter().map(of))
    }
}

impl LengthSlope {
    /// The slope found by a search over cases of (gap, ln of the ratio of the lengths), or `None`
    /// if the likelihood has no finite maximum.
    ///
    /// Use the gaps of the whole ensemble: gaps fitted to this judge's votes alone already contain
    /// its bias.
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
        // At every gap, the document with twice the length wins three times out of four.
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
