//! Measures whether a judge's stated confidence matches its accuracy.

use super::{HumanVerdict, Rating, reference_verdicts};
use crate::domain::agreement::Share;
use crate::domain::vote::Outcome;
use serde::Serialize;

/// Maximum number of bins, and the minimum number of votes per bin.
const BINS: usize = 10;
const PER_BIN: usize = 10;

/// Votes with about the same stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The smallest confidence in it.
    pub low: f64,
    pub high: f64,
    pub confidence: f64,
    pub correct: Share,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Bins of increasing confidence and about equal size; equal confidences are never split.
    pub bins: Vec<CalibrationBin>,
    /// Expected calibration error: the mean over votes of |confidence − share correct| of their
    /// bin.
    pub ece: f64,
    /// Brier score: the mean of (confidence − correct)², 0 at best, ¼ for confidences of ½.
    pub brier: f64,
    pub n: usize,
}

/// Whether a vote states a confidence: a margin of 1 only says which document is better.
pub(super) fn states_confidence(rating: &Rating) -> bool {
    rating.margin.outcome() != Outcome::Tie && rating.margin.get().abs() < 1.0
}

/// The calibration of the margins of a judge that has stated confidences. `None` if there are no
/// votes to check.
///
/// A margin m states the confidence (1 + |m|) / 2, from ½ to 1, that the preferred document is
/// better. A vote is correct (1) if the person prefers the same document, half correct if the
/// person calls a tie, and wrong (0) otherwise. The judge's own ties state no preference and are
/// skipped, as are pairs without a verdict or with *cannot tell*. Votes are counted as they were
/// reviewed, without correction for sampling; each presentation of a pair is a vote. The
/// calibration error (Naeini, Cooper & Hauskrecht 2015) uses up to ten bins, with at least ten
/// votes each if there are enough votes.
pub(super) fn calibration(ratings: &[Rating], verdicts: &[HumanVerdict]) -> Option<Calibration> {
    let references = reference_verdicts(verdicts);
    let mut votes: Vec<CheckedVote> = ratings
        .iter()
        .filter_map(|rating| {
            let (key, outcome) = rating.on_pair()?;
            let reference = references.get(&key)?.outcome;
            let correct = match reference {
                _ if outcome == Outcome::Tie => return None,
                Outcome::Tie => 0.5,
                _ => f64::from(u8::from(outcome == reference)),
            };
            Some(CheckedVote {
                query: rating.query,
                confidence: 0.5 * (1.0 + rating.margin.get().abs()),
                correct,
            })
        })
        .collect();
    // Sort by all fields, so that sums do not depend on the order of the rows.
    votes.sort_by(|x, y| {
        x.confidence
            .total_cmp(&y.confidence)
            .then(x.correct.total_cmp(&y.correct))
            .then(x.query.cmp(&y.query))
    });
    let n = votes.len();
    let count = (n / PER_BIN).clamp(1, BINS);
    let mut bins = Vec::with_capacity(count);
    let mut rest = votes.as_slice();
    for bin in 1..=count {
        let taken = n - rest.len();
        let mut size = (bin * n / count).saturating_sub(taken);
        while size > 0 && size < rest.len() && rest[size].confidence == rest[size - 1].confidence {
            size += 1;
        }
        let (inside, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        bins.extend(self::bin(inside));
    }
    let mean = |sum: f64| sum / n as f64;
    let gap =
        |bin: &CalibrationBin| bin.correct.n as f64 * (bin.confidence - bin.correct.value).abs();
    (n > 0).then(|| Calibration {
        ece: mean(bins.iter().map(gap).sum()),
        brier: mean(
            votes
                .iter()
                .map(|vote| (vote.confidence - vote.correct).powi(2))
                .sum(),
        ),
        bins,
        n,
    })
}

/// A vote with the person's verdict.
struct CheckedVote {
    query: usize,
    confidence: f64,
    correct: f64,
}

fn bin(votes: &[CheckedVote]) -> Option<CalibrationBin> {
    let stated: f64 = votes.iter().map(|vote| vote.confidence).sum();
    Some(CalibrationBin {
        low: votes.first()?.confidence,
        high: votes.last()?.confidence,
        confidence: stated / votes.len() as f64,
        correct: Share::clustered(votes.iter().map(|vote| (vote.query, vote.correct)))?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rating, verdict};
    use super::*;

    #[test]
    fn confidence_is_compared_with_the_share_that_was_right() {
        // Margin .6 states .8, and three of four are right; margin 1 states 1: one is right and one
        // is half right.
        let rows = [
            (0.6, 1.0),
            (0.6, 0.9),
            (-0.6, 0.0),
            (0.6, 0.0),
            (1.0, 1.0),
            (-1.0, 0.5),
        ];
        let mut ratings = Vec::new();
        let mut verdicts = Vec::new();
        for (at, (margin, score)) in rows.into_iter().enumerate() {
            ratings.push(rating(0, at, 50, margin));
            verdicts.push(verdict(at, 50, Some(score)));
        }
        ratings.extend([rating(0, 20, 50, 0.0), rating(0, 21, 50, 1.0)]);
        verdicts.push(verdict(20, 50, Some(0.5)));
        let few = calibration(&ratings, &verdicts).unwrap();
        assert_eq!((few.n, few.bins.len()), (6, 1));
        let brier = (3.0 * 0.04 + 0.64 + 0.25) / 6.0;
        assert!((few.brier - brier).abs() < 1e-12, "{few:?}");
        assert!((few.ece - (5.2 / 6.0 - 4.5 / 6.0)).abs() < 1e-12, "{few:?}");
        assert_eq!(calibration(&ratings, &[]), None);
    }

    #[test]
    fn a_judge_that_only_names_documents_states_no_confidence() {
        let stated =
            [1.0, -1.0, 0.0, 0.5].map(|margin| states_confidence(&rating(0, 1, 2, margin)));
        assert_eq!(stated, [false, false, false, true]);
    }

    #[test]
    fn equal_confidences_share_a_bin_and_the_order_of_rows_is_nothing() {
        let mut ratings: Vec<Rating> = (0..45)
            .map(|at| rating(0, at, 99, [0.2, 0.2, 0.7, 0.9, 0.95][at % 5]))
            .collect();
        let verdicts: Vec<HumanVerdict> = (0..45)
            .map(|at| verdict(at, 99, Some(f64::from(u8::from(at % 4 != 0)))))
            .collect();
        let one = calibration(&ratings, &verdicts).unwrap();
        let sizes: Vec<usize> = one.bins.iter().map(|bin| bin.correct.n).collect();
        // Quarters of 45 end at 11, 22 and 33; each end moves to the next change in confidence.
        assert_eq!(sizes, [18, 9, 9, 9]);
        ratings.reverse();
        assert_eq!(calibration(&ratings, &verdicts), Some(one));
    }
}
