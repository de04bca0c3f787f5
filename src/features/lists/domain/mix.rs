//! The number of calls about a query, and its division between lists and pairs.

use std::str::FromStr;
use thiserror::Error;

/// Number of calls about a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCount {
    Fixed(usize),
    /// Enough to show each document this often.
    Showing(usize),
}

impl CallCount {
    /// The number of calls about a query with this many documents, for lists of this size.
    pub fn of(self, documents: usize, size: usize) -> usize {
        match self {
            Self::Fixed(calls) => calls,
            Self::Showing(times) => (times * documents).div_ceil(size.max(1)),
        }
    }
}

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

    /// Number of pairs for the other calls, rounded down, by the number of calls about each query.
    /// Every judge is asked about each pair in both orders.
    pub fn pairs(self, calls: impl Iterator<Item = usize>, judges: usize) -> usize {
        let others: usize = calls.map(|calls| calls - self.lists(calls)).sum();
        others / (2 * judges).max(1)
    }

    /// Divides pairs among queries in proportion to the calls that are not spent on lists, by the
    /// number of calls about each; the first queries get the rest.
    pub fn divided(self, pairs: usize, calls: &[usize]) -> Vec<usize> {
        let others = calls.iter().map(|calls| calls - self.lists(*calls));
        let all: usize = others.clone().sum();
        let mut parts: Vec<usize> = others.map(|of| pairs * of / all.max(1)).collect();
        let rest = pairs.saturating_sub(parts.iter().sum());
        parts.iter_mut().take(rest).for_each(|part| *part += 1);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_show_each_document_often_enough() {
        let count = CallCount::Showing(8);
        assert_eq!(
            (count.of(100, 5), count.of(25, 5), count.of(7, 6)),
            (160, 40, 10)
        );
        assert_eq!(CallCount::Fixed(60).of(25, 5), 60);
    }

    #[test]
    fn calls_are_divided_into_lists_and_pairs_in_both_orders() {
        let share: PairShare = "20%".parse().unwrap();
        let pairs =
            |share: PairShare, calls: &[usize], judges| share.pairs(calls.iter().copied(), judges);
        assert_eq!((share.lists(60), pairs(share, &[60; 50], 3)), (48, 100));
        assert_eq!(pairs(share, &[60, 30], 1), 9);
        assert_eq!(share.divided(9, &[60, 30]), [6, 3]);
        assert_eq!(share.divided(11, &[60, 60, 60, 60]), [3, 3, 3, 2]);
        // 3 calls about each of 3 queries; two judges and both orders take 4.
        let half: PairShare = "50%".parse().unwrap();
        assert_eq!((half.lists(7), pairs(half, &[7; 3], 2)), (4, 2));
        assert_eq!((share.lists(1), pairs(share, &[1], 1)), (1, 0));
        for calls in 0..50 {
            let spent = share.lists(calls) * 7 + pairs(share, &[calls; 7], 3) * 6;
            assert!(spent <= calls * 7, "{calls}");
        }
        for bad in ["", "20", "0%", "100%", "-1%", "nan%", "inf%", "0.2", "20 %"] {
            assert_eq!(bad.parse::<PairShare>(), Err(PairShareError), "{bad}");
        }
    }
}
