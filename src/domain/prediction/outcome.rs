//! The probabilities of the three outcomes of a pair, and quantities derived from them.

/// Allowed deviation of the sum of the three probabilities from 1, because printed digits are
/// rounded.
const ROUNDING: f64 = 0.01;

/// Deviation of the sum from 1 that is only due to binary arithmetic: such numbers are kept as they
/// are, so that they round-trip to the last bit.
const EXACT: f64 = 1e-12;

/// The minimum and maximum weight of one prediction, in battles.
const STRENGTH: (f64, f64) = (0.02, 30.0);

/// P(A better) and P(B better) of a pair; the rest is P(tie).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutcomeProbabilities {
    a: f64,
    b: f64,
}

impl OutcomeProbabilities {
    /// From two probabilities; `None` unless both are in 0..=1 and their sum is at most 1. Sums up
    /// to .01 above 1 are scaled to 1.
    pub fn new(a: f64, b: f64) -> Option<Self> {
        let share = |p: f64| (0.0..=1.0 + ROUNDING).contains(&p);
        let sum = a + b;
        (share(a) && share(b) && sum <= 1.0 + ROUNDING).then(|| {
            if sum > 1.0 + EXACT {
                Self {
                    a: a / sum,
                    b: b / sum,
                }
            } else {
                Self { a, b }
            }
        })
    }

    /// From three probabilities that sum to 1, within .01, and are scaled to it; `None` for others.
    pub fn of_three(a: f64, b: f64, tie: f64) -> Option<Self> {
        let sum = a + b + tie;
        let sound = [a, b, tie].iter().all(|p| *p >= 0.0) && (sum - 1.0).abs() <= ROUNDING;
        let sum = if (sum - 1.0).abs() <= EXACT { 1.0 } else { sum };
        sound.then(|| Self {
            a: a / sum,
            b: b / sum,
        })
    }

    /// The training target for an ensemble score `s` in 0..=1 (1: B is better): P(tie) = 1 − 2|s −
    /// ½|, and the rest for the side of the score. It preserves the mean, P(B) + P(tie) / 2 = s.
    pub fn soft_target(score: f64) -> Self {
        Self {
            a: (1.0 - 2.0 * score).max(0.0),
            b: (2.0 * score - 1.0).max(0.0),
        }
    }

    pub fn a(self) -> f64 {
        self.a
    }

    pub fn b(self) -> f64 {
        self.b
    }

    pub fn tie(self) -> f64 {
        // Add in this order, so that swapping the documents does not change the last bit.
        (1.0 - (self.a + self.b)).max(0.0)
    }

    /// The same pair with its documents swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
        }
    }

    /// The mean of two predictions, such as those of both orders.
    #[must_use]
    pub fn mean_with(self, other: Self) -> Self {
        Self {
            a: 0.5 * (self.a + other.a),
            b: 0.5 * (self.b + other.b),
        }
    }

    /// The expected score, in 0..=1 (1: B is better).
    pub fn score(self) -> f64 {
        0.5 * (1.0 - self.a + self.b)
    }

    /// E[C] in −1..=1: P(B) − P(A).
    pub fn preference(self) -> f64 {
        self.b - self.a
    }

    /// E|C| in 0..=1: P(A) + P(B), the probability of a decisive outcome.
    pub fn decisiveness(self) -> f64 {
        self.a + self.b
    }

    /// The weight of a prediction in a fit, in battles: (1 − a) / (a − m²) with m = E[C] and a =
    /// E|C|, clamped to .02..=30.
    ///
    /// It is the number of games after which a Beta distribution with the same mean has the
    /// variance of three outcomes with these probabilities. At the same m it decreases with a,
    /// since a certain tie is evidence and a coin flip is not.
    pub fn strength(self) -> f64 {
        let (a, m) = (self.decisiveness(), self.preference());
        let (games, spread) = (self.tie(), a - m * m);
        let (least, most) = STRENGTH;
        if games > 0.0 {
            (games / spread.max(f64::MIN_POSITIVE)).clamp(least, most)
        } else {
            least
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_probabilities_are_taken() {
        for (a, b) in [(f64::NAN, 0.1), (-0.1, 0.2), (0.7, 0.4), (1.2, 0.0)] {
            assert_eq!(OutcomeProbabilities::new(a, b), None, "{a} {b}");
        }
        assert_eq!(OutcomeProbabilities::of_three(0.5, 0.2, 0.2), None);
        let rounded = OutcomeProbabilities::of_three(0.333, 0.333, 0.333).unwrap();
        assert!((rounded.tie() - 1.0 / 3.0).abs() < 1e-12);
        let over = OutcomeProbabilities::new(0.6, 0.401).unwrap();
        assert!((over.decisiveness() - 1.0).abs() < 1e-12 && over.tie() < 1e-12);
    }

    #[test]
    fn certain_ties_are_strong_and_coin_flips_are_not() {
        let strength = |a, b| OutcomeProbabilities::new(a, b).unwrap().strength();
        assert_eq!(strength(0.0, 0.0), 30.0);
        assert_eq!(strength(0.5, 0.5), 0.02);
        assert_eq!(strength(1.0, 0.0), 0.02);
        // m = .5, a = .7: .3 / (.7 − .25).
        assert!((strength(0.1, 0.6) - 0.3 / 0.45).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_soft_target_keeps_the_score(score in 0.0..=1.0f64) {
            let target = OutcomeProbabilities::soft_target(score);
            prop_assert!((target.score() - score).abs() < 1e-12);
            prop_assert!((target.tie() - (1.0 - 2.0 * (score - 0.5).abs())).abs() < 1e-12);
        }

        #[test]
        fn a_beta_of_so_many_games_varies_as_the_three_outcomes_do(a in 0.0..=1.0f64, share in 0.0..=1.0f64) {
            let one = OutcomeProbabilities::new(a, (1.0 - a) * share).unwrap();
            let (mean, games) = (one.score(), one.strength());
            let (least, most) = STRENGTH;
            prop_assume!(games > least && games < most);
            // Var(win share) of Beta(mean · n, (1 − mean) · n), and a quarter of Var(C) where C² =
            // |C|.
            let of_beta = mean * (1.0 - mean) / (games + 1.0);
            let of_outcomes = (one.decisiveness() - one.preference().powi(2)) / 4.0;
            prop_assert!((of_beta - of_outcomes).abs() < 1e-12);
        }

        #[test]
        fn exchanging_the_documents_turns_the_score(a in 0.0..=1.0f64, share in 0.0..=1.0f64) {
            let one = OutcomeProbabilities::new(a, (1.0 - a) * share).unwrap();
            let other = one.swapped();
            prop_assert!((one.score() + other.score() - 1.0).abs() < 1e-12);
            prop_assert_eq!(one.strength(), other.strength());
            prop_assert_eq!(one.decisiveness(), other.decisiveness());
        }
    }
}
