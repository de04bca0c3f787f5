//! How list calls count in the scores of a project.

use super::{Block, ListKind, ListModel};
use crate::domain::number_words::fixed;
use crate::domain::rating::{MAX_TASTE, MIN_TASTE, Observation};
use serde::{Deserialize, Serialize};

/// The largest dispersion. Projects accept the same for battles.
const MOST_PHI: f64 = 100.0;

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// The weights of list calls in the scores of a project. They are estimated once and stored, so that
/// scores depend only on rows of the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountingModel {
    /// The dispersion φ of a battle's score, for which the weights were chosen.
    pub battle_phi: f64,
    /// The variance of judges' tastes, relative to that of scores; 0 without tastes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub taste: f64,
    /// The kinds of lists that count.
    pub kinds: Vec<KindWeight>,
    /// Number of queries from which the dispersions were estimated.
    pub queries: usize,
}

/// The weight of one kind of list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindWeight {
    /// Number of documents shown.
    pub size: usize,
    /// The form of the answer, in words.
    pub answer: String,
    /// The dispersion of these answers, where votes that follow the model have 1.
    pub phi: f64,
    /// The weight of each pair, in battles.
    pub weight: f64,
}

impl CountingModel {
    /// The weights under estimated dispersions, for a project with the prior precision `lambda`. A
    /// pair of a list of m documents counts w_m · φ_battle / φ_list battles. Scores have the
    /// covariance φ_battle · H⁻¹, so the pair adds the information w_m / φ_list, as in the list model.
    ///
    /// Scores have the prior variance φ_battle/λ, so tastes of variance τ² have the share τ²λ/φ_battle
    /// of it.
    pub fn new(battle_phi: f64, lambda: f64, model: &ListModel, queries: usize) -> Self {
        let lists = model
            .phi
            .iter()
            .filter(|(kind, _)| **kind != ListKind::PAIR);
        let kinds = lists.map(|(kind, phi)| KindWeight {
            size: kind.size(),
            answer: kind.form().to_string(),
            phi: *phi,
            weight: kind.weight() * battle_phi / phi,
        });
        let taste = model.taste * lambda / battle_phi;
        Self {
            battle_phi,
            taste: if taste >= MIN_TASTE {
                taste.min(MAX_TASTE)
            } else {
                0.0
            },
            kinds: kinds.collect(),
            queries,
        }
    }

    /// Whether all numbers are in the range of [`Self::new`].
    pub fn is_valid(&self) -> bool {
        let is_dispersion = |phi: f64| phi.is_finite() && phi > 0.0 && phi <= MOST_PHI;
        is_dispersion(self.battle_phi)
            && (self.taste == 0.0 || (MIN_TASTE..=MAX_TASTE).contains(&self.taste))
            && self.kinds.iter().all(|kind| {
                let form = kind.answer.parse().ok();
                let known = form.and_then(|form| ListKind::new(kind.size, form).ok());
                is_dispersion(kind.phi)
                    && known.is_some_and(|known| {
                        let expected = known.weight() * self.battle_phi / kind.phi;
                        (kind.weight - expected).abs() <= 1e-9 * expected
                    })
            })
    }

    /// The weights in words: `a pair of a list of 5 (order) is .18 battles`.
    pub fn words(&self) -> String {
        let kinds = self.kinds.iter().map(|kind| {
            format!(
                "a pair of a list of {} ({}) is {} battles",
                kind.size,
                kind.answer,
                fixed(kind.weight, 2)
            )
        });
        kinds.collect::<Vec<_>>().join(", ")
    }

    /// Whether lists of a kind have a weight.
    pub fn counts(&self, kind: ListKind) -> bool {
        let (size, answer) = (kind.size(), kind.form().to_string());
        let mut kinds = self.kinds.iter();
        kinds.any(|of| of.size == size && of.answer == answer)
    }

