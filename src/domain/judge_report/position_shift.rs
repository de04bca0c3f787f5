//! Measures whether a judge favors the document shown first.

use super::Rating;
use crate::domain::agreement::{ClusteredError, Interval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A simple measure of position bias (science.md § Judges): the mean vote for B if B was shown
/// first, minus the mean vote for B if A was. Positive values favor the document shown first.
///
/// A pair that the judge saw in both orders is compared with itself, so that the quality of the
/// documents cancels out. The other votes are compared as a whole, which is unbiased if the order
/// was random. The two values are averaged, weighted by their votes. Close pairs show the bias and
/// clear ones hide it, so the value depends on the pairs, unlike γ of the judge model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionShift {
    /// The difference of the two means on the scale 0, ½, 1, in −1..=1.
    pub value: f64,
    /// Its interval, clustered by query; `None` if there is too little variation to compute one.
    pub interval: Option<Interval>,
    /// Votes with A shown first.
    pub a_first: usize,
    /// Votes with B shown first.
    pub b_first: usize,
    /// Pairs that were shown in both orders.
    pub both: usize,
}

impl PositionShift {
    /// The same as a share: how often the document shown first is preferred, with ties as half, and
    /// corrected for which documents were shown first; 0.5 without bias.
    pub fn first_share(&self) -> f64 {
        0.5 + self.value / 2.0
    }

    /// The interval of [`Self::first_share`].
    pub fn first_interval(&self) -> Option<Interval> {
        let of = |value: f64| 0.5 + value / 2.0;
        self.interval.map(|interval| Interval {
            low: of(interval.low),
            high: of(interval.high),
        })
    }
}

/// One query's contribution to a judge's position shift.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ShiftTally {
    /// Votes on pairs that were shown in both orders.
    paired_votes: u32,
    /// For each of those pairs, the mean vote for one document when shown first minus that when
    /// shown second, and the number of pairs with this difference.
    differences: Vec<(f64, u32)>,
    /// Votes on pairs that were shown in one order only: with A shown first and with B, by score 0,
    /// ½ and 1 for B.
    single: [[u32; 3]; 2],
    /// Votes with A shown first and with B.
    shown: [u32; 2],
}

/// The possible scores of votes.
const SCORES: [f64; 3] = [0.0, 0.5, 1.0];

impl ShiftTally {
    /// Tallies one judge's votes on one query.
    pub(super) fn of(ratings: &[Rating]) -> Self {
        let mut pairs: BTreeMap<_, (usize, [Vec<f64>; 2])> = BTreeMap::new();
        let mut tally = Self::default();
        for rating in ratings {
            let Some((key, _)) = rating.on_pair() else {
                continue;
            };
            // Votes on one pair are oriented to the document that its first battle calls B.
            let (first_b, votes) = pairs.entry(key).or_insert((rating.b, Default::default()));
            let (score, swapped) = if *first_b == rating.b {
                (rating.score(), rating.swapped)
            } else {
                (1.0 - rating.score(), !rating.swapped)
            };
            tally.shown[usize::from(swapped)] += 1;
            votes[usize::from(swapped)].push(score);
        }
        let mut differences = Vec::new();
        for (_, [plain, swapped]) in pairs.into_values() {
            match mean(&swapped).zip(mean(&plain)) {
                Some((high, low)) => {
                    tally.paired_votes += (plain.len() + swapped.len()) as u32;
                    differences.push(high - low);
                }
                None => {
                    for (side, votes) in tally.single.iter_mut().zip([plain, swapped]) {
                        for vote in votes {
                            side[(2.0 * vote) as usize] += 1;
                        }
                    }
                }
            }
        }
        differences.sort_by(f64::total_cmp);
        let alike = differences.chunk_by(|one, other| one == other);
        tally.differences = alike.map(|like| (like[0], like.len() as u32)).collect();
        tally
    }

    /// The scores on one side of [`Self::single`], each with its count.
    fn votes(&self, side: usize) -> impl Iterator<Item = (f64, u32)> + '_ {
        SCORES.into_iter().zip(self.single[side])
    }
}

/// The position shift of one judge's votes. `None` unless both orders occur.
pub(super) fn position_shift(queries: &[(usize, ShiftTally)]) -> Option<PositionShift> {
    let sum = |of: &dyn Fn(&ShiftTally) -> u32| -> usize {
        queries.iter().map(|(_, tally)| of(tally) as usize).sum()
    };
    let (a_first, b_first) = (sum(&|tally| tally.shown[0]), sum(&|tally| tally.shown[1]));
    if a_first == 0 || b_first == 0 {
        return None;
    }
    let paired_votes = sum(&|tally| tally.paired_votes);
    let parts = [
        (paired(queries), paired_votes as f64),
        (unpaired(queries), (a_first + b_first - paired_votes) as f64),
    ];
    let known = || {
        parts
            .iter()
            .filter_map(|(part, votes)| Some((part.as_ref()?, votes)))
    };
    let votes: f64 = known().map(|(_, votes)| votes).sum();
    let value = known()
        .map(|(part, own)| part.value * own / votes)
        .sum::<f64>()
        + 0.0;
    let pulls = known().flat_map(|(part, own)| {
        part.pulls
            .iter()
            .map(move |(query, pull, times)| (*query, pull * own / votes, *times))
    });
    let error = ClusteredError::counted(pulls);
    Some(PositionShift {
        value,
        interval: error.and_then(|error| error.interval(value, -1.0, 1.0)),
        a_first,
        b_first,
        both: sum(&|tally| tally.differences.iter().map(|(_, times)| times).sum()),
    })
}

