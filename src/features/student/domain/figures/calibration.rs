//! Calibration of a student's probabilities, with intervals over queries.
//!
//! Buckets stay fixed while queries are resampled, so that each resample costs one pass over sums
//! stored for each query.

use super::measured::{Measured, share_interval};
use super::rows::{PartStarts, StudentRows};
use super::{FoldedRow, OutcomeProbabilities, StudentRow};
use crate::domain::agreement::ClusteredError;
use crate::domain::metrics::{Resampling, bootstraps};
use crate::features::student::domain::spool::SpoolError;
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of buckets of equal width, over unfolded expected scores.
const WIDTHS: u32 = 20;
/// Lower bound for probabilities before taking their logarithm.
const SMALLEST: f64 = 1e-12;

/// The decomposition of the Brier score of expected scores, over buckets of equal width (Murphy
/// 1973).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Murphy {
    pub reliability: f64,
    pub resolution: f64,
    pub uncertainty: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Mean distance between expected and observed folded score over buckets of equal population.
    pub ece: Measured,
    /// The expected value of `ece` if every bucket were calibrated: even then, this many battles
    /// differ by chance. `None` if the error of a bucket is unknown.
    pub ece_by_chance: Option<f64>,
    /// The largest of those distances.
    pub mce: Measured,
    /// As `ece`, over twenty buckets of equal width of unfolded scores.
    pub ece_equal_width: Measured,
    /// As `ece`, of E|C| against |C|.
    pub ece_decisiveness: Measured,
    /// Mean squared difference between expected and observed score.
    pub brier: Measured,
    /// Mean over battles of the sum of the squared differences between the three probabilities and
    /// the soft target.
    pub brier_ternary: Measured,
    pub murphy: Murphy,
}

/// Everything that is measured in one pass.
pub(super) struct MeasuredRows {
    pub(super) queries: usize,
    pub(super) accuracy: Option<Measured>,
    pub(super) cross_entropy: Measured,
    pub(super) calibration: Calibration,
}

/// Entropy of the soft target, in nats.
pub(super) fn target_entropy(row: &StudentRow) -> f64 {
    let target = OutcomeProbabilities::soft_target(row.score);
    let parts = [target.a(), target.b(), target.tie()];
    parts
        .iter()
        .filter(|p| **p > 0.0)
        .map(|p| -p * p.ln())
        .sum()
}

pub(super) fn score_cross_entropy(row: &StudentRow) -> f64 {
    let expected = row.predicted.score();
    let log = |p: f64| p.max(SMALLEST).ln();
    -(row.score * log(expected) + (1.0 - row.score) * log(1.0 - expected))
}

fn cross_entropy(row: &StudentRow) -> f64 {
    let target = OutcomeProbabilities::soft_target(row.score);
    let pairs = [
        (target.a(), row.predicted.a()),
        (target.b(), row.predicted.b()),
        (target.tie(), row.predicted.tie()),
    ];
    let parts = pairs.iter().filter(|(target, _)| *target > 0.0);
    parts
        .map(|(target, p)| -target * p.max(SMALLEST).ln())
        .sum()
}

fn squared_distances(row: &StudentRow) -> f64 {
    let (target, found) = (OutcomeProbabilities::soft_target(row.score), row.predicted);
    (found.a() - target.a()).powi(2)
        + (found.b() - target.b()).powi(2)
        + (found.tie() - target.tie()).powi(2)
}

/// How rows are divided into buckets: by folded expected score and by E|C| into parts of equal
/// population, and by unfolded expected score into parts of equal width.
pub(super) struct Divisions {
    /// Number of parts of equal population.
    pub(super) buckets: usize,
    pub(super) by_score: PartStarts,
    pub(super) by_decisiveness: PartStarts,
}

/// The index of the division by score.
const BY_SCORE: usize = 0;

impl Divisions {
    /// Number of buckets of each division.
    fn sizes(&self) -> [usize; 3] {
        [self.buckets, WIDTHS as usize, self.buckets]
    }

    /// The bucket of a row in each division, with the difference between its expected and its
    /// observed value.
    fn places(&self, index: usize, row: &StudentRow, folded: &FoldedRow) -> [(usize, f64); 3] {
        let (score, decisiveness) = (folded.expected(), folded.decisiveness());
        let expected = row.predicted.score();
        [
            (self.by_score.part(score, index), score - folded.score),
            (width_of(expected), expected - row.score),
            (
                self.by_decisiveness.part(decisiveness, index),
                decisiveness - folded.observed_decisiveness(),
            ),
        ]
    }
}

/// The bucket of equal width of an unfolded expected score.
fn width_of(expected: f64) -> usize {
    ((expected * f64::from(WIDTHS)) as u32).min(WIDTHS - 1) as usize
}

/// A bucket with the number of some of its rows and the sum of their gaps.
#[derive(Clone, Copy, Debug)]
struct BucketTally {
    bucket: u32,
    rows: u32,
    gap: f64,
}

