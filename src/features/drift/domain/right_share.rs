//! How often a judge agreed with people before and after.

use super::ReferencedAnswer;
use super::betting::interval;
use crate::domain::agreement::Interval;
use crate::domain::vote::Outcome;
use serde::Serialize;

/// The shares of pairs about which a judge agrees with people, at two times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RightShare {
    pub pairs: usize,
    /// In 0..=1. The two reference answers count half each.
    pub before: f64,
    pub after: f64,
    /// `after` − `before`.
    pub difference: f64,
    /// The interval of the difference at 95 %.
    pub interval: Interval,
}

impl RightShare {
    /// From answers and what people decided; `is_earlier`: whether the answers are older than the
    /// reference answers. `None` without pairs.
    pub fn of(decided: &[(ReferencedAnswer, Outcome)], is_earlier: bool) -> Option<Self> {
        if decided.is_empty() {
            return None;
        }
        let shares = decided.iter().map(|(answer, people)| {
            let right = |of: Outcome| f64::from(u8::from(of == *people));
            let [a, b] = answer.reference.map(right);
            let (reference, answer) = (f64::midpoint(a, b), right(answer.answer));
            if is_earlier {
                (answer, reference)
            } else {
                (reference, answer)
            }
        });
        let (before, after): (Vec<f64>, Vec<f64>) = shares.unzip();
        let differences: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        Some(Self {
            pairs: decided.len(),
            before: mean(&before),
            after: mean(&after),
            difference: mean(&differences),
            interval: interval(&differences, -1.0, 1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_answers_are_compared_with_the_earlier_ones() {
        let answer = ReferencedAnswer {
            reference: [Outcome::A, Outcome::B],
            answer: Outcome::B,
        };
        let decided = [(answer, Outcome::A); 4];
        let found = RightShare::of(&decided, false).unwrap();
        assert_eq!(
            (found.before, found.after, found.difference),
            (0.5, 0.0, -0.5)
        );
        let earlier = RightShare::of(&decided, true).unwrap();
        assert_eq!((earlier.before, earlier.after), (0.0, 0.5));
        assert_eq!(RightShare::of(&[], false), None);
    }
}
