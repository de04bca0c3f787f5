//! Pairs with a known answer, and how often a person finds it.

use super::Decision;
use crate::domain::analysis::wilson;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldItem {
    /// Pool index of document A, the smaller.
    pub a: usize,
    pub b: usize,
    /// The answer; never *cannot tell*.
    pub decision: Decision,
    /// Why it is known, in words.
    pub note: Option<String>,
}

/// How a person does on the gold items that they were given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoldScore {
    pub right: usize,
    /// Verdicts that go some way.
    pub judged: usize,
    /// Items on which the person could not tell; neither right nor wrong.
    pub cannot_tell: usize,
}

impl GoldScore {
    pub fn share(self) -> Option<f64> {
        (self.judged > 0).then(|| self.right as f64 / self.judged as f64)
    }

    /// Its 95 % Wilson interval.
    pub fn interval(self) -> Option<(f64, f64)> {
        wilson(self.right, self.judged, 0.95)
    }
}

/// Scores answers, each with the known one, both with the same document as A. Only the direction counts: *much better*
/// is as right as *better*.
pub fn gold_score(answers: impl IntoIterator<Item = (Decision, Decision)>) -> GoldScore {
    let mut score = GoldScore::default();
    for (known, given) in answers {
        match given.direction() {
            None => score.cannot_tell += 1,
            way => {
                score.judged += 1;
                score.right += usize::from(way == known.direction());
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_direction_counts_and_cannot_tell_is_not_wrong() {
        use Decision::{A, B, CannotTell, MuchA, Tie};
        let score = gold_score([(A, MuchA), (A, B), (Tie, Tie), (MuchA, A), (B, CannotTell)]);
        assert_eq!((score.right, score.judged, score.cannot_tell), (3, 4, 1));
        assert_eq!(score.share(), Some(0.75));
        let (low, high) = score.interval().unwrap();
        assert!(low < 0.75 && 0.75 < high);
        assert_eq!(gold_score([(A, CannotTell)]).share(), None);
        assert_eq!(GoldScore::default().interval(), None);
    }
}
