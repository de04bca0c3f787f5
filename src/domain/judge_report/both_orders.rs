//! What a judge says of pairs that it saw in both orders: how often its answer changes, and towards which side.

use super::PositionCounts;
use crate::domain::agreement::{ClusteredError, Interval};
use crate::domain::analysis::wilson;
use crate::domain::number_words::{counted, fixed};
use crate::domain::vote::Outcome;
use serde::{Deserialize, Serialize};

/// Confidence of the intervals.
const LEVEL: f64 = 0.95;
/// A share of changed answers from which on they go by the order too much to be used (SCIENCE2 §2).
const TOO_MANY: f64 = 0.4;
/// What the shift of a pair can be, in the order of [`BothOrders::shifts`].
const SHIFTS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];

/// Pairs that a judge saw in both orders, by what the order did to its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BothOrders {
    /// How many pairs have a shift of −1, −½, 0, ½ and 1: the score of a document where it is shown first, less its score
    /// where it is shown second. 0 is the same answer both times, 1 the document shown first both times.
    shifts: [usize; 5],
}

impl BothOrders {
    /// Counts a pair. Both outcomes are as the judge was shown the pair: `A` is the document that it saw first.
    pub fn count(&mut self, one: Outcome, other: Outcome) {
        let halves = |outcome| match outcome {
            Outcome::A => 2,
            Outcome::Tie => 1,
            Outcome::B => 0,
        };
        self.shifts[halves(one) + halves(other)] += 1;
    }

    pub fn join(&mut self, other: Self) {
        for (sum, more) in self.shifts.iter_mut().zip(other.shifts) {
            *sum += more;
        }
    }

    pub fn pairs(&self) -> usize {
        self.shifts.iter().sum()
    }

    /// Pairs with another answer in the other order.
    pub fn flips(&self) -> usize {
        self.pairs() - self.shifts[2]
    }

    /// The share of them with its Wilson interval; `None` without a pair.
    pub fn flip_share(&self) -> Option<(f64, Interval)> {
        let (low, high) = wilson(self.flips(), self.pairs(), LEVEL)?;
        let share = self.flips() as f64 / self.pairs() as f64;
        Some((share, Interval { low, high }))
    }

    /// The mean shift, positive towards the document shown first, with its interval where the pairs differ.
    pub fn lean(&self) -> Option<(f64, Option<Interval>)> {
        let n = self.pairs() as f64;
        let counted = || SHIFTS.into_iter().zip(self.shifts);
        let sum: f64 = counted().map(|(shift, pairs)| shift * pairs as f64).sum();
        let mean = (n > 0.0).then(|| sum / n)?;
        let error =
            ClusteredError::counted(counted().map(|(shift, pairs)| (0, (shift - mean) / n, pairs)));
        Some((
            mean,
            error.and_then(|error| error.interval(mean, -1.0, 1.0)),
        ))
    }

    /// Whether more than 40 % of the answers change beyond doubt.
    pub fn flips_too_often(&self) -> bool {
        self.flip_share()
            .is_some_and(|(_, interval)| interval.low > TOO_MANY)
    }

    /// `flips 30 % (20–43) of 60`; `None` without a pair.
    pub fn in_short(&self) -> Option<String> {
        let (share, interval) = self.flip_share()?;
        Some(format!(
            "flips {:.0} % ({:.0}–{:.0}) of {}",
            100.0 * share,
            100.0 * interval.low,
            100.0 * interval.high,
            self.pairs()
        ))
    }

    /// The same in words that go on after the judge's name, with the lean.
    pub fn words(&self) -> Option<String> {
        let (share, interval) = self.flip_share()?;
        let mut words = format!(
            "changes its answer with the order in {:.0} % ({:.0}–{:.0} %) of {} seen in both orders",
            100.0 * share,
            100.0 * interval.low,
            100.0 * interval.high,
            counted(self.pairs(), "pair")
        );
        if let Some((lean, interval)) = self.lean().filter(|(lean, _)| lean.abs() >= 0.005) {
            let side = if lean > 0.0 { "first" } else { "second" };
            words += &format!("; leans by {:.2}", lean.abs());
            if let Some(Interval { low, high }) = interval {
                let (low, high) = if lean > 0.0 {
                    (low, high)
                } else {
                    (-high, -low)
                };
                words += &format!(" ({} to {})", fixed(low, 2), fixed(high, 2));
            }
            words += &format!(" towards the document shown {side}");
        }
        if self.flips_too_often() {
            words += ": its answers depend on the order; try another prompt or a larger model";
        }
        Some(words)
    }
}

/// A vote as the judge was shown the pair: what it says of the document that it saw first, as `A`.
pub fn as_shown(outcome: Outcome, swapped: bool) -> Outcome {
    let mut counts = PositionCounts::default();
    counts.count(outcome, swapped);
    match (counts.first, counts.second) {
        (1, _) => Outcome::A,
        (_, 1) => Outcome::B,
        _ => Outcome::Tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(shifts: [usize; 5]) -> BothOrders {
        BothOrders { shifts }
    }

    #[test]
    fn a_pair_flips_where_another_document_is_named() {
        let mut both = BothOrders::default();
        // The same document both times: first once, second once.
        both.count(Outcome::A, Outcome::B);
        both.count(Outcome::Tie, Outcome::Tie);
        assert_eq!((both.pairs(), both.flips()), (2, 0));
        // What is shown first, both times; then a tie once.
        both.count(Outcome::A, Outcome::A);
        both.count(Outcome::B, Outcome::Tie);
        assert_eq!(both, orders([0, 1, 2, 0, 1]));
        assert_eq!((both.flips(), both.lean().unwrap().0), (2, 0.125));
    }

    #[test]
    fn a_vote_is_turned_to_what_was_shown() {
        assert_eq!(as_shown(Outcome::A, false), Outcome::A);
        assert_eq!(as_shown(Outcome::B, true), Outcome::A);
        assert_eq!(as_shown(Outcome::A, true), Outcome::B);
        assert_eq!(as_shown(Outcome::Tie, true), Outcome::Tie);
    }

    #[test]
    fn shares_have_intervals_and_leans_a_side() {
        let both = orders([1, 0, 42, 0, 17]);
        assert_eq!(both.in_short().unwrap(), "flips 30 % (20–43) of 60");
        let words = both.words().unwrap();
        assert!(
            words.ends_with("leans by 0.27 (0.14 to 0.39) towards the document shown first"),
            "{words}"
        );
        assert!(!both.flips_too_often());
        let other = orders([17, 0, 42, 0, 1]).words().unwrap();
        assert!(
            other.ends_with("leans by 0.27 (0.14 to 0.39) towards the document shown second"),
            "{other}"
        );
        assert!(
            orders([0, 0, 20, 0, 40])
                .words()
                .unwrap()
                .contains("depend on the order")
        );
        assert_eq!(BothOrders::default().words(), None);
        // All alike: a share has an interval, a lean of which nothing varies has none.
        assert_eq!(orders([0, 0, 0, 0, 9]).lean(), Some((1.0, None)));
        assert_eq!(
            orders([0, 0, 9, 0, 0]).words().unwrap(),
            "changes its answer with the order in 0 % (0–30 %) of 9 pairs seen in both orders"
        );
    }
}