    /// The pairs of an answer as battles of a fit; `None` if its kind does not count.
    pub fn battles(&self, block: &Block) -> Option<Vec<Observation>> {
        let (size, answer) = (block.kind().size(), block.kind().form().to_string());
        let mut kinds = self.kinds.iter();
        let kind = kinds.find(|kind| kind.size == size && kind.answer == answer)?;
        let pairs = block.battles().iter();
        Some(
            pairs
                .map(|pair| Observation {
                    weight: kind.weight,
                    judge: u32::try_from(block.judge()).ok(),
                    ..*pair
                })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::ranking::{
        BattleRecord, CountedAnswer, CountedAnswers, PriorPrecision, QueryRows, RankingSettings,
        View,
    };
    use crate::domain::vote::{JudgeId, Margin, Vote};
    use crate::features::lists::domain::{AnswerForm, fit_blocks};

    /// Lists that count in the scores of a project, next to votes, give the scores and the covariance
    /// of the list model with the same dispersions and tastes.
    #[test]
    fn weights_are_those_of_the_list_model_in_units_of_battles() {
        let five = ListKind::new(5, AnswerForm::Order).unwrap();
        let lists = [[0, 1, 2, 3, 4], [1, 0, 5, 3, 2], [4, 5, 0, 2, 1]];
        let lists: Vec<Block> = (0..)
            .zip(&lists)
            .map(|(seat, order)| Block::list(seat, five, order).unwrap())
            .collect();
        let votes = [(0, 3, [1.0, -1.0]), (4, 2, [0.0, 1.0]), (5, 1, [1.0, 1.0])];
        let score = |margin: f64| 0.5 * (1.0 + margin);
        let of_votes = votes.iter().flat_map(|(a, b, margins)| {
            let seats = (0..).zip(margins);
            seats.map(|(seat, margin)| Block::vote(seat, *a, *b, score(*margin)))
        });
        let blocks: Vec<Block> = lists.iter().cloned().chain(of_votes).collect();
        for (taste, battle_phi) in [(0.0, 0.4), (1.3, 0.4), (0.2, 0.7)] {
            let model = ListModel {
                precision: 0.3,
                // Two votes share a battle.
                phi: [(five, 0.8), (ListKind::PAIR, 2.0 * battle_phi)].into(),
                taste,
            };
            let expected = fit_blocks(6, &blocks, &model).unwrap();
            let lambda = battle_phi * model.precision;
            let counting = CountingModel::new(battle_phi, lambda, &model, 1);
            let answers = lists.iter().map(|block| CountedAnswer {
                uid: String::new(),
                number: 1,
                judge: String::new(),
                shown: Vec::new(),
                pairs: counting.battles(block).unwrap(),
            });
            let battles = (1..).zip(&votes).map(|(id, (a, b, margins))| BattleRecord {
                battle: Battle {
                    id: BattleId(id),
                    a: *a,
                    b: *b,
                    game: 0,
                },
                votes: (0..)
                    .zip(margins)
                    .map(|(judge, margin)| Vote {
                        judge: JudgeId(judge),
                        margin: Margin::new(*margin).unwrap(),
                        swapped: false,
                    })
                    .collect(),
                failed: Vec::new(),
                asked: None,
            });
            let rows = QueryRows {
                documents: 6,
                depth: Some(6),
                judges: vec![JudgeId(0), JudgeId(1)],
                battles: battles.collect(),
                answers: Some(CountedAnswers {
                    noun: "list call",
                    phi: battle_phi,
                    answers: answers.collect(),
                }),
                ..QueryRows::default()
            };
            let settings = RankingSettings {
                lambda: PriorPrecision::Set(lambda),
                phi: Some(battle_phi),
                counted_taste: Some(counting.taste),
                ..RankingSettings::default()
            };
            let view = View::new(rows, settings);
            for (standing, i) in view.standings.iter().zip(0..) {
                let standing = standing.unwrap();
                assert!((standing.zelo - expected.scores[i]).abs() < 1e-9);
                assert!((standing.se.unwrap() - expected.covariance.se(i)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn weights_that_were_not_estimated_are_not_valid() {
        let five = ListKind::new(5, AnswerForm::Order).unwrap();
        let model = ListModel {
            phi: [(five, 0.8)].into(),
            ..ListModel::default()
        };
        let valid = CountingModel::new(0.4, 0.05, &model, 1);
        assert!(valid.is_valid());
        for (battle_phi, phi, weight) in [
            (-1.0, 0.8, 0.2),
            (0.0, 0.8, 0.0),
            (f64::NAN, 0.8, f64::NAN),
            (0.4, 0.8, 1e8),
            (0.4, 0.8, -0.2),
            (0.4, 1e300, 1e-300),
        ] {
            let mut wrong = valid.clone();
            wrong.battle_phi = battle_phi;
            (wrong.kinds[0].phi, wrong.kinds[0].weight) = (phi, weight);
            assert!(!wrong.is_valid(), "{wrong:?}");
        }
        let wrong = |taste| CountingModel {
            taste,
            ..valid.clone()
        };
        for taste in [-1.0, 1e-9, f64::NAN, 1e9] {
            assert!(!wrong(taste).is_valid(), "{taste}");
        }
        let mut wrong = valid.clone();
        wrong.kinds[0].answer = "best:9".to_owned();
        assert!(!wrong.is_valid());
    }

    #[test]
    fn a_kind_without_a_weight_does_not_count() {
        let kind = |size| ListKind::new(size, AnswerForm::Order).unwrap();
        let model = ListModel {
            phi: [(kind(5), 1.0), (ListKind::PAIR, 0.9)].into(),
            ..ListModel::default()
        };
        let counting = CountingModel::new(0.5, 0.05, &model, 3);
        assert_eq!(counting.kinds.len(), 1);
        let block = |size: usize| {
            let order: Vec<usize> = (0..size).collect();
            Block::list(0, kind(size), &order).unwrap()
        };
        assert!(counting.battles(&block(4)).is_none());
        let pairs = counting.battles(&block(5)).unwrap();
        assert_eq!(pairs.len(), 10);
        assert!(
            pairs
                .iter()
                .all(|pair| pair.weight == kind(5).weight() / 2.0)
        );
    }
}
