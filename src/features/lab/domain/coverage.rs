//! Measures how often rank intervals cover the true rank.

use super::quality::MeanInterval;
use crate::domain::rating::{self, Covariance, RankInterval};

const TOP: usize = 10;

/// Random seed for the intervals.
const SEED: u64 = 0x5eed;

/// The coverage of the 95 % rank intervals of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The share of the documents, in 0..=1, whose true rank is in their interval.
    pub all: f64,
    /// The same for the documents in the first ten ranks of the scores.
    pub top: f64,
    /// The mean width of the intervals: 1 if the rank is certain.
    pub width: f64,
    /// 1 if every document's true rank is in its simultaneous interval, otherwise 0.
    pub at_once: f64,
    /// The mean width of the simultaneous intervals.
    pub width_at_once: f64,
}

impl Coverage {
    /// The coverage of the intervals around `scores` for documents with known true scores, both in
    /// pool order. `None` without documents, and if the lengths differ.
    pub fn of(scores: &[f64], covariance: &Covariance, truth: &[f64]) -> Option<Self> {
        if truth.len() != scores.len() {
            return None;
        }
        let intervals = rating::rank_intervals(scores, covariance, SEED);
        let true_ranks = rating::ranks(truth);
        let held = |(interval, rank): (&RankInterval, &usize)| {
            (interval.low_at_once..=interval.high_at_once).contains(rank)
        };
        let at_once = intervals.iter().zip(&true_ranks).all(held);
        let covered: Vec<(usize, f64)> = intervals
            .iter()
            .zip(true_ranks)
            .map(|(interval, rank)| {
                let inside = (interval.low..=interval.high).contains(&rank);
                (interval.rank, f64::from(u8::from(inside)))
            })
            .collect();
        let share = |last: usize| {
            let chosen = covered.iter().filter(|(rank, _)| *rank <= last);
            mean(chosen.map(|(_, inside)| *inside))
        };
        Some(Self {
            all: share(usize::MAX)?,
            top: share(TOP)?,
            width: mean(intervals.iter().map(|i| (i.high - i.low + 1) as f64))?,
            at_once: f64::from(u8::from(at_once)),
            width_at_once: mean(
                intervals
                    .iter()
                    .map(|i| (i.high_at_once - i.low_at_once + 1) as f64),
            )?,
        })
    }

    /// The means over queries, with equal weight for each query, because errors of documents of one
    /// query are correlated.
    pub fn means(of: &[Self]) -> Option<[MeanInterval; 5]> {
        let mean =
            |part: fn(&Self) -> f64| MeanInterval::of(&of.iter().map(part).collect::<Vec<_>>());
        Some([
            mean(|c| c.all)?,
            mean(|c| c.top)?,
            mean(|c| c.width)?,
            mean(|c| c.at_once)?,
            mean(|c| c.width_at_once)?,
        ])
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rating::{Observation, RatingOptions};
    use crate::domain::sampling::SeededRng;
    use crate::features::lab::domain::plausible_scores;

    /// Thirty documents in a row, each of which has met the three that follow it.
    fn line() -> (Vec<f64>, Covariance) {
        let options = RatingOptions::default();
        let met = (0..30usize).flat_map(|a| (a + 1..30.min(a + 4)).map(move |b| (a, b)));
        let battles: Vec<Observation> = met
            .map(|(a, b)| Observation::new(a, b, 0.25, 1.0))
            .collect();
        let fit = rating::fit(30, &battles, &options, None).unwrap();
        let covariance = rating::covariance(30, &battles, &fit, &options, 1.0 / 3.0).unwrap();
        (fit.scores, covariance)
    }

    #[test]
    fn what_the_errors_leave_possible_is_covered_at_the_stated_rate() {
        let (scores, covariance) = line();
        let mut rng = SeededRng::new(1, &["coverage"]);
        let coverages: Vec<Coverage> = (0..80)
            .map(|_| {
                let truth = plausible_scores(&scores, &covariance, &mut rng).unwrap();
                Coverage::of(&scores, &covariance, &truth).unwrap()
            })
            .collect();
        let [all, top, width, at_once, wider] = Coverage::means(&coverages).unwrap();
        for share in [all, top] {
            assert!((0.935..0.965).contains(&share.mean), "{share:?}");
        }
        assert!(width.mean > 2.0 && width.mean < 15.0, "{width:?}");
        // 80 queries with an expected simultaneous coverage of 95 %: the standard error is 2.4
        // points.
        assert!((0.9..=1.0).contains(&at_once.mean), "{at_once:?}");
        assert!(
            wider.mean > 1.3 * width.mean && wider.mean < 3.0 * width.mean,
            "{wider:?}"
        );
    }

    #[test]
    fn a_ranking_upside_down_is_not_covered() {
        let (scores, covariance) = line();
        let upside_down: Vec<f64> = scores.iter().map(|score| -score).collect();
        let coverage = Coverage::of(&scores, &covariance, &upside_down).unwrap();
        assert!(coverage.all < 0.5 && coverage.top == 0.0, "{coverage:?}");
        let right = Coverage::of(&scores, &covariance, &scores).unwrap();
        assert_eq!((right.all, right.top), (1.0, 1.0));
        assert_eq!(right.width, coverage.width);
    }

    #[test]
    fn other_pools_have_no_coverage() {
        let (scores, covariance) = line();
        assert_eq!(Coverage::of(&scores, &covariance, &scores[1..]), None);
        assert_eq!(Coverage::of(&scores[1..], &covariance, &scores[1..]), None);
        assert_eq!(Coverage::means(&[]), None);
    }
}
