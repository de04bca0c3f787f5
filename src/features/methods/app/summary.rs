//! The result of a comparison in one sentence.

use super::report::{BaselineTest, MethodEntry, MethodsReport};
use crate::app::text_format::counted;
use crate::domain::metrics::queries_to_detect;
use crate::domain::number_words::{count, fixed};
use crate::domain::sanitize;
use crate::features::methods::domain::ORIGINAL;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The gain for which the summary says how many queries it takes to show it.
const GAIN: f64 = 0.03;

/// The name of a method on a screen, where the first-stage order is the hybrid order.
pub fn shown_name(method: &str) -> Cow<'_, str> {
    if method == ORIGINAL {
        Cow::Borrowed("hybrid order")
    } else {
        sanitize::line(method)
    }
}

/// `the hybrid order`, or the name of a method.
fn in_sentence(method: &str) -> String {
    let article = if method == ORIGINAL { "the " } else { "" };
    format!("{article}{}", shown_name(method))
}

impl MethodsReport {
    /// Whether any method is better than the baseline by the first metric.
    pub fn summary(&self) -> String {
        let baseline = in_sentence(&self.baseline);
        let tested: Vec<(&MethodEntry, &BaselineTest)> = self
            .methods
            .iter()
            .filter_map(|method| Some((method, method.first_test()?)))
            .collect();
        let [better, worse] = [Ordering::Greater, Ordering::Less].map(|side| {
            let of_side = |(_, test): &&(_, &BaselineTest)| test.significant() == Some(side);
            tested.iter().filter(of_side).collect::<Vec<_>>()
        });
        let best = better.iter().max_by(|(_, x), (_, y)| {
            let difference = |test: &BaselineTest| test.comparison.mean_difference;
            difference(x).total_cmp(&difference(y))
        });
        match (best, worse.as_slice()) {
            _ if self.methods.len() < 2 => format!("Only {baseline} has a result."),
            _ if tested.is_empty() => format!("No method shares a query with {baseline}."),
            (Some(best), _) => {
                let others = match (better.len() - 1, worse.len()) {
                    (0, 0) => String::new(),
                    (0, worse) => format!(" Worse: {}.", counted(worse, "method")),
                    (better, 0) => format!(" Also better: {}.", counted(better, "method")),
                    (better, worse) => format!(" Also better: {better}; worse: {worse}."),
                };
                format!("{}.{others}", difference_words(best, "better", &baseline))
            }
            (None, [worse]) => format!(
                "{}; no method is better.",
                difference_words(worse, "worse", &baseline)
            ),
            (None, []) => {
                let none = match tested.as_slice() {
                    [(only, _)] => format!(
                        "{} does not differ significantly from {baseline}.",
                        shown_name(&only.name)
                    ),
                    _ => format!("No method differs significantly from {baseline}."),
                };
                match needed_words(&tested) {
                    Some(needed) => format!("{none} {needed}"),
                    None => none,
                }
            }
            (None, worse) => format!(
                "No method is better than {baseline}; {} of {} are worse.",
                worse.len(),
                tested.len()
            ),
        }
    }
}

/// `rankgpt@10 is better than the hybrid order by .041 (.012 to .070)`.
fn difference_words(
    (method, test): &(&MethodEntry, &BaselineTest),
    side: &str,
    baseline: &str,
) -> String {
    let by = |value: f64| fixed(value, 3);
    let comparison = &test.comparison;
    let interval = comparison.interval.map_or_else(String::new, |(low, high)| {
        let (low, high) = if side == "worse" {
            (-high, -low)
        } else {
            (low, high)
        };
        format!(" ({} to {})", by(low), by(high))
    });
    format!(
        "{} is {side} than {baseline} by {}{interval}",
        shown_name(&method.name),
        by(comparison.mean_difference.abs())
    )
}

/// The number of queries that it takes to show a gain of [`GAIN`], given the spread of the method
/// with the largest difference; `None` if its differences do not vary.
fn needed_words(tested: &[(&MethodEntry, &BaselineTest)]) -> Option<String> {
    let (_, leading) = tested.iter().max_by(|(_, x), (_, y)| {
        let difference = |test: &BaselineTest| test.comparison.mean_difference;
        difference(x).total_cmp(&difference(y))
    })?;
    let needed = queries_to_detect(GAIN, &leading.comparison, tested.len())?;
    Some(if needed <= leading.comparison.n {
        format!(
            "{} are enough to show a gain of {} in 4 of 5 cases.",
            counted(leading.comparison.n, "query"),
            fixed(GAIN, 2)
        )
    } else {
        format!(
            "A gain of {} would need about {} queries to show.",
            fixed(GAIN, 2),
            count(two_digits(needed))
        )
    })
}

/// Rounded up to two significant digits.
fn two_digits(number: usize) -> usize {
    let unit = 10_usize.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up_to_two_digits() {
        let rounded = [0, 7, 42, 137, 1_401].map(two_digits);
        assert_eq!(rounded, [0, 7, 42, 140, 1_500]);
    }
}
