//! Compares a student's predictions with the ensemble's scores: the numbers behind ten figures.
//!
//! Rows are *folded*: if P(B) is above P(A), the documents are swapped, so that the student's
//! favorite is always the first one (x = its probability, y = the other's) and a folded score of 1
//! means that the student is completely wrong.

mod accuracy;
mod calibration;
mod folded;
mod groups;
mod measured;
mod rows;

pub use accuracy::{ModelAccuracy, PreferenceTallies};
pub use calibration::Calibration;
pub use folded::{Category, FoldedRow};
pub use groups::{Bucket, ResidualTies, Segment, YieldPoint};
pub use measured::Measured;
pub use rows::StudentRows;

use super::spool::{InMemory, Scratch, SpoolError};
use crate::domain::metrics::Resampling;
use crate::domain::numeric::{PairMeans, PairSpread};
use crate::domain::parallel::both;
use crate::domain::prediction::OutcomeProbabilities;
use calibration::Divisions;
use rows::{SortedRows, SortingRows};
use serde::Serialize;

/// One battle: the ensemble's score and the student's prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentRow {
    /// The ensemble's score in 0..=1 (1: B is better).
    pub score: f64,
    pub predicted: OutcomeProbabilities,
    /// The query of the battle: battles of one query are similar, so intervals are over queries.
    pub query: usize,
}

/// How finely rows are divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureOptions {
    /// Number of buckets of equal population, at least 1.
    pub buckets: usize,
    /// Number of strips by E\[C\] of the segments, and of cells by E|C| in each.
    pub segments: (usize, usize),
    /// How intervals are computed.
    pub resampling: Resampling,
}

impl FigureOptions {
    /// Twenty buckets and four strips of five cells; fewer for few rows, so that each has at least
    /// five.
    pub fn of(rows: usize) -> Self {
        let (buckets, segments) = match rows {
            100.. => (20, (4, 5)),
            30.. => (5, (2, 3)),
            _ => (3, (2, 2)),
        };
        Self {
            buckets,
            segments,
            resampling: Resampling::of(rows),
        }
    }
}

/// The figures of one student.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Number of battles that both have judged.
    pub n: usize,
    /// Number of queries with those battles.
    pub queries: usize,
    /// Number of battles on which the ensemble is unanimous (figure 1).
    pub consensus: usize,
    /// The share of those battles whose winner the student prefers, counting half if it prefers
    /// neither. `None` without such battles.
    pub consensus_accuracy: Option<Measured>,
    /// Σ −P*·ln P per battle against the soft targets P*, in nats, and the part of it that is the
    /// entropy of the targets.
    pub cross_entropy: Measured,
    pub target_entropy: f64,
    /// Mean of −(s ln µ + (1 − s) ln(1 − µ)), with µ the expected score.
    pub score_cross_entropy: f64,
    /// The rows as drawn (figures 2 to 4, 9), in the order given, if they are kept.
    #[serde(skip)]
    pub rows: Vec<FoldedRow>,
    /// Share of the battles within a radius of the corner of certainty, and their composition
    /// (figure 5).
    pub by_radius: Vec<YieldPoint>,
    /// The same by rank (figure 6).
    pub by_rank: Vec<YieldPoint>,
    /// Buckets of equal population by radius and by expected score (figure 7).
    pub radius_buckets: Vec<Bucket>,
    pub score_buckets: Vec<Bucket>,
    pub calibration: Calibration,
    /// Whether P(tie) carries information beyond the expected score (figure 8).
    pub residual_ties: Vec<ResidualTies>,
    /// Correlation of E|C| with the ensemble's |C|; `None` if one of them does not vary.
    pub decisiveness_correlation: Option<f64>,
    /// Strips of equal population by E\[C\], each divided by E|C| (figure 10).
    pub segments: Vec<Segment>,
    /// Mean value of a prediction in a fit, in battles.
    pub mean_strength: f64,
}

/// Sums over all rows.
#[derive(Clone, Copy, Debug)]
struct Sums {
    consensus: usize,
    target_entropy: f64,
    score_cross_entropy: f64,
    strength: f64,
}

impl Default for Sums {
    fn default() -> Self {
        // As in `Iterator::sum`.
        let none = -0.0;
        Self {
            consensus: 0,
            target_entropy: none,
            score_cross_entropy: none,
            strength: none,
        }
    }
}

impl Sums {
    fn add(&mut self, row: &StudentRow, folded: &FoldedRow) {
        self.consensus += usize::from(folded.is_consensus());
        self.target_entropy += calibration::target_entropy(row);
        self.score_cross_entropy += calibration::score_cross_entropy(row);
        self.strength += row.predicted.strength();
    }
}

/// What all rows have in common.
struct WholeRows {
    /// Whether there are rows, and all scores are in 0..=1.
    is_sound: bool,
    sums: Sums,
    radii: groups::Radii,
    /// E|C| and the ensemble's |C|.
    decided: PairSpread,
    kept: Vec<FoldedRow>,
}

