//! Bets on whether the mean of bounded numbers has a given value, and the interval of means against
//! which they have not won.

use crate::domain::agreement::{Interval, LEVEL};
use crate::domain::betting::Capital;

/// Halvings of the range in the search for a limit.
const HALVINGS: usize = 50;

/// The capital of a bettor against a mean of at most `mean`, for numbers from `least` up, where
/// `mean` > `least`.
pub fn capital_above(numbers: &[f64], least: f64, mean: f64) -> f64 {
    let mut capital = Capital::default();
    for x in numbers {
        capital.bet(x - mean, mean - least);
    }
    capital.value()
}

/// The capital of a bettor against a mean of at least `mean`, for numbers up to `most`, where `mean`
/// < `most`.
pub fn capital_below(numbers: &[f64], most: f64, mean: f64) -> f64 {
    let opposite: Vec<f64> = numbers.iter().map(|x| -x).collect();
    capital_above(&opposite, -most, -mean)
}

/// The e-value against a mean of 0, for numbers in `least`..=`most`: half of the capital is bet on
/// each side.
pub fn against_zero(numbers: &[f64], least: f64, most: f64) -> f64 {
    f64::midpoint(
        capital_above(numbers, least, 0.0),
        capital_below(numbers, most, 0.0),
    )
}

/// The interval of the mean of numbers in `least`..=`most` at [`LEVEL`]: the means against which
/// neither bettor has won enough.
pub fn interval(numbers: &[f64], least: f64, most: f64) -> Interval {
    let enough = 2.0 / (1.0 - LEVEL);
    Interval {
        low: boundary([most, least], |mean| {
            capital_above(numbers, least, mean) < enough
        }),
        high: boundary([least, most], |mean| {
            capital_below(numbers, most, mean) < enough
        }),
    }
}

/// The last possible value on the way from one that is possible to an end of the range.
fn boundary([possible, end]: [f64; 2], is_possible: impl Fn(f64) -> bool) -> f64 {
    let (mut possible, mut end) = (possible, end);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(possible, end);
        if is_possible(middle) {
            possible = middle;
        } else {
            end = middle;
        }
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    const GOLDEN: &str = include_str!("../../../../tests/golden/trust2/gate_seq.json");

    #[derive(Deserialize)]
    struct Golden {
        tolerance: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        margin: f64,
        d: Vec<f64>,
        at: Vec<usize>,
        e_non_inferior: Vec<f64>,
        e_worse: Vec<f64>,
    }

    #[test]
    fn the_capital_is_that_of_the_reference() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        assert!(golden.cases.len() > 5);
        for case in golden.cases {
            let near = |found: f64, expected: f64| {
                (found - expected).abs() < golden.tolerance * expected.max(1.0)
            };
            for (place, at) in case.at.iter().enumerate() {
                let numbers = &case.d[..*at];
                let above = capital_above(numbers, -1.0, -case.margin);
                assert!(near(above, case.e_non_inferior[place]), "{at}: {above}");
                let below = capital_below(numbers, 1.0, 0.0);
                assert!(near(below, case.e_worse[place]), "{at}: {below}");
            }
        }
    }

    #[test]
    fn without_numbers_nothing_is_known() {
        assert!((against_zero(&[], -0.5, 1.0) - 1.0).abs() < 1e-12);
        let found = interval(&[], -0.5, 1.0);
        assert!((found.low + 0.5).abs() < 1e-9 && (found.high - 1.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_mean_and_shrinks_toward_it(
            numbers in prop::collection::vec(prop::sample::select(vec![-0.5, 0.0, 1.0]), 1..120),
        ) {
            let found = interval(&numbers, -0.5, 1.0);
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            prop_assert!(found.low <= mean + 1e-9 && mean <= found.high + 1e-9, "{:?} {}", found, mean);
            let twice = interval(&numbers.repeat(2), -0.5, 1.0);
            prop_assert!(twice.high - twice.low <= found.high - found.low + 1e-9);
        }
    }
}