/// Sums over a query's rows, which are all that a resample with the query needs.
#[derive(Default)]
struct QueryTally {
    rows: f64,
    /// Unanimous battles, and those on which the student prefers the same document as the ensemble.
    consensus: f64,
    right: f64,
    losses: [f64; 3],
    /// For each division, the buckets that contain rows of the query.
    divisions: [Vec<BucketTally>; 3],
}

impl QueryTally {
    /// Adds a row, except for the divisions.
    fn add_row(&mut self, row: &StudentRow, folded: &FoldedRow) {
        self.rows += 1.0;
        if folded.is_consensus() {
            self.right += right_share(folded);
            self.consensus += 1.0;
        }
        let error = row.predicted.score() - row.score;
        let losses = [error * error, squared_distances(row), cross_entropy(row)];
        self.losses
            .iter_mut()
            .zip(losses)
            .for_each(|(sum, x)| *sum += x);
    }

    /// Adds a row to the divisions.
    fn add_places(&mut self, places: &[(usize, f64); 3]) {
        for (found, (bucket, gap)) in self.divisions.iter_mut().zip(places) {
            let bucket = *bucket as u32;
            let at = match found.binary_search_by_key(&bucket, |of| of.bucket) {
                Ok(at) => at,
                Err(at) => {
                    let none = BucketTally {
                        bucket,
                        rows: 0,
                        gap: 0.0,
                    };
                    found.insert(at, none);
                    at
                }
            };
            found[at].rows += 1;
            found[at].gap += gap;
        }
    }

    /// The share of the unanimous battles that the student gets right, and the mean losses; `None`
    /// without any.
    fn means(&self) -> [Option<f64>; 4] {
        let share = |sum: f64, of: f64| (of > 0.0).then(|| sum / of);
        let [brier, ternary, entropy] = self.losses.map(|sum| share(sum, self.rows));
        [share(self.right, self.consensus), brier, ternary, entropy]
    }

    /// Adds everything except the divisions.
    fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.consensus += other.consensus;
        self.right += other.right;
        self.losses
            .iter_mut()
            .zip(other.losses)
            .for_each(|(sum, x)| *sum += x);
    }
}

/// Mean and maximum magnitude of the gaps, after subtracting those of `centre`.
fn distances(sums: &[(f64, f64)], centre: Option<&[(f64, f64)]>) -> (f64, f64) {
    let all: f64 = sums.iter().map(|(n, _)| n).sum();
    let (mut mean, mut largest) = (0.0, 0.0f64);
    for (at, (n, gap)) in sums.iter().enumerate().filter(|(_, (n, _))| *n > 0.0) {
        let middle = centre.and_then(|centre| centre.get(at));
        let middle = middle.filter(|(n, _)| *n > 0.0);
        let distance = (gap / n - middle.map_or(0.0, |(n, gap)| gap / n)).abs();
        mean += n / all * distance;
        largest = largest.max(distance);
    }
    (mean, largest)
}

/// Numbers and sums of gaps by bucket, for each division.
type BucketSums = [Vec<(f64, f64)>; 3];

pub(super) fn measure(
    rows: &StudentRows,
    divisions: &Divisions,
    resampling: &Resampling,
) -> Result<MeasuredRows, SpoolError> {
    let no_sums = || divisions.sizes().map(|size| vec![(0.0, 0.0); size]);
    let mut tallies: BTreeMap<usize, QueryTally> = BTreeMap::new();
    let mut whole = QueryTally::default();
    let mut centres: BucketSums = no_sums();
    let mut murphy = MurphySums::default();
    rows.each(|index, row| {
        let folded = FoldedRow::of(row);
        let places = divisions.places(index, row, &folded);
        for (sums, (bucket, gap)) in centres.iter_mut().zip(places) {
            let (n, sum) = &mut sums[bucket];
            *n += 1.0;
            *sum += gap;
        }
        let tally = tallies.entry(row.query).or_default();
        tally.add_row(row, &folded);
        tally.add_places(&places);
        whole.add_row(row, &folded);
        murphy.add(row);
    })?;
    let tallies: Vec<QueryTally> = tallies.into_values().collect();
    let found = bootstraps(tallies.len(), resampling, |chosen| {
        let mut all = QueryTally::default();
        let mut sums = no_sums();
        for query in chosen.iter().filter_map(|at| tallies.get(*at)) {
            all.add(query);
            for (sums, tally) in sums.iter_mut().zip(&query.divisions) {
                for of in tally {
                    let (n, gap) = &mut sums[of.bucket as usize];
                    *n += f64::from(of.rows);
                    *gap += of.gap;
                }
            }
        }
        let mut values = [None; 12];
        values[..4].copy_from_slice(&all.means());
        for (at, (sums, centre)) in sums.iter().zip(&centres).enumerate() {
            let (mean, largest) = distances(sums, None);
            let (mean_off, largest_off) = distances(sums, Some(centre));
            values[4 + 2 * at] = Some(mean);
            values[5 + 2 * at] = Some(mean_off);
            if at == 0 {
                values[10] = Some(largest);
                values[11] = Some(largest_off);
            }
        }
        values
    });
    let [accuracy, brier, ternary, entropy] = whole.means();
    let plain_measure = |value: Option<f64>, at: usize, most: f64| Measured {
        value: value.unwrap_or_default(),
        interval: found[at].map(|(low, high)| (low.max(0.0), high.min(most))),
    };
    let distance = |value: f64, at: usize| Measured {
        value,
        interval: found[at].zip(found[at + 1]).map(|((_, high), (_, off))| {
            // A mean of magnitudes is biased upward in a resample. The true value is below the
            // estimate by at most the error of the gaps.
            ((value - off).max(0.0), high.max(value).min(1.0))
        }),
    };
    let [score, width, decisiveness] = [0, 1, 2].map(|at| distances(&centres[at], None));
    Ok(MeasuredRows {
        queries: tallies.len(),
        accuracy: accuracy.map(|value| Measured {
            value,
            interval: share_interval(value, tallies.len(), found[0], resampling),
        }),
        cross_entropy: plain_measure(entropy, 3, f64::INFINITY),
        calibration: Calibration {
            ece: distance(score.0, 4),
            ece_by_chance: by_chance(rows, divisions, &centres[BY_SCORE])?,
            mce: distance(score.1, 10),
            ece_equal_width: distance(width.0, 6),
            ece_decisiveness: distance(decisiveness.0, 8),
            brier: plain_measure(brier, 1, 1.0),
            brier_ternary: plain_measure(ternary, 2, 2.0),
            murphy: murphy.of(rows)?,
        },
    })
}