impl WholeRows {
    fn of(rows: &StudentRows, keeps_rows: bool) -> Result<Self, SpoolError> {
        let mut is_sound = rows.len() > 0;
        let mut sums = Sums::default();
        let mut radii = groups::Radii::default();
        let mut decided = PairMeans::of(rows.len());
        let mut kept = Vec::new();
        let decisiveness = |row: &FoldedRow| (row.decisiveness(), row.observed_decisiveness());
        rows.each(|_, row| {
            is_sound &= (0.0..=1.0).contains(&row.score);
            let folded = FoldedRow::of(row);
            sums.add(row, &folded);
            radii.add(&folded);
            decided.add(decisiveness(&folded));
            kept.extend(keeps_rows.then_some(folded));
        })?;
        let mut decided = PairSpread::about(decided);
        rows.each(|_, row| decided.add(decisiveness(&FoldedRow::of(row))))?;
        Ok(Self {
            is_sound,
            sums,
            radii,
            decided,
            kept,
        })
    }
}

/// The rows sorted by a number of each.
fn sorted_by(
    rows: &StudentRows,
    key: fn(&FoldedRow) -> f64,
    scratch: &dyn Scratch,
) -> Result<SortedRows, SpoolError> {
    let mut sorting = SortingRows::new(scratch)?;
    let mut result = Ok(());
    rows.each(|index, row| {
        if result.is_ok() {
            result = sorting.push(key(&FoldedRow::of(row)), row, index);
        }
    })?;
    result?;
    Ok(sorting.sorted())
}

impl Figures {
    /// Computes the figures of some rows, and keeps the rows; `None` without rows, or if a score is
    /// outside 0..=1.
    pub fn of(rows: Vec<StudentRow>, options: &FigureOptions) -> Option<Self> {
        // Main memory does not fail.
        let mut spool = StudentRows::new(&InMemory).ok()?;
        for row in rows {
            spool.push(row).ok()?;
        }
        Self::measure(&spool, options, true, &InMemory).ok()?
    }

    /// Computes the figures of rows in a scratch file, in main memory for few of them only;
    /// `keeps_rows` keeps all of them and their indexes.
    pub fn measure(
        rows: &StudentRows,
        options: &FigureOptions,
        keeps_rows: bool,
        scratch: &dyn Scratch,
    ) -> Result<Option<Self>, SpoolError> {
        let n = rows.len();
        let sorted = |key| sorted_by(rows, key, scratch);
        let buckets = |sorted: &_| groups::buckets(sorted, options.buckets, keeps_rows);
        let (by_expected, (whole, by_radius, by_decisiveness)) = both(
            || {
                let by_expected = sorted(FoldedRow::expected)?;
                let segments = options.segments;
                Ok::<_, SpoolError>((
                    buckets(&by_expected)?,
                    groups::segments(&by_expected, segments, keeps_rows, scratch)?,
                ))
            },
            || {
                let by_radius = sorted(|row| row.radius).and_then(|sorted| buckets(&sorted));
                let by_decisiveness = sorted(FoldedRow::decisiveness);
                (
                    WholeRows::of(rows, keeps_rows),
                    by_radius,
                    by_decisiveness.and_then(|sorted| sorted.starts(options.buckets)),
                )
            },
        );
        let WholeRows {
            is_sound,
            sums,
            radii,
            decided,
            kept,
        } = whole?;
        if !is_sound {
            return Ok(None);
        }
        let ((by_score, segments), by_radius) = (by_expected?, by_radius?);
        let divisions = Divisions {
            buckets: options.buckets,
            by_score: by_score.starts,
            by_decisiveness: by_decisiveness?,
        };
        let (residual_ties, measured) = both(
            || groups::residual_ties(rows, &by_score.buckets, keeps_rows),
            || calibration::measure(rows, &divisions, &options.resampling),
        );
        let measured = measured?;
        let mean = |sum: f64| sum / n as f64;
        Ok(Some(Self {
            n,
            queries: measured.queries,
            consensus: sums.consensus,
            consensus_accuracy: measured.accuracy,
            cross_entropy: measured.cross_entropy,
            target_entropy: mean(sums.target_entropy),
            score_cross_entropy: mean(sums.score_cross_entropy),
            by_radius: radii.points(),
            by_rank: by_radius.up_to,
            radius_buckets: by_radius.buckets,
            residual_ties: residual_ties?,
            calibration: measured.calibration,
            decisiveness_correlation: decided.correlation(),
            segments,
            mean_strength: mean(sums.strength),
            score_buckets: by_score.buckets,
            rows: kept,
        }))
    }

    /// The excess of the cross entropy over the targets' own entropy: the Kullback–Leibler
    /// divergence per battle, in nats.
    pub fn divergence(&self) -> f64 {
        self.cross_entropy.value - self.target_entropy
    }
}

#[cfg(test)]
mod tests;
