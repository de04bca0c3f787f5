//! Calibration of a student's probabilities, with intervals over queries.
//!
//! Buckets stay fixed while queries are resampled, so that each resample costs one pass over sums
//! stored for each query.

use super::groups::{equal_parts, mean};
use super::measured::{Measured, share_interval};
use super::{FigureOptions, FoldedRow, OutcomeProbabilities, StudentRow};
use crate::domain::agreement::ClusteredError;
use crate::domain::metrics::bootstraps;
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

/// Rows divided into buckets, with the difference between expected and observed value of each row.
struct Division<'a> {
    bucket: Vec<u32>,
    buckets: usize,
    gap: Box<dyn Fn(usize) -> f64 + 'a>,
}

impl<'a> Division<'a> {
    /// Divides `n` rows into parts of equal population by `expected`.
    fn equal_population(
        n: usize,
        expected: impl Fn(usize) -> f64 + 'a,
        observed: impl Fn(usize) -> f64 + 'a,
        parts: usize,
    ) -> Self {
        let expected_of = |at: &u32| expected(*at as usize);
        let mut order: Vec<u32> = (0..).take(n).collect();
        order.sort_by(|x, y| expected_of(x).total_cmp(&expected_of(y)));
        let mut bucket = vec![0; n];
        for (part, rows) in equal_parts(&order, parts) {
            rows.iter()
                .for_each(|at| bucket[*at as usize] = part as u32);
        }
        Self::new(bucket, expected, observed, parts)
    }

    fn equal_width(
        n: usize,
        expected: impl Fn(usize) -> f64 + 'a,
        observed: impl Fn(usize) -> f64 + 'a,
        parts: u32,
    ) -> Self {
        let place = |at: usize| ((expected(at) * f64::from(parts)) as u32).min(parts - 1);
        let bucket = (0..n).map(place).collect();
        Self::new(bucket, expected, observed, parts as usize)
    }

    fn new(
        bucket: Vec<u32>,
        expected: impl Fn(usize) -> f64 + 'a,
        observed: impl Fn(usize) -> f64 + 'a,
        buckets: usize,
    ) -> Self {
        Self {
            bucket,
            buckets,
            gap: Box::new(move |at| expected(at) - observed(at)),
        }
    }

    fn bucket(&self, at: usize) -> usize {
        self.bucket[at] as usize
    }

    /// The rows of a bucket.
    fn rows_of(&self, bucket: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.bucket.len()).filter(move |at| self.bucket(*at) == bucket)
    }

    /// For each bucket, the number of rows and the sum of their gaps.
    fn sums(&self) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 0.0); self.buckets];
        for at in 0..self.bucket.len() {
            let (n, gap) = &mut sums[self.bucket(at)];
            *n += 1.0;
            *gap += (self.gap)(at);
        }
        sums
    }

    /// The buckets that contain some of the rows, with the number of these and the sum of their
    /// gaps.
    fn tally(&self, rows: &[u32]) -> Vec<(usize, f64, f64)> {
        let mut found: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for at in rows.iter().map(|at| *at as usize) {
            let (n, gap) = found.entry(self.bucket(at)).or_default();
            *n += 1.0;
            *gap += (self.gap)(at);
        }
        found
            .into_iter()
            .map(|(bucket, (n, gap))| (bucket, n, gap))
            .collect()
    }
}