/// 1 if the student prefers the same document as the ensemble, ½ if it prefers neither.
fn right_share(row: &FoldedRow) -> f64 {
    if row.x == row.y {
        0.5
    } else {
        f64::from(u8::from(row.score < 0.5))
    }
}

/// The mean magnitude of a gap that differs from 0 only by chance: √(2/π) of its standard error
/// over queries, bucket by bucket.
fn by_chance(
    rows: &StudentRows,
    divisions: &Divisions,
    sums: &[(f64, f64)],
) -> Result<Option<f64>, SpoolError> {
    // For each bucket, the influences of the rows of each query, or of each row of a single query.
    let mut of_queries: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); sums.len()];
    let each_influence = |visit: &mut dyn FnMut(usize, usize, f64)| {
        rows.each(|index, row| {
            let [(bucket, gap), ..] = divisions.places(index, row, &FoldedRow::of(row));
            let (n, sum) = sums[bucket];
            visit(bucket, row.query, (gap - sum / n) / n);
        })
    };
    each_influence(&mut |bucket, query, influence| {
        *of_queries[bucket].entry(query).or_default() += influence;
    })?;
    let mut of_rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); sums.len()];
    if of_queries.iter().any(|queries| queries.len() == 1) {
        each_influence(&mut |bucket, query, influence| {
            if of_queries[bucket].len() == 1 {
                of_rows[bucket].push((query, influence));
            }
        })?;
    }
    let mut expected = 0.0;
    let buckets = sums.iter().zip(of_queries).zip(of_rows);
    for (((n, _), queries), rows_of) in buckets.filter(|(((n, _), _), _)| *n > 0.0) {
        let influences: Vec<(usize, f64)> = match queries.len() {
            1 => rows_of,
            _ => queries.into_iter().collect(),
        };
        let Some(error) = ClusteredError::new(influences) else {
            return Ok(None);
        };
        expected += n / rows.len() as f64 * (2.0 / std::f64::consts::PI).sqrt() * error.se;
    }
    Ok(Some(expected))
}

/// Sums over rows for [`Murphy`], in all and by bucket of equal width: numbers of rows, expected
/// and observed scores.
struct MurphySums {
    whole: f64,
    buckets: [(usize, f64, f64); WIDTHS as usize],
}

impl Default for MurphySums {
    fn default() -> Self {
        // As in `Iterator::sum`.
        let none = -0.0;
        Self {
            whole: none,
            buckets: [(0, none, none); WIDTHS as usize],
        }
    }
}

impl MurphySums {
    fn add(&mut self, row: &StudentRow) {
        let predicted = row.predicted.score();
        self.whole += row.score;
        let (n, expected, observed) = &mut self.buckets[width_of(predicted)];
        *n += 1;
        *expected += predicted;
        *observed += row.score;
    }

    fn of(&self, rows: &StudentRows) -> Result<Murphy, SpoolError> {
        let n = rows.len() as f64;
        let whole = self.whole / n;
        let (mut reliability, mut resolution) = (0.0, 0.0);
        for (members, expected, observed) in self.buckets.iter().filter(|(n, ..)| *n > 0) {
            let members = *members as f64;
            let share = members / n;
            let observed = observed / members;
            reliability += share * (expected / members - observed).powi(2);
            resolution += share * (observed - whole).powi(2);
        }
        let mut squares = -0.0;
        rows.each(|_, row| squares += (row.score - whole).powi(2))?;
        Ok(Murphy {
            reliability,
            resolution,
            uncertainty: squares / n,
        })
    }
}
