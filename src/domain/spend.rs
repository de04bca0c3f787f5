//! The cost of calls as far as prices are known, with consistent wording.

use crate::domain::number_words::{counted, usd};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// The cost of calls in dollars, and the number of calls without a known price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spend {
    /// Dollars according to the usage that providers report.
    pub known_usd: f64,
    /// Dollars assumed at the highest price, for calls that do not report their cost.
    pub assumed_usd: f64,
    /// Number of calls without a known price. They are not included in the dollars.
    pub unpriced: usize,
}

impl Spend {
    /// The spend of one call with this cost, if known.
    pub fn of(cost_usd: Option<f64>) -> Self {
        Self {
            known_usd: cost_usd.unwrap_or(0.0),
            assumed_usd: 0.0,
            unpriced: usize::from(cost_usd.is_none()),
        }
    }

    /// Dollars that count against a budget.
    pub fn usd(self) -> f64 {
        self.known_usd + self.assumed_usd
    }

    /// The amount spent since an earlier value.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            known_usd: (self.known_usd - before.known_usd).max(0.0),
            assumed_usd: (self.assumed_usd - before.assumed_usd).max(0.0),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
        }
    }

    /// The dollars; `None` if no call has a known price, because 0 would be wrong.
    pub fn told_usd(self) -> Option<f64> {
        (self.usd() > 0.0 || self.unpriced == 0).then(|| self.usd())
    }

    /// `$0.12`, or `unknown` if no call has a known price; `$0.12+` if only some have.
    pub fn in_short(self) -> String {
        match (self.told_usd(), self.unpriced) {
            (None, _) => "unknown".to_owned(),
            (Some(dollars), 0) => usd(dollars),
            (Some(dollars), _) => format!("{}+", usd(dollars)),
        }
    }

    /// The amount spent, in words that follow *spent*.
    pub fn words(self) -> String {
        let assumed = if self.assumed_usd > 0.0 {
            format!(
                ", {} of it assumed at the worst price",
                usd(self.assumed_usd)
            )
        } else {
            String::new()
        };
        let known = self.told_usd().map(|dollars| usd(dollars) + &assumed);
        let unknown = (self.unpriced > 0).then(|| {
            format!(
                "an unknown amount for {} without a known price",
                counted(self.unpriced, "call")
            )
        });
        let parts: Vec<String> = known.into_iter().chain(unknown).collect();
        parts.join(", and ")
    }
}

impl Serialize for Spend {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Spend", 3)?;
        fields.serialize_field("spent_usd", &self.told_usd())?;
        fields.serialize_field("assumed_usd", &self.assumed_usd)?;
        fields.serialize_field("calls_without_price", &self.unpriced)?;
        fields.end()
    }
}

/// Writes [`Spend::told_usd`]: dollars, or null if no call has a known price.
pub fn serialize_told_usd<S: Serializer>(spend: &Spend, to: S) -> Result<S::Ok, S::Error> {
    spend.told_usd().serialize(to)
}

impl Add for Spend {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            known_usd: self.known_usd + other.known_usd,
            assumed_usd: self.assumed_usd + other.assumed_usd,
            unpriced: self.unpriced + other.unpriced,
        }
    }
}

impl AddAssign for Spend {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Spend {
    /// The sum of an empty list is 0 dollars, not the −0 of `f64`.
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spend(known_usd: f64, assumed_usd: f64, unpriced: usize) -> Spend {
        Spend {
            known_usd,
            assumed_usd,
            unpriced,
        }
    }

    #[test]
    fn an_unknown_price_is_never_zero_dollars() {
        for (spend, told, short, words) in [
            (spend(0.0, 0.0, 0), Some(0.0), "$0.00", "$0.00"),
            (spend(0.12, 0.0, 0), Some(0.12), "$0.12", "$0.12"),
            (
                spend(0.5, 0.25, 0),
                Some(0.75),
                "$0.75",
                "$0.75, $0.25 of it assumed at the worst price",
            ),
            (
                spend(0.0, 0.0, 48),
                None,
                "unknown",
                "an unknown amount for 48 calls without a known price",
            ),
            (
                spend(0.12, 0.0, 1),
                Some(0.12),
                "$0.12+",
                "$0.12, and an unknown amount for 1 call without a known price",
            ),
        ] {
            assert_eq!(spend.told_usd(), told);
            assert_eq!(spend.in_short(), short);
            assert_eq!(spend.words(), words);
        }
    }

    #[test]
    fn a_sum_of_nothing_has_no_sign() {
        let sum: Spend = std::iter::empty().sum();
        assert!(sum.usd().is_sign_positive());
        let sum: Spend = [spend(1.0, 0.5, 1), spend(0.5, 0.0, 2)].into_iter().sum();
        assert_eq!(sum, spend(1.5, 0.5, 3));
        assert_eq!(sum.since(spend(1.0, 0.5, 1)), spend(0.5, 0.0, 2));
        assert_eq!(Spend::of(Some(0.5)) + Spend::of(None), spend(0.5, 0.0, 1));
    }
}
