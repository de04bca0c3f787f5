//! Compares two rankings of a search system, query by query.

use super::ERROR;
use super::betting::{against_zero, interval};
use crate::domain::agreement::Interval;
use serde::Serialize;

/// The differences of two rankings in a metric, query by query.
///
/// If the system is as good as before for queries like these, the differences are 0 on average, and
/// bets on them win nothing on average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemChange {
    pub queries: usize,
    /// The mean value of the metric after minus before, in −1..=1.
    pub difference: f64,
    /// The interval of the difference at 95 %.
    pub interval: Interval,
    /// The evidence of a change.
    pub e_value: f64,
    /// The evidence that shows a change.
    pub needed: f64,
}

impl SystemChange {
    /// `None` without queries. The differences are in −1..=1.
    pub fn of(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() {
            return None;
        }
        let sum: f64 = differences.iter().sum();
        Some(Self {
            queries: differences.len(),
            difference: sum / differences.len() as f64,
            interval: interval(differences, -1.0, 1.0),
            e_value: against_zero(differences, -1.0, 1.0).min(f64::MAX),
            needed: 1.0 / ERROR,
        })
    }

    pub fn shows_change(&self) -> bool {
        self.e_value >= self.needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_to_one_side_show_a_change() {
        let found = SystemChange::of(&[0.3; 40]).unwrap();
        assert!(
            found.shows_change() && found.interval.low > 0.0,
            "{found:?}"
        );
        let worse = SystemChange::of(&[-0.3; 40]).unwrap();
        assert!((worse.e_value - found.e_value).abs() < 1e-9 * found.e_value);
        let alternating: Vec<f64> = (0..40)
            .map(|at| if at % 2 == 0 { 0.3 } else { -0.3 })
            .collect();
        assert!(!SystemChange::of(&alternating).unwrap().shows_change());
        assert_eq!(SystemChange::of(&[]), None);
    }
}
