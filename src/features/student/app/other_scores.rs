//! Features of the built-in student from the other battles of a query: the scores of a pair's
//! documents, and of those with the most similar texts.

use super::judged_pairs::JudgedQuery;
use crate::app::error::{AppError, invalid};
use crate::domain::battle::Pair;
use crate::domain::rating::{self, Observation, RatingOptions};
use crate::features::student::domain::texts::PoolTexts;

/// Number of most similar documents to use.
const ALIKE: usize = 3;

/// The zELO of the document with the higher pool index minus that of the lower one: for the pair
/// itself, and for the documents most similar to each.
pub(super) type ScoreGaps = [f64; 2];

/// The zELO of a query's documents, and the values without one pair.
pub(super) struct OtherScores {
    all: Vec<f64>,
    alike: AlikeTexts,
    /// For each judged pair, fitted without that pair.
    pub(super) gaps: Vec<ScoreGaps>,
}

impl OtherScores {
    pub(super) fn of(
        query: &JudgedQuery,
        options: &RatingOptions,
        texts: &PoolTexts,
    ) -> Result<Self, AppError> {
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
        // Without a prior, there may be no fit without a pair.
        let options = RatingOptions {
            model: rating::RatingModel::Map,
            lambda: options.lambda,
            taste: 0.0,
        };
        let documents = query.documents.len();
        let alike = AlikeTexts::of(texts, documents);
        let whole = rating::fit(documents, &all, &options, None).map_err(failed)?;
        let gaps = query.pairs.iter().enumerate().map(|(at, target)| {
            let mut others = all.clone();
            if let Some(own) = others.get_mut(at) {
                own.weight = 0.0;
            }
            let fit = rating::fit(documents, &others, &options, Some(&whole.scores));
            Ok(alike.gaps(target.pair, &fit.map_err(failed)?.scores))
        });
        Ok(Self {
            gaps: gaps.collect::<Result<Vec<ScoreGaps>, AppError>>()?,
            all: whole.scores,
            alike,
        })
    }

    /// The score gaps of any pair, from all battles.
    pub(super) fn gap(&self, pair: Pair) -> ScoreGaps {
        self.alike.gaps(pair, &self.all)
    }
}

/// For each document, those with the most similar texts, most similar first, with their cosines. It
/// has one more than is used, since the other document of a pair is skipped.
struct AlikeTexts(Vec<Vec<(usize, f64)>>);

impl AlikeTexts {
    fn of(texts: &PoolTexts, documents: usize) -> Self {
        let nearest = |document: usize| {
            let mut others: Vec<(usize, f64)> = (0..documents)
                .filter(|other| *other != document)
                .map(|other| (other, texts.cosine(document, other)))
                .collect();
            others.sort_by(|x, y| y.1.total_cmp(&x.1));
            others.truncate(ALIKE + 1);
            others
        };
        Self((0..documents).map(nearest).collect())
    }

    fn gaps(&self, pair: Pair, scores: &[f64]) -> ScoreGaps {
        let (low, high) = (pair.low(), pair.high());
        [
            scores[high] - scores[low],
            self.mean(high, low, scores) - self.mean(low, high, scores),
        ]
    }

    /// The mean score of the documents most similar to `document`, except for its opponent,
    /// weighted by cosine; 0, the mean of the query, if none is similar.
    fn mean(&self, document: usize, opponent: usize, scores: &[f64]) -> f64 {
        let (sum, weight) = self.0[document]
            .iter()
            .filter(|(other, _)| *other != opponent)
            .take(ALIKE)
            .fold((0.0, 0.0), |(sum, weight), (other, cosine)| {
                (sum + cosine * scores[*other], weight + cosine)
            });
        if weight > 0.0 { sum / weight } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::all_pairs;
    use crate::domain::corpus::{DocId, QueryId};
    use crate::domain::ranking::PairTarget;
    use crate::domain::text::NumberedTokens;
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
        let texts = PoolTexts::read(
            "",
            &NumberedTokens::of(&[
                "red green blue",
                "green blue grey",
                "blue grey pink",
                "grey pink white",
                "pink white black",
            ]),
        );
        let gaps = |turned| {
            let found = OtherScores::of(&query(turned), &options, &texts);
            found.unwrap().gaps
        };
        let before = gaps(usize::MAX);
        for turned in 0..before.len() {
            let after = gaps(turned);
            for kind in 0..2 {
                let moved = |at: usize| (before[at][kind] - after[at][kind]).abs();
                assert!(moved(turned) < 1e-9, "{turned}");
                assert!((0..before.len()).any(|at| moved(at) > 0.01), "{turned}");
            }
        }
    }
}