/// Sums over a query's rows, which are all that a resample with the query needs.
#[derive(Default)]
struct QueryTally {
    rows: f64,
    /// Unanimous battles, and those on which the student prefers the same document as the ensemble.
    consensus: f64,
    right: f64,
    losses: [f64; 3],
    /// For each division, the buckets that contain rows of the query, with the number of these and
    /// the sum of their gaps.
    divisions: [Vec<(usize, f64, f64)>; 3],
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

pub(super) fn measure(
    rows: &[StudentRow],
    folded: &[FoldedRow],
    options: &FigureOptions,
) -> MeasuredRows {
    let mut clusters: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut whole = QueryTally::default();
    for ((at, row), folded) in (0..).zip(rows).zip(folded) {
        clusters.entry(row.query).or_default().push(at);
        whole.add_row(row, folded);
    }
    let expected = |at: usize| rows[at].predicted.score();
    let by_score = Division::equal_population(
        rows.len(),
        |at| folded[at].expected(),
        |at| folded[at].score,
        options.buckets,
    );
    let by_width = Division::equal_width(rows.len(), expected, |at| rows[at].score, WIDTHS);
    let by_decisiveness = Division::equal_population(
        rows.len(),
        |at| folded[at].decisiveness(),
        |at| folded[at].observed_decisiveness(),
        options.buckets,
    );
    let divisions = [&by_score, &by_width, &by_decisiveness];
    let centres = divisions.map(Division::sums);
    let tallies: Vec<QueryTally> = clusters
        .values()
        .map(|places| {
            let mut tally = QueryTally::default();
            for at in places.iter().map(|at| *at as usize) {
                tally.add_row(&rows[at], &folded[at]);
            }
            tally.divisions = divisions.map(|division| division.tally(places));
            tally
        })
        .collect();
    let found = bootstraps(tallies.len(), &options.resampling, |chosen| {
        let mut all = QueryTally::default();
        let mut sums = centres.each_ref().map(|sums| vec![(0.0, 0.0); sums.len()]);
        for query in chosen.iter().filter_map(|at| tallies.get(*at)) {
            all.add(query);
            for (sums, tally) in sums.iter_mut().zip(&query.divisions) {
                for (bucket, n, gap) in tally {
                    sums[*bucket].0 += n;
                    sums[*bucket].1 += gap;
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
    MeasuredRows {
        queries: clusters.len(),
        accuracy: accuracy.map(|value| Measured {
            value,
            interval: share_interval(value, clusters.len(), found[0], &options.resampling),
        }),
        cross_entropy: plain_measure(entropy, 3, f64::INFINITY),
        calibration: Calibration {
            ece: distance(score.0, 4),
            ece_by_chance: by_chance(&by_score, rows),
            mce: distance(score.1, 10),
            ece_equal_width: distance(width.0, 6),
            ece_decisiveness: distance(decisiveness.0, 8),
            brier: plain_measure(brier, 1, 1.0),
            brier_ternary: plain_measure(ternary, 2, 2.0),
            murphy: murphy(rows, expected, &by_width),
        },
    }
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
fn by_chance(division: &Division<'_>, rows: &[StudentRow]) -> Option<f64> {
    let mut expected = 0.0;
    let sums = division.sums().into_iter().enumerate();
    for (bucket, (n, gap)) in sums.filter(|(_, (n, _))| *n > 0.0) {
        let error = ClusteredError::new(division.rows_of(bucket).map(|at| {
            let deviation = (division.gap)(at) - gap / n;
            (rows[at].query, deviation / n)
        }))?;
        expected += n / rows.len() as f64 * (2.0 / std::f64::consts::PI).sqrt() * error.se;
    }
    Some(expected)
}

fn murphy(rows: &[StudentRow], expected: impl Fn(usize) -> f64, division: &Division<'_>) -> Murphy {
    let n = rows.len() as f64;
    let whole = rows.iter().map(|row| row.score).sum::<f64>() / n;
    let (mut reliability, mut resolution) = (0.0, 0.0);
    for bucket in 0..division.buckets {
        let members: Vec<usize> = division.rows_of(bucket).collect();
        if members.is_empty() {
            continue;
        }
        let (share, observed) = (
            members.len() as f64 / n,
            mean(&members, |at| rows[at].score),
        );
        reliability += share * (mean(&members, &expected) - observed).powi(2);
        resolution += share * (observed - whole).powi(2);
    }
    let squares = rows.iter().map(|row| (row.score - whole).powi(2));
    Murphy {
        reliability,
        resolution,
        uncertainty: squares.sum::<f64>() / n,
    }
}
