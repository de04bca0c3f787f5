//! Pairs with a known answer, and how often a person finds it.

use super::Decision;
use crate::domain::agreement::Share;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldItem {
    /// Pool index of document A, the smaller one.
    pub a: usize,
    pub b: usize,
    /// The answer; never *cannot tell*.
    pub decision: Decision,
    /// The reason for the answer.
    pub note: Option<String>,
}

/// A person's performance on their gold items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoldScore {
    pub right: usize,
    /// Verdicts with a direction.
    pub judged: usize,
    /// Items on which the person could not tell, which count as neither right nor wrong.
    pub cannot_tell: usize,
    /// `right` of `judged`, with its 95 % interval over queries.
    pub share: Option<Share>,
}

/// Scores answers, each with its query and the known answer, both with the same document as A. Only
/// the direction counts: *much better* is as correct as *better*.
pub fn gold_score<Q: Ord>(answers: impl IntoIterator<Item = (Q, Decision, Decision)>) -> GoldScore {
    let mut score = GoldScore::default();
    let mut of_query: BTreeMap<Q, (f64, usize)> = BTreeMap::new();
    for (query, known, given) in answers {
        match given.direction() {
            None => score.cannot_tell += 1,
            way => {
                let right = way == known.direction();
                score.judged += 1;
                score.right += usize::from(right);
                let (part, of) = of_query.entry(query).or_default();
                *part += f64::from(u8::from(right));
                *of += 1;
            }
        }
    }
    score.share = Share::of_clusters(of_query.into_values());
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_direction_counts_and_cannot_tell_is_not_wrong() {
        use Decision::{A, B, CannotTell, MuchA, Tie};
        let answers = [(A, MuchA), (A, B), (Tie, Tie), (MuchA, A), (B, CannotTell)];
        let score = gold_score(answers.map(|(known, given)| (0, known, given)));
        assert_eq!((score.right, score.judged, score.cannot_tell), (3, 4, 1));
        assert_eq!(score.share, Share::of_clusters([(3.0, 4)]));
        assert_eq!(gold_score([(0, A, CannotTell)]).share, None);
    }
}
