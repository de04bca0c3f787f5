//! The pairs that one answer decides.

use super::kind::ListKind;
use crate::domain::rating::Observation;

/// The pairs that one answer of a judge decides. They share the answer's errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    judge: usize,
    kind: ListKind,
    /// Weighted with [`ListKind::weight`], without the dispersion.
    battles: Vec<Observation>,
}

impl Block {
    /// The answer of the judge at a seat: documents by pool index, best first. For
    /// [`AnswerForm::Best`](super::AnswerForm::Best), the best ones come first in any order.
    ///
    /// `None` unless the order has as many documents as the kind, all different. A partial answer
    /// is never completed.
    pub fn list(judge: usize, kind: ListKind, order: &[usize]) -> Option<Self> {
        let distinct = (1..order.len()).all(|at| !order[..at].contains(&order[at]));
        if order.len() != kind.size() || !distinct {
            return None;
        }
        let weight = kind.weight();
        let places = (0..order.len()).flat_map(|i| (0..order.len()).map(move |j| (i, j)));
        let battles = places
            .filter(|(better, worse)| kind.decides(*better, *worse))
            .map(|(better, worse)| {
                let (better, worse) = (order[better], order[worse]);
                let second_wins = f64::from(u8::from(better > worse));
                Observation::new(better.min(worse), better.max(worse), second_wins, weight)
            });
        Some(Self {
            judge,
            kind,
            battles: battles.collect(),
        })
    }

    /// A vote of the judge at a seat, with the score of document `b` in 0..=1.
    pub fn vote(judge: usize, a: usize, b: usize, score: f64) -> Self {
        let weight = ListKind::PAIR.weight();
        Self {
            judge,
            kind: ListKind::PAIR,
            battles: vec![Observation::new(a, b, score, weight)],
        }
    }

    pub fn judge(&self) -> usize {
        self.judge
    }

    pub fn kind(&self) -> ListKind {
        self.kind
    }

    pub fn battles(&self) -> &[Observation] {
        &self.battles
    }

    /// The pairs, weighted for a fit in which answers of this kind have the dispersion `phi`.
    pub fn observations(&self, phi: f64) -> impl Iterator<Item = Observation> {
        self.battles.iter().map(move |battle| Observation {
            weight: battle.weight / phi,
            judge: Some(self.judge as u32),
            ..*battle
        })
    }

    /// The documents of the answer, ascending.
    pub(super) fn documents(&self) -> Vec<usize> {
        let mut documents: Vec<usize> = self.battles.iter().flat_map(|o| [o.a, o.b]).collect();
        documents.sort_unstable();
        documents.dedup();
        documents
    }
}
