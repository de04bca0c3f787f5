//! Comparisons of pairs that are asked about once, not in both orders.

use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;

/// Two candidates in the order shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleComparison {
    pub(super) pair: Pair,
    pub(super) first: usize,
    pub(super) second: usize,
}

impl SingleComparison {
    /// The pair in random order, so that a judge's bias to the first candidate is noise. The order
    /// depends on nothing but seed and pair: methods that ask about the same pair share the answer.
    pub(super) fn new(pair: Pair, seed: u64) -> Self {
        let names = [pair.low(), pair.high()].map(|candidate| candidate.to_string());
        let mut rng = SeededRng::new(seed, &["single-comparison", &names[0], &names[1]]);
        let (first, second) = if rng.below(2) == 0 {
            (pair.low(), pair.high())
        } else {
            (pair.high(), pair.low())
        };
        Self {
            pair,
            first,
            second,
        }
    }
}
