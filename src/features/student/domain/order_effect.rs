//! Measures how the order of two documents affects a student that was asked in both orders.

use crate::domain::prediction::OutcomeProbabilities;
use serde::Serialize;

/// Statistics over the pairs that a student has predicted in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrderShift {
    pub pairs: usize,
    /// Mean of P(first) − P(second) over both orders, in −1..=1: positive if the student favors the
    /// first document, 0 without an effect.
    pub toward_first: f64,
    /// Share of the pairs whose favorite changes with the order.
    pub flips: f64,
}

impl OrderShift {
    /// From predictions for the same documents A and B, shown A first and shown B first; `None`
    /// without any.
    pub fn of(
        both: impl IntoIterator<Item = (OutcomeProbabilities, OutcomeProbabilities)>,
    ) -> Option<Self> {
        let (mut pairs, mut shift, mut flips) = (0, 0.0, 0);
        for (a_first, b_first) in both {
            pairs += 1;
            shift += 0.5 * (b_first.preference() - a_first.preference());
            flips += usize::from(a_first.preference() * b_first.preference() < 0.0);
        }
        (pairs > 0).then(|| Self {
            pairs,
            toward_first: shift / pairs as f64,
            flips: flips as f64 / pairs as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn favoring_the_first_document_shows() {
        let p = |a, b| OutcomeProbabilities::new(a, b).unwrap();
        assert_eq!(OrderShift::of([]), None);
        let shift = OrderShift::of([(p(0.7, 0.2), p(0.1, 0.6)), (p(0.9, 0.1), p(0.9, 0.1))]);
        let shift = shift.unwrap();
        // The first pair: (.5 + .5) / 2; the second has no effect.
        assert!((shift.toward_first - 0.25).abs() < 1e-12);
        assert_eq!((shift.pairs, shift.flips), (2, 0.5));
    }
}
