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

pub use accuracy::{ModelAccuracy, PreferenceTallies};
pub use calibration::Calibration;
pub use folded::{Category, FoldedRow};
pub use groups::{Bucket, ResidualTies, Segment, YieldPoint};
pub use measured::Measured;

use crate::domain::metrics::Resampling;
use crate::domain::numeric::correlation;
use crate::domain::prediction::OutcomeProbabilities;
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
    /// The rows as drawn (figures 2 to 4, 9), in the order given.
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

impl Figures {
    /// Computes the figures of some rows; `None` without rows, or if a score is outside 0..=1.
    pub fn of(rows: Vec<StudentRow>, options: &FigureOptions) -> Option<Self> {
        let sound = rows.iter().all(|row| (0.0..=1.0).contains(&row.score));
        if rows.is_empty() || !sound {
            return None;
        }
        let folded: Vec<FoldedRow> = rows.iter().map(FoldedRow::of).collect();
        let n = rows.len();
        let mean = |of: fn(&StudentRow) -> f64| rows.iter().map(of).sum::<f64>() / n as f64;
        let target_entropy = mean(calibration::target_entropy);
        let score_cross_entropy = mean(calibration::score_cross_entropy);
        let mean_strength = mean(|row| row.predicted.strength());
        let measured = calibration::measure(&rows, &folded, options);
        // The rest needs the folded rows only.
        drop(rows);
        let consensus = folded.iter().filter(|row| row.is_consensus()).count();
        let score_buckets = groups::buckets(&folded, options.buckets, FoldedRow::expected);
        let decided = |row: &FoldedRow| (row.decisiveness(), row.observed_decisiveness());
        Some(Self {
            n,
            queries: measured.queries,
            consensus,
            consensus_accuracy: measured.accuracy,
            cross_entropy: measured.cross_entropy,
            target_entropy,
            score_cross_entropy,
            by_radius: groups::yield_by_radius(&folded),
            by_rank: groups::yield_by_rank(&folded, options.buckets),
            radius_buckets: groups::buckets(&folded, options.buckets, |row| row.radius),
            residual_ties: groups::residual_ties(&folded, &score_buckets),
            calibration: measured.calibration,
            decisiveness_correlation: correlation(folded.iter().map(decided)),
            segments: groups::segments(&folded, options.segments),
            mean_strength,
            score_buckets,
            rows: folded,
        })
    }

    /// The excess of the cross entropy over the targets' own entropy: the Kullback–Leibler
    /// divergence per battle, in nats.
    pub fn divergence(&self) -> f64 {
        self.cross_entropy.value - self.target_entropy
    }
}

#[cfg(test)]
mod tests;
