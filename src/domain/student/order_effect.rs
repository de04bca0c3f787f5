//! What the order of two documents does to a student that was asked in both.

use super::OutcomeProbabilities;
use serde::Serialize;

/// Over the pairs that a student has predicted in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrderShift {
    pub pairs: usize,
    /// Mean of P(first) − P(second) over both orders, in −1..=1: above 0 the student favours what comes first. 0 without
    /// any effect.
    pub toward_first: f64,
    /// Share of the pairs whose favourite is another document in the other order.
    pub flips: f64,
}

impl OrderShift {
    /// Of predictions about the same documents A and B, shown A first and shown B first; `None` without any.
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
    fn favouring_the_first_document_shows() {
        let p = |a, b| OutcomeProbabilities::new(a, b).unwrap();
        assert_eq!(OrderShift::of([]), None);
        let shift = OrderShift::of([(p(0.7, 0.2), p(0.1, 0.6)), (p(0.9, 0.1), p(0.9, 0.1))]);
        let shift = shift.unwrap();
        // The first pair: (.5 + .5) / 2; the second has no effect.
        assert!((shift.toward_first - 0.25).abs() < 1e-12);
        assert_eq!((shift.pairs, shift.flips), (2, 0.5));
    }
}
