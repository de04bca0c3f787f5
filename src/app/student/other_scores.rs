//! What the other battles of a query say of a pair, as a feature of the built-in student.

use super::judged_pairs::JudgedQuery;
use crate::app::error::{AppError, invalid};
use crate::domain::battle::Pair;
use crate::domain::rating::{self, Observation, RatingOptions};

/// The zELO of a query's documents, and what it is without one pair.
pub(super) struct OtherScores {
    all: Vec<f64>,
    /// For each judged pair the score of its higher pool index less that of the lower one, fitted without the pair.
    pub(super) gaps: Vec<f64>,
}

impl OtherScores {
    pub(super) fn of(query: &JudgedQuery, options: &RatingOptions) -> Result<Self, AppError> {
        let all: Vec<Observation> = query
            .pairs
            .iter()
            .map(|target| {
                let (low, high) = (target.pair.low(), target.pair.high());
                Observation::new(low, high, target.score, target.weight)
            })
            .collect();
        let failed =
            |error: rating::RatingError| invalid!("query {:?}: {error}", query.id.as_str());
        // Without a prior there may be no fit without a pair.
        let options = RatingOptions {
            model: rating::RatingModel::Map,
            lambda: options.lambda,
        };
        let documents = query.documents.len();
        let whole = rating::fit(documents, &all, &options, None).map_err(failed)?;
        let gaps = query.pairs.iter().enumerate().map(|(at, target)| {
            let mut others = all.clone();
            if let Some(own) = others.get_mut(at) {
                own.weight = 0.0;
            }
            let fit = rating::fit(documents, &others, &options, Some(&whole.scores));
            let scores = fit.map_err(failed)?.scores;
            Ok(scores[target.pair.high()] - scores[target.pair.low()])
        });
        Ok(Self {
            gaps: gaps.collect::<Result<Vec<f64>, AppError>>()?,
            all: whole.scores,
        })
    }

    /// The same of any pair, from all battles.
    pub(super) fn gap(&self, pair: Pair) -> f64 {
        self.all[pair.high()] - self.all[pair.low()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::all_pairs;
    use crate::domain::corpus::{DocId, QueryId};
    use crate::domain::ranking::PairTarget;
    use crate::store::corpus::QueryKey;

    #[test]
    fn what_other_battles_say_of_a_pair_does_not_know_the_votes_on_it() {
        let documents = 5;
        let query = |turned: usize| JudgedQuery {
            key: QueryKey::default(),
            id: QueryId::new("q"),
            documents: (0..documents)
                .map(|at| DocId::new(format!("d{at}")))
                .collect(),
            pairs: all_pairs(documents)
                .enumerate()
                .map(|(at, pair)| {
                    let score = f64::from(u8::from(at % 3 > 0));
                    PairTarget {
                        pair,
                        score: if at == turned { 1.0 - score } else { score },
                        weight: 2.0,
                    }
                })
                .collect(),
        };
        let options = RatingOptions::default();
        let gaps = |turned| OtherScores::of(&query(turned), &options).unwrap().gaps;
        let before = gaps(usize::MAX);
        for turned in 0..before.len() {
            let after = gaps(turned);
            assert!((before[turned] - after[turned]).abs() < 1e-9, "{turned}");
            let changed = before.iter().zip(&after);
            assert!(changed.into_iter().any(|(x, y)| (x - y).abs() > 0.1));
        }
    }
}