/// A mean with the deviation of each item from it, by query, and the number of such items.
struct ShiftPart {
    value: f64,
    pulls: Vec<(usize, f64, usize)>,
}

fn mean(votes: &[f64]) -> Option<f64> {
    (!votes.is_empty()).then(|| votes.iter().sum::<f64>() / votes.len() as f64)
}

/// The number of items and their mean, given values with their counts.
fn mean_of(items: impl Iterator<Item = (f64, u32)>) -> Option<(f64, f64)> {
    let (sum, n) = items.fold((0.0, 0.0), |(sum, n), (value, times)| {
        (sum + value * f64::from(times), n + f64::from(times))
    });
    (n > 0.0).then(|| (n, sum / n))
}

/// The mean difference between the two orders of a pair.
fn paired(queries: &[(usize, ShiftTally)]) -> Option<ShiftPart> {
    let differences = || {
        queries.iter().flat_map(|(query, tally)| {
            tally
                .differences
                .iter()
                .map(|(difference, times)| (*query, *difference, *times))
        })
    };
    let (n, value) = mean_of(differences().map(|(_, d, times)| (d, times)))?;
    let pulls = differences().map(|(query, d, times)| (query, (d - value) / n, times as usize));
    Some(ShiftPart {
        value,
        pulls: pulls.collect(),
    })
}

/// The difference of the means over pairs that were shown in one order each.
fn unpaired(queries: &[(usize, ShiftTally)]) -> Option<ShiftPart> {
    let of_side = |side: usize| mean_of(queries.iter().flat_map(move |(_, t)| t.votes(side)));
    let ((plain, low), (swapped, high)) = (of_side(0)?, of_side(1)?);
    let pull = |side: usize, (n, mean): (f64, f64), sign: f64| {
        queries.iter().flat_map(move |(query, tally)| {
            tally
                .votes(side)
                .map(move |(vote, times)| (*query, sign * (vote - mean) / n, times as usize))
        })
    };
    let pulls = pull(0, (plain, low), -1.0).chain(pull(1, (swapped, high), 1.0));
    Some(ShiftPart {
        value: high - low,
        pulls: pulls.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    fn shift_of(ratings: &[Rating]) -> Option<PositionShift> {
        position_shift(&[(0, ShiftTally::of(ratings))])
    }

    /// Votes that are each on a different pair.
    fn votes(margins: &[f64], swapped: bool) -> Vec<Rating> {
        let vote = |(at, margin): (usize, &f64)| Rating {
            swapped,
            ..rating(0, 2 * at + usize::from(swapped), 90, *margin)
        };
        margins.iter().enumerate().map(vote).collect()
    }

    #[test]
    fn favoring_the_first_is_positive() {
        let mut ratings = votes(&[-1.0, -1.0, 1.0, 0.0], false);
        assert_eq!(shift_of(&ratings), None);
        ratings.extend(votes(&[1.0, 0.0], true));
        let shift = shift_of(&ratings).unwrap();
        assert_eq!((shift.value, shift.a_first, shift.b_first), (0.375, 4, 2));
        assert_eq!(shift.first_share(), 0.6875);
        assert_eq!(shift.first_interval().unwrap().high, 1.0);
        // Squares 11/16 of four votes and 1/8 of two, 6 / 5 for six items, and t with five degrees
        // of freedom.
        let half = 2.570_581_8 * (1.2f64 * (11.0 / 16.0 / 16.0 + 1.0 / 8.0 / 4.0)).sqrt();
        let interval = shift.interval.unwrap();
        assert!((interval.low - (0.375 - half)).abs() < 1e-6, "{interval:?}");
        assert_eq!(interval.high, 1.0);
    }

    #[test]
    fn a_pair_seen_in_both_orders_is_compared_with_itself() {
        // The documents differ a lot, and the order shifts every second pair by half a vote: .25
        // without any noise from the documents.
        let mut ratings = Vec::new();
        for pair in 1..=20 {
            let better = if pair % 4 < 2 { 1.0 } else { -1.0 };
            let moved = if pair % 2 == 0 { 0.0 } else { better };
            let (first, second) = if better > 0.0 {
                (moved, better)
            } else {
                (better, moved)
            };
            ratings.push(rating(0, 0, pair, first));
            // The second battle swaps the documents, and shows first the document that the first
            // battle calls B.
            ratings.push(rating(0, pair, 0, -second));
        }
        let shift = shift_of(&ratings).unwrap();
        assert_eq!((shift.both, shift.value), (20, 0.25));
        let interval = shift.interval.unwrap();
        assert!(interval.high - interval.low < 0.25, "{interval:?}");
    }
}
