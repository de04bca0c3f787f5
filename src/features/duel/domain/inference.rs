//! Uncertainty of a duel's results: tests over queries, and intervals over queries and
//! participants.

use crate::domain::metrics::significance::randomization_p;
use crate::domain::metrics::{Resampling, equal_shares};
use crate::domain::sampling::SeededRng;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeSet;

/// A mean or share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DuelEstimate {
    pub value: f64,
    /// 95 % interval over queries and participants; `None` if there are too few or they do not
    /// differ.
    pub interval: Option<(f64, f64)>,
}

/// The confidence level of all intervals of a duel.
const LEVEL: f64 = 0.95;

/// Resamples per interval.
const RESAMPLES: usize = 2_000;

/// Up to this many queries without a tie, the permutation test enumerates all sign patterns.
const EXACT_QUERIES: usize = 20;

/// Number of random sign patterns beyond that.
const PATTERNS: usize = 10_000;

/// The two-sided p-value of the exact sign test: twice the probability of at most this many of the
/// rarer of wins and losses, capped at 1. `None` without wins and losses.
pub fn sign_test(wins: usize, losses: usize) -> Option<f64> {
    let n = wins + losses;
    let mut log_chance = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=wins.min(losses) {
        tail += log_chance.exp();
        log_chance += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    (n > 0).then_some((2.0 * tail).min(1.0))
}

/// The two-sided p-value of the mean of the queries' preferences if the sign of each were random:
/// exact for up to [`EXACT_QUERIES`] nonzero preferences, otherwise from [`PATTERNS`] seeded draws.
/// `None` without queries.
pub(super) fn permutation_test(preferences: &[f64], seed: u64) -> Option<f64> {
    let decided: Vec<f64> = preferences
        .iter()
        .copied()
        .filter(|one| *one != 0.0)
        .collect();
    if decided.len() <= EXACT_QUERIES {
        return (!preferences.is_empty()).then(|| exact_p(&decided));
    }
    let how = Resampling {
        draws: PATTERNS,
        seed,
        ..Resampling::default()
    };
    randomization_p(&decided, &how)
}

/// The share of all sign patterns whose sum is at least as far from 0.
fn exact_p(values: &[f64]) -> f64 {
    let observed = values.iter().sum::<f64>().abs();
    let slack = 1e-9 * values.iter().map(|value| value.abs()).sum::<f64>();
    let patterns = 1usize << values.len();
    let mut signs: Vec<f64> = values.to_vec();
    let mut sum: f64 = values.iter().sum();
    let mut extreme = 1usize;
    // In Gray code order, consecutive patterns differ in one sign.
    for pattern in 1..patterns {
        if let Some(value) = signs.get_mut(pattern.trailing_zeros() as usize) {
            sum -= 2.0 * *value;
            *value = -*value;
        }
        extreme += usize::from(sum.abs() >= observed - slack);
    }
    extreme as f64 / patterns as f64
}

/// One judgment's contribution to an estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub query: usize,
    pub participant: usize,
    /// The numerator and its denominator.
    pub part: f64,
    pub whole: f64,
}

/// How an estimate is computed from the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Estimator {
    /// The mean over queries of each query's mean part over its participants, in −1..=1.
    MeanOfQueries,
    /// Sum of the parts over sum of the wholes, in 0..=1.
    Share,
}

impl Estimator {
    /// The value if each cell is weighted by how often its query and its participant were drawn.
    fn value(self, cells: &[Cell], queries: &[usize], participants: &[usize]) -> Option<f64> {
        let weight = |drawn: &[usize], at: usize| drawn.get(at).map_or(0.0, |n| *n as f64);
        let (mut part, mut whole) = (0.0, 0.0);
        match self {
            Self::Share => {
                for cell in cells {
                    let drawn =
                        weight(queries, cell.query) * weight(participants, cell.participant);
                    part += drawn * cell.part;
                    whole += drawn * cell.whole;
                }
            }
            Self::MeanOfQueries => {
                for of_query in cells.chunk_by(|x, y| x.query == y.query) {
                    let (mut sum, mut n) = (0.0, 0.0);
                    for cell in of_query {
                        let drawn = weight(participants, cell.participant);
                        sum += drawn * cell.part;
                        n += drawn;
                    }
                    let query = of_query.first().map_or(0, |cell| cell.query);
                    if n > 0.0 {
                        part += weight(queries, query) * sum / n;
                        whole += weight(queries, query);
                    }
                }
            }
        }
        (whole > 0.0).then(|| part / whole)
    }
}

