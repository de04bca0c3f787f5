//! Divides calls between lists and pairs.

use std::str::FromStr;
use thiserror::Error;

/// The share of calls that is spent on pairs, above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairShare(f64);

/// A text is not such a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a percentage above 0 and below 100, such as 20%")]
pub struct PairShareError;

impl FromStr for PairShare {
    type Err = PairShareError;

    fn from_str(text: &str) -> Result<Self, PairShareError> {
        let percent = text.strip_suffix('%').ok_or(PairShareError)?;
        let percent: f64 = percent.parse().map_err(|_| PairShareError)?;
        if percent > 0.0 && percent < 100.0 {
            Ok(Self(percent / 100.0))
        } else {
            Err(PairShareError)
        }
    }
}

impl PairShare {
    /// Number of list calls among this many calls about a query.
    pub fn lists(self, calls: usize) -> usize {
        (calls as f64 * (1.0 - self.0)).round() as usize
    }

    /// Number of pairs for the other calls about all queries, rounded down. Every judge is asked
    /// about each pair in both orders.
    pub fn pairs(self, calls: usize, queries: usize, judges: usize) -> usize {
        (calls - self.lists(calls)) * queries / (2 * judges).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_divided_into_lists_and_pairs_in_both_orders() {
        let share: PairShare = "20%".parse().unwrap();
        assert_eq!((share.lists(60), share.pairs(60, 50, 3)), (48, 100));
        // 3 calls about each of 3 queries; two judges and both orders take 4.
        let half: PairShare = "50%".parse().unwrap();
        assert_eq!((half.lists(7), half.pairs(7, 3, 2)), (4, 2));
        assert_eq!((share.lists(1), share.pairs(1, 1, 1)), (1, 0));
        for calls in 0..50 {
            let spent = share.lists(calls) * 7 + share.pairs(calls, 7, 3) * 6;
            assert!(spent <= calls * 7, "{calls}");
        }
        for bad in ["", "20", "0%", "100%", "-1%", "nan%", "inf%", "0.2", "20 %"] {
            assert_eq!(bad.parse::<PairShare>(), Err(PairShareError), "{bad}");
        }
    }
}
