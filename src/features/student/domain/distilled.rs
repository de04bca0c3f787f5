//! The scores that a student's predictions give to the documents of a query: each prediction is a
//! battle with its expected score.

use crate::domain::named::named;
use crate::domain::prediction::{OutcomeProbabilities, QueryPredictions};
use crate::domain::rating::{self, Fit, Observation, RatingError, RatingOptions};

named! {
    "a strength", "lowercase";
    /// The weight of a prediction in battles. E|C| is P(A) + P(B), the probability of a decisive
    /// outcome.
    #[derive(Default)]
    pub enum PairStrength {
        /// 1.
        #[default]
        Equal,
        /// E|C|.
        Linear,
        /// E|C|².
        Squared,
        /// √E|C|.
        Root,
        /// See [`OutcomeProbabilities::strength`].
        Worth,
    }
}

impl PairStrength {
    pub fn of(self, predicted: OutcomeProbabilities) -> f64 {
        let decisive = predicted.decisiveness();
        match self {
            Self::Equal => 1.0,
            Self::Linear => decisive,
            Self::Squared => decisive * decisive,
            Self::Root => decisive.sqrt(),
            Self::Worth => predicted.strength(),
        }
    }
}

/// Scores fitted to the predictions of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct DistilledScores {
    /// By pool index; `None` for documents that no prediction with a weight above 0 is about.
    pub scores: Vec<Option<f64>>,
    /// Number of groups of documents that no prediction compares with each other.
    pub groups: usize,
    /// Whether the predictions alone determine the scores within each group.
    pub is_bounded: bool,
    /// Whether the fit met its stopping rule.
    pub converged: bool,
}

impl DistilledScores {
    /// Fits a query with this number of documents. A pair predicted in both orders is two battles.
    ///
    /// # Errors
    /// The model has no solution. Documents are pool indexes.
    pub fn fit(
        documents: usize,
        predictions: &QueryPredictions,
        strength: PairStrength,
        options: &RatingOptions,
    ) -> Result<Self, RatingError> {
        let mut battles: Vec<Observation> = predictions
            .iter()
            .flat_map(|(pair, of)| {
                of.orders.into_iter().flatten().map(|predicted| {
                    let weight = strength.of(predicted);
                    Observation::new(pair.low(), pair.high(), predicted.score(), weight)
                })
            })
            .filter(|battle| battle.weight > 0.0)
            .collect();
        let mut places = vec![None; documents];
        for battle in &battles {
            for at in [battle.a, battle.b] {
                if let Some(place) = places.get_mut(at) {
                    *place = Some(0);
                }
            }
        }
        let mut entered = Vec::new();
        for (document, place) in places.iter_mut().enumerate() {
            if place.is_some() {
                *place = Some(entered.len());
                entered.push(document);
            }
        }
        let place = |document: usize| places.get(document).copied().flatten().unwrap_or(document);
        for battle in &mut battles {
            (battle.a, battle.b) = (place(battle.a), place(battle.b));
        }
        let fit = rating::fit(entered.len(), &battles, options, None)
            .map_err(|error| in_pool(error, &entered))?;
        let structure = rating::structure(entered.len(), &battles);
        let Fit {
            scores, converged, ..
        } = fit;
        let score = |place: &Option<usize>| scores.get((*place)?).copied();
        Ok(Self {
            scores: places.iter().map(score).collect(),
            groups: structure.component_count,
            is_bounded: structure.unbounded.is_empty(),
            converged,
        })
    }
}

/// The error with pool indexes instead of positions among the fitted documents.
fn in_pool(error: RatingError, entered: &[usize]) -> RatingError {
    match error {
        RatingError::NoFiniteMaximum {
            unbounded,
            components,
        } => RatingError::NoFiniteMaximum {
            unbounded: unbounded
                .into_iter()
                .filter_map(|at| entered.get(at).copied())
                .collect(),
            components,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Pair;
    use crate::domain::rating::RatingModel;

    fn predictions(lines: &[(usize, usize, f64, f64)]) -> QueryPredictions {
        let mut found = QueryPredictions::new();
        for (a, b, p_a, p_b) in lines {
            let pair = Pair::new(*a, *b).unwrap();
            let predicted = OutcomeProbabilities::new(*p_a, *p_b).unwrap();
            let turned = *a == pair.high();
            let predicted = if turned {
                predicted.swapped()
            } else {
                predicted
            };
            found.entry(pair).or_default().orders[usize::from(turned)] = Some(predicted);
        }
        found
    }

    fn options(model: RatingModel) -> RatingOptions {
        RatingOptions {
            model,
            ..RatingOptions::default()
        }
    }

    #[test]
    fn documents_without_a_prediction_have_no_score() {
        let lines = predictions(&[(0, 3, 0.2, 0.7), (3, 4, 0.1, 0.8)]);
        let of = DistilledScores::fit(6, &lines, PairStrength::Equal, &RatingOptions::default());
        let of = of.unwrap();
        let there: Vec<bool> = of.scores.iter().map(Option::is_some).collect();
        assert_eq!(there, [true, false, false, true, true, false]);
        assert!(of.scores[0] < of.scores[3] && of.scores[3] < of.scores[4]);
        assert_eq!((of.groups, of.is_bounded, of.converged), (1, true, true));
    }

    #[test]
    fn what_the_predictions_do_not_determine_is_known() {
        let groups = predictions(&[(0, 1, 0.2, 0.7), (2, 3, 0.1, 0.8)]);
        let of = DistilledScores::fit(4, &groups, PairStrength::Equal, &RatingOptions::default());
        assert_eq!(of.unwrap().groups, 2);
        let certain = predictions(&[(1, 2, 0.0, 1.0)]);
        let of = |model| DistilledScores::fit(4, &certain, PairStrength::Equal, &options(model));
        assert!(!of(RatingModel::Zbench).unwrap().is_bounded);
        let Err(RatingError::NoFiniteMaximum { unbounded, .. }) = of(RatingModel::Mle) else {
            panic!("a maximum");
        };
        assert_eq!(unbounded, [1, 2]);
        // A certain tie says nothing about a decisive outcome.
        let tie = predictions(&[(0, 1, 0.0, 0.0)]);
        let of = DistilledScores::fit(2, &tie, PairStrength::Linear, &RatingOptions::default());
        assert_eq!(of.unwrap().scores, [None, None]);
    }

    #[test]
    fn probabilities_are_not_rounded_to_outcomes() {
        let fit = |p_a, p_b| {
            let lines = predictions(&[(0, 1, p_a, p_b)]);
            let of = options(RatingModel::Zbench);
            DistilledScores::fit(2, &lines, PairStrength::Equal, &of)
                .unwrap()
                .scores[1]
        };
        assert!(fit(0.4, 0.6) < fit(0.3, 0.7) && fit(0.3, 0.7) < fit(0.0, 1.0));
    }
}