/// Estimates with their intervals, value ± t · error with one degree of freedom fewer than there
/// are queries. The error comes from [`RESAMPLES`] seeded resamples of queries and, independently,
/// of participants, shared by all estimates (Owen 2007, the pigeonhole bootstrap); it tends to be
/// too large rather than too small. All lists of cells have the same judgments, sorted by query. An
/// estimate without a value is `None`.
pub(super) fn crossed_estimates<const N: usize>(
    lists: [(Vec<Cell>, Estimator); N],
    seed: u64,
) -> [Option<DuelEstimate>; N] {
    let cells = lists.iter().flat_map(|(cells, _)| cells);
    let queries = Drawn::new(cells.clone().map(|cell| cell.query));
    let participants = Drawn::new(cells.map(|cell| cell.participant));
    let mut rng = SeededRng::new(seed, &["duel", "intervals"]);
    let mut resampled: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        let of_queries = queries.resample(&mut rng);
        let of_participants = participants.resample(&mut rng);
        for (values, (cells, estimator)) in resampled.iter_mut().zip(&lists) {
            values.extend(estimator.value(cells, &of_queries, &of_participants));
        }
    }
    std::array::from_fn(|at| {
        let (cells, estimator) = lists.get(at)?;
        let value = estimator.value(cells, &queries.once(), &participants.once())?;
        let interval = estimator.interval(cells, value, resampled.get(at)?);
        Some(DuelEstimate { value, interval })
    })
}

impl Estimator {
    fn interval(self, cells: &[Cell], value: f64, resampled: &[f64]) -> Option<(f64, f64)> {
        let counted = cells.iter().filter(|cell| cell.whole > 0.0);
        let queries = Drawn::new(counted.map(|cell| cell.query)).among.len();
        let n = resampled.len() as f64;
        let mean = resampled.iter().sum::<f64>() / n;
        let squares: f64 = resampled.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (n - 1.0)).sqrt();
        let least = match self {
            Self::MeanOfQueries => -1.0,
            Self::Share => 0.0,
        };
        let t = StudentsT::new(0.0, 1.0, queries as f64 - 1.0).ok();
        let half = t.map(|t| t.inverse_cdf(0.5 + LEVEL / 2.0) * error);
        match half.filter(|half| half.is_finite() && error > 1e-12) {
            Some(half) => Some(((value - half).max(least), (value + half).min(1.0))),
            None if self == Self::Share => equal_shares(value, queries, LEVEL),
            None => None,
        }
    }
}

/// Queries or participants drawn with replacement.
struct Drawn {
    /// The distinct numbers, ascending.
    among: Vec<usize>,
}

impl Drawn {
    fn new(values: impl Iterator<Item = usize>) -> Self {
        let among: BTreeSet<usize> = values.collect();
        Self {
            among: among.into_iter().collect(),
        }
    }

    /// The count of each number if each is drawn once.
    fn once(&self) -> Vec<usize> {
        self.count(0..self.among.len())
    }

    /// The count of each number in a resample of the same size.
    fn resample(&self, rng: &mut SeededRng) -> Vec<usize> {
        let mut places = vec![0; self.among.len()];
        rng.fill_below(self.among.len(), &mut places);
        self.count(places.into_iter())
    }

    fn count(&self, places: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut drawn = vec![0; self.among.last().map_or(0, |last| last + 1)];
        for one in places.filter_map(|place| self.among.get(place)) {
            if let Some(times) = drawn.get_mut(*one) {
                *times += 1;
            }
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    #[test]
    fn the_sign_test_is_exact() {
        assert_eq!(sign_test(0, 0), None);
        assert_eq!(sign_test(3, 3), Some(1.0));
        // 2 · (1 + 10) / 2^10.
        assert!((sign_test(9, 1).unwrap() - 22.0 / 1_024.0).abs() < 1e-15);
        assert_eq!(sign_test(1, 9), sign_test(9, 1));
        assert!((sign_test(60, 40).unwrap() - 0.056_887_933).abs() < 1e-8);
    }

    #[test]
    fn the_permutation_test_tries_all_patterns_of_few_queries() {
        assert_eq!(permutation_test(&[], 0), None);
        assert_eq!(permutation_test(&[0.0, 0.0], 0), Some(1.0));
        // Of the eight sign patterns of 1, 1, ½: those with the sums 2.5 and −2.5.
        assert_eq!(permutation_test(&[1.0, 1.0, 0.5, 0.0], 0), Some(0.25));
        let mut rng = SeededRng::new(1, &["permutation"]);
        let values: Vec<f64> = (0..18).map(|_| rng.normal() + 0.4).collect();
        let exact = permutation_test(&values, 0).unwrap();
        let drawn = randomization_p(&values, &Resampling::default()).unwrap();
        assert!((exact - drawn).abs() < 0.01, "{exact} {drawn}");
        let many = [values.clone(), values].concat();
        assert!(permutation_test(&many, 0).unwrap() < exact);
    }

    #[test]
    fn an_interval_of_one_participant_is_students() {
        let values = [0.1, 0.5, -0.2, 0.9, 0.3, 0.4, 0.0, 0.6, -0.1, 0.2, 0.7, 0.2];
        let cells: Vec<Cell> = (0..)
            .zip(values)
            .map(|(query, part)| Cell {
                query,
                participant: 0,
                part,
                whole: 1.0,
            })
            .collect();
        let [found] = crossed_estimates([(cells, Estimator::MeanOfQueries)], 0);
        let found = found.unwrap();
        let how = Resampling::default();
        let student = crate::domain::metrics::estimate(&values, &how).unwrap();
        assert!((found.value - student.mean).abs() < 1e-12);
        let (low, high) = (found.interval.unwrap(), student.interval.unwrap());
        let ratio = (low.1 - low.0) / (high.1 - high.0);
        // The bootstrap error lacks Bessel's correction.
        assert!((0.92..1.0).contains(&ratio), "{ratio}");
    }
}
