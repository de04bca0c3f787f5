//! Whether the document shown first has the better chance.

use super::Rating;
use crate::domain::agreement::{ClusteredError, Interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// The simple diagnostic of position bias (SCIENCE §6.1): the mean vote for B where B was shown first, less the mean
/// vote for B where A was. Positive favours the document shown first.
///
/// A pair that the judge saw in both orders is compared with itself, so that what the documents are worth cancels out. The
/// other votes are compared over all, which is unbiased where the presentation was drawn at random; the two figures are
/// averaged by their votes. Close pairs show the bias and clear ones hide it, so it depends on the pairs; γ of the judge
/// model does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionShift {
    /// The difference of the two means on the scale 0, ½, 1, in −1..=1.
    pub value: f64,
    /// Its interval, with the queries as clusters; `None` where too little is there to vary.
    pub interval: Option<Interval>,
    /// Votes with A shown first.
    pub a_first: usize,
    /// Votes with B shown first.
    pub b_first: usize,
    /// Pairs that were seen in both orders.
    pub both: usize,
}

/// A judge's votes on one pair: the query, and by whether B was shown first the scores for B, seen from one document.
type VotesOnPair = (usize, [Vec<f64>; 2]);

/// The position shift of one judge's votes. `None` unless both presentations occur.
pub fn position_shift(ratings: &[Rating]) -> Option<PositionShift> {
    let mut pairs: BTreeMap<_, VotesOnPair> = BTreeMap::new();
    let mut shown = [0, 0];
    for rating in ratings {
        let Some((key, _)) = rating.on_pair() else {
            continue;
        };
        // Votes on one pair are seen from the document that its first battle calls B.
        let (first_b, votes) = pairs.entry(key).or_insert((rating.b, Default::default()));
        let (score, swapped) = match *first_b == rating.b {
            true => (rating.score(), rating.swapped),
            false => (1.0 - rating.score(), !rating.swapped),
        };
        shown[usize::from(swapped)] += 1;
        votes[usize::from(swapped)].push(score);
    }
    let [a_first, b_first] = shown;
    if a_first == 0 || b_first == 0 {
        return None;
    }
    let pairs = pairs.into_iter();
    let (both, single): (Vec<VotesOnPair>, Vec<VotesOnPair>) = pairs
        .map(|((query, _), (_, votes))| (query, votes))
        .partition(|(_, votes)| votes.iter().all(|side| !side.is_empty()));
    let count = |pairs: &[VotesOnPair]| -> f64 {
        pairs
            .iter()
            .flat_map(|(_, votes)| votes)
            .map(Vec::len)
            .sum::<usize>() as f64
    };
    let parts = [
        (paired(&both), count(&both)),
        (unpaired(&single), count(&single)),
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
        let pulls = part.pulls.iter();
        pulls.map(move |(query, pull)| (*query, pull * own / votes))
    });
    let error = ClusteredError::new(pulls);
    Some(PositionShift {
        value,
        interval: error.and_then(|error| error.interval(value, -1.0, 1.0)),
        a_first,
        b_first,
        both: both.len(),
    })
}

/// A figure with what each of its items, by query, pulls it off the mean.
struct ShiftPart {
    value: f64,
    pulls: Vec<(usize, f64)>,
}

fn mean(votes: &[f64]) -> Option<f64> {
    (!votes.is_empty()).then(|| votes.iter().sum::<f64>() / votes.len() as f64)
}

/// The mean difference between the orders of a pair.
fn paired(pairs: &[VotesOnPair]) -> Option<ShiftPart> {
    let difference =
        |(query, [plain, swapped]): &VotesOnPair| Some((*query, mean(swapped)? - mean(plain)?));
    let differences: Vec<(usize, f64)> = pairs.iter().filter_map(difference).collect();
    let n = differences.len() as f64;
    let value = mean(&differences.iter().map(|(_, d)| *d).collect::<Vec<_>>())?;
    let pulls = differences
        .iter()
        .map(|(query, d)| (*query, (d - value) / n));
    Some(ShiftPart {
        value,
        pulls: pulls.collect(),
    })
}

/// The difference of the means over pairs that were seen in one order each.
fn unpaired(pairs: &[VotesOnPair]) -> Option<ShiftPart> {
    let side = |swapped: usize| -> Vec<(usize, f64)> {
        let of = |(query, votes): &VotesOnPair| (*query, votes[swapped].clone());
        let votes = pairs.iter().map(of);
        votes
            .flat_map(|(query, votes)| votes.into_iter().map(move |vote| (query, vote)))
            .collect()
    };
    let scores = |votes: &[(usize, f64)]| votes.iter().map(|(_, vote)| *vote).collect::<Vec<_>>();
    let (plain, swapped) = (side(0), side(1));
    let (low, high) = (mean(&scores(&plain))?, mean(&scores(&swapped))?);
    let pull = |votes: &[(usize, f64)], mean: f64, sign: f64| -> Vec<(usize, f64)> {
        let n = votes.len() as f64;
        let pull = |(query, vote): &(usize, f64)| (*query, sign * (vote - mean) / n);
        votes.iter().map(pull).collect()
    };
    let mut pulls = pull(&plain, low, -1.0);
    pulls.extend(pull(&swapped, high, 1.0));
    Some(ShiftPart {
        value: high - low,
        pulls,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    /// Votes on a pair of its own each.
    fn votes(margins: &[f64], swapped: bool) -> Vec<Rating> {
        let vote = |(at, margin): (usize, &f64)| Rating {
            swapped,
            ..rating(0, 2 * at + usize::from(swapped), 90, *margin)
        };
        margins.iter().enumerate().map(vote).collect()
    }

    #[test]
    fn favouring_the_first_is_positive() {
        let mut ratings = votes(&[-1.0, -1.0, 1.0, 0.0], false);
        assert_eq!(position_shift(&ratings), None);
        ratings.extend(votes(&[1.0, 0.0], true));
        let shift = position_shift(&ratings).unwrap();
        assert_eq!((shift.value, shift.a_first, shift.b_first), (0.375, 4, 2));
        // Squares 11/16 of four votes and 1/8 of two, 6 / 5 for six items, and t with five degrees.
        let half = 2.570_581_8 * (1.2f64 * (11.0 / 16.0 / 16.0 + 1.0 / 8.0 / 4.0)).sqrt();
        let interval = shift.interval.unwrap();
        assert!((interval.low - (0.375 - half)).abs() < 1e-6, "{interval:?}");
        assert_eq!(interval.high, 1.0);
    }

    #[test]
    fn a_pair_seen_in_both_orders_is_compared_with_itself() {
        // The documents differ a lot and the order shifts every second pair by half a vote: .25 without any noise from them.
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
            // The second battle calls the documents the other way round, and shows the same one first as B of the first.
            ratings.push(rating(0, pair, 0, -second));
        }
        let shift = position_shift(&ratings).unwrap();
        assert_eq!((shift.both, shift.value), (20, 0.25));
        let interval = shift.interval.unwrap();
        assert!(interval.high - interval.low < 0.25, "{interval:?}");
    }
}
