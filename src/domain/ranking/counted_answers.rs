//! Answers of judges outside battles that count in the fit, such as orders of several documents.

use crate::domain::battle::Pair;
use crate::domain::number_words::{counted, fixed, ordinal};
use crate::domain::rating::Observation;
use crate::domain::sanitize;
use std::collections::HashMap;

/// One answer of a judge, with the pairs that it decides.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedAnswer {
    /// Globally unique.
    pub uid: String,
    /// Its number among the answers about the query, from 1.
    pub number: usize,
    /// The name of the judge.
    pub judge: String,
    /// The documents in the order in which they were shown, each with its place in the answer in
    /// words: `1st`, or `not chosen`.
    pub shown: Vec<(usize, String)>,
    /// Documents are pool indexes, and judges places in [`QueryRows::judges`](super::QueryRows), or
    /// numbers after them. Weights are in battles, above 0.
    pub pairs: Vec<Observation>,
}

/// The answers about a query that count, in an order that does not depend on the copy of the
/// project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedAnswers {
    /// What the answers are, in singular: `list call`.
    pub noun: &'static str,
    /// The dispersion φ of battles for which the weights were chosen. It applies if the query has no
    /// ensemble.
    pub phi: f64,
    pub answers: Vec<CountedAnswer>,
}

impl CountedAnswer {
    /// What the answer says about two documents: `one: d1 shown 2nd, ranked 1st; d2 shown 4th of 5,
    /// ranked 3rd; weight 0.18 battles`. `None` unless it decides this pair.
    pub(super) fn words(
        &self,
        [a, b]: [usize; 2],
        name: &impl Fn(usize) -> String,
        is_masked: impl Fn(&Observation) -> bool,
    ) -> Option<String> {
        let pair = Pair::new(a, b)?;
        let mut pairs = self.pairs.iter();
        let of = pairs.find(|of| Pair::new(of.a, of.b) == Some(pair))?;
        let weight = if is_masked(of) {
            "not counted, because a verdict replaces it".to_owned()
        } else {
            format!("weight {} battles", fixed(of.weight, 2))
        };
        let place = |document: usize| {
            let at = self
                .shown
                .iter()
                .position(|(shown, _)| *shown == document)?;
            Some((ordinal(at + 1), self.shown[at].1.as_str()))
        };
        let ((first, first_place), (second, second_place)) = (place(a)?, place(b)?);
        Some(format!(
            "{}: {} shown {first}, {first_place}; {} shown {second} of {}, {second_place}; {weight}",
            sanitize::line(&self.judge),
            name(a),
            name(b),
            self.shown.len()
        ))
    }
}

impl CountedAnswers {
    /// Gives judges other numbers. Those of judges that are not listed stay.
    pub fn renumber(&mut self, numbers: &HashMap<usize, usize>) {
        for pair in self.answers.iter_mut().flat_map(|of| &mut of.pairs) {
            let judge = pair.judge.and_then(|judge| numbers.get(&(judge as usize)));
            if let Some(number) = judge.and_then(|number| u32::try_from(*number).ok()) {
                pair.judge = Some(number);
            }
        }
    }

    /// The note printed with scores in which they count: `scores also count 12 list calls`.
    pub(super) fn words(&self) -> String {
        format!(
            "scores also count {}",
            counted(self.answers.len(), self.noun)
        )
    }
}

/// The weighted mean score in 0..=1 that a pair's answers give to `row`, one of its documents (1:
/// better); `None` without answers.
pub(super) fn mean_score<'a>(
    row: usize,
    on_pair: impl Iterator<Item = &'a Observation>,
) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for of in on_pair {
        let score = if of.b == row {
            of.score
        } else {
            1.0 - of.score
        };
        sum += of.weight * score;
        weight += of.weight;
    }
    (weight > 0.0).then(|| sum / weight)
}

/// The score of the document with the higher pool index.
pub(super) fn higher_score(of: &Observation) -> f64 {
    if of.b > of.a {
        of.score
    } else {
        1.0 - of.score
    }
}
