//! Whether the document shown first has the better chance.

use super::Rating;
use crate::domain::agreement::Interval;
use serde::Serialize;

/// The simple diagnostic of position bias (SCIENCE §6.1): the mean vote for B where B was shown first, less the mean
/// vote for B where A was. Positive favours the document shown first.
///
/// It is unbiased where the presentation was drawn at random. Close pairs show the bias and clear ones hide it, so it
/// depends on the pairs; γ of the judge model does not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionShift {
    /// The difference of the two means on the scale 0, ½, 1, in −1..=1.
    pub value: f64,
    /// Its normal interval with unequal variances (Welch); `None` with fewer than two votes on a side, or no spread.
    pub interval: Option<Interval>,
    /// Votes with A shown first.
    pub a_first: usize,
    /// Votes with B shown first.
    pub b_first: usize,
}

/// The position shift of one judge's ballots. `None` unless both presentations occur.
pub fn position_shift(ratings: &[Rating]) -> Option<PositionShift> {
    let side = |swapped: bool| -> Vec<f64> {
        let shown = ratings
            .iter()
            .filter(|b| b.swapped == swapped && b.a != b.b);
        shown.map(Rating::score).collect()
    };
    let (plain, swapped) = (side(false), side(true));
    let mean =
        |votes: &[f64]| (!votes.is_empty()).then(|| votes.iter().sum::<f64>() / votes.len() as f64);
    let (low, high) = (mean(&plain)?, mean(&swapped)?);
    let error = |votes: &[f64], mean: f64| {
        let n = votes.len() as f64;
        let squares: f64 = votes.iter().map(|vote| (vote - mean).powi(2)).sum();
        // 0 / 0 for a single vote: no error, no interval.
        squares / (n - 1.0) / n
    };
    let se = (error(&plain, low) + error(&swapped, high)).sqrt();
    Some(PositionShift {
        value: high - low,
        interval: Interval::normal(high - low, se, -1.0, 1.0),
        a_first: plain.len(),
        b_first: swapped.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    #[test]
    fn favouring_the_first_is_positive() {
        let votes = |margins: &[f64], swapped: bool| -> Vec<Rating> {
            let vote = |margin: &f64| Rating {
                swapped,
                ..rating(0, 0, 1, *margin)
            };
            margins.iter().map(vote).collect()
        };
        let mut ratings = votes(&[-1.0, -1.0, 1.0, 0.0], false);
        assert_eq!(position_shift(&ratings), None);
        ratings.extend(votes(&[1.0, 0.0], true));
        let shift = position_shift(&ratings).unwrap();
        assert_eq!((shift.value, shift.a_first, shift.b_first), (0.375, 4, 2));
        // Variances 11/48 of four votes and 1/8 of two.
        let half = 1.959_963_985 * (11.0f64 / 192.0 + 1.0 / 16.0).sqrt();
        let interval = shift.interval.unwrap();
        assert!((interval.low - (0.375 - half)).abs() < 1e-8, "{interval:?}");
        assert_eq!(interval.high, 1.0);
        ratings.truncate(5);
        assert_eq!(position_shift(&ratings).unwrap().interval, None);
    }
}
