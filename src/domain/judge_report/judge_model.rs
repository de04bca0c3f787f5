//! Fits documents and judges together: Bradley–Terry with a slope and a position shift per judge.

use super::Rating;
use super::logistic::{RegressionCase, regression};
use crate::domain::rating::{self, Observation, RatingError, RatingModel, RatingOptions};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer votes, a judge keeps β = 1 and γ = 0. With this many, the standard error of γ is
/// still about 0.4 (science.md § Simulations).
pub(super) const MIN_VOTES: usize = 100;

/// The fit has converged when no β and no γ moves by more than this in a round.
const TOLERANCE: f64 = 1e-4;

const MAX_ROUNDS: usize = 100;

/// Nodes and weights of three-point Gauss–Hermite quadrature for a standard normal.
const NODES: [(f64, f64); 3] = [
    (-1.732_050_807_568_877_2, 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (1.732_050_807_568_877_2, 1.0 / 6.0),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterBasis {
    Fitted,
    /// Not fitted: the judge has fewer than [`MIN_VOTES`] votes with a known error of the gap, and
    /// gets the default parameters.
    TooFewVotes,
    /// Not fitted: the likelihood of its votes has no finite maximum, and the judge gets the
    /// default parameters.
    NoMaximum,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeParameters {
    pub judge: usize,
    /// β: how sharply the judge distinguishes documents. Mean 1 over the fitted judges; 0 is a coin
    /// toss.
    pub beta: f64,
    /// γ in logits: positive favors the document shown first.
    pub gamma: f64,
    /// γ / β: the score gap equivalent to being shown first. `None` unless β is above 0.
    pub shift: Option<f64>,
    pub votes: usize,
    pub basis: ParameterBasis,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeModel {
    /// In ascending order of their numbers.
    pub judges: Vec<JudgeParameters>,
    pub rounds: usize,
    /// Whether the parameters converged within the maximum number of rounds.
    pub converged: bool,
}

/// Fits logit P(judge m votes for B) = β_m (e_b − e_a) + γ_m o, with o = +1 if B was shown first
/// and −1 if A was, and mean β = 1 (science.md § Judges).
///
/// Rounds of EM: the scores of each query by the MAP fit, then β and γ of each judge by a logistic
/// regression over all queries, in expectation over the Laplace posterior of each gap (three-point
/// Gauss–Hermite). `lambda` is the prior precision of [`RatingOptions`], for one battle; the
/// posterior uses φ = battles / votes, which is 1/M if M judges vote on every battle. Queries with
/// more than [`rating::MAX_DENSE`] documents have no posterior and are not used for the judges. The
/// same ballots in the same order give the same bits; another order may change the last ones.
pub fn judge_model(ratings: &[Rating], lambda: f64) -> Result<JudgeModel, RatingError> {
    let options = RatingOptions {
        model: RatingModel::Map,
        lambda,
        taste: 0.0,
    };
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for rating in ratings.iter().filter(|rating| rating.a != rating.b) {
        *votes.entry(rating.judge).or_default() += 1;
    }
    let judges = votes.iter().map(|(judge, votes)| plain(*judge, *votes));
    let mut model = JudgeModel {
        judges: judges.collect(),
        rounds: 0,
        converged: false,
    };
    let mut pools = ratings_by_query(ratings);
    while !model.converged && model.rounds < MAX_ROUNDS {
        model.rounds += 1;
        let mut cases: BTreeMap<usize, Vec<RegressionCase>> = BTreeMap::new();
        for pool in &mut pools {
            pool.expect(&model, &options, &mut cases)?;
        }
        model.converged = model.maximize(&cases);
    }
    Ok(model)
}

impl JudgeModel {
    /// β and γ of a judge; 1 and 0 if the judge is not in the model.
    pub fn response(&self, judge: usize) -> (f64, f64) {
        let known = self.judges.binary_search_by_key(&judge, |row| row.judge);
        let row = known.ok().and_then(|at| self.judges.get(at));
        row.map_or((1.0, 0.0), |row| (row.beta, row.gamma))
    }

    /// One observation per ballot of `query`, in order, for [`rating::fit`]: slope β, offset γ o,
    /// and the weight of one battle divided among the votes on it. With β = 1 and γ = 0 throughout,
    /// they give the scores of the plain fit to the mean votes.
    pub fn observations(&self, ratings: &[Rating], query: usize) -> Vec<Observation> {
        let own = || ratings.iter().filter(|rating| rating.query == query);
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for rating in own() {
            *votes.entry(rating.battle).or_default() += 1;
        }
        own()
            .map(|rating| {
                let (slope, gamma) = self.response(rating.judge);
                let sharing = votes.get(&rating.battle).copied().unwrap_or(1);
                Observation {
                    a: rating.a,
                    b: rating.b,
                    score: rating.score(),
                    weight: 1.0 / sharing as f64,
                    slope,
                    offset: gamma * rating.order(),
                    judge: None,
                }
            })
            .collect()
    }

    /// Updates the parameters from the expected votes; returns whether they have converged.
    fn maximize(&mut self, cases: &BTreeMap<usize, Vec<RegressionCase>>) -> bool {
        let mut next = self.judges.clone();
        for row in &mut next {
            let own = cases.get(&row.judge).map_or(&[][..], Vec::as_slice);
            let enough = own.len() >= MIN_VOTES * NODES.len();
            let fit = enough.then(|| regression(own));
            *row = plain(row.judge, row.votes);
            row.basis = match fit {
                None => ParameterBasis::TooFewVotes,
                Some(None) => ParameterBasis::NoMaximum,
                Some(Some(fit)) => {
                    [row.beta, row.gamma] = fit.coefficients;
                    ParameterBasis::Fitted
                }
            };
        }
        let fitted = || {
            next.iter()
                .filter(|row| row.basis == ParameterBasis::Fitted)
        };
        let mean = fitted().map(|row| row.beta).sum::<f64>() / fitted().count() as f64;
        for row in &mut next {
            if row.basis == ParameterBasis::Fitted {
                // The mean can be 0 or below only if the judges vote against their own scores; then
                // there is nothing to divide by.
                if mean > 0.0 {
                    row.beta /= mean;
                } else {
                    *row = plain(row.judge, row.votes);
                    row.basis = ParameterBasis::NoMaximum;
                }
            }
            row.shift = (row.beta > 0.0).then(|| row.gamma / row.beta);
        }
        let pairs = || self.judges.iter().zip(&next);
        let still = pairs().all(|(old, new)| {
            (old.beta - new.beta).abs() <= TOLERANCE && (old.gamma - new.gamma).abs() <= TOLERANCE
        });
        self.judges = next;
        still
    }
}

fn plain(judge: usize, votes: usize) -> JudgeParameters {
    JudgeParameters {
        judge,
        beta: 1.0,
        gamma: 0.0,
        shift: Some(0.0),
        votes,
        basis: ParameterBasis::TooFewVotes,
    }
}

/// One query's ballots, with its documents renumbered contiguously, and its current scores.
struct QueryRatings {
    query: usize,
    ratings: Vec<Rating>,
    /// Battles per vote: the factor for a vote's share of a battle.
    phi: f64,
    scores: Vec<f64>,
}

fn ratings_by_query(ratings: &[Rating]) -> Vec<QueryRatings> {
    let mut by_query: BTreeMap<usize, Vec<Rating>> = BTreeMap::new();
    for rating in ratings.iter().filter(|rating| rating.a != rating.b) {
        by_query.entry(rating.query).or_default().push(*rating);
    }
    by_query
        .into_iter()
        .map(|(query, mut ratings)| {
            let ends = ratings.iter().flat_map(|rating| [rating.a, rating.b]);
            let names: Vec<usize> = ends.collect::<BTreeSet<_>>().into_iter().collect();
            let battles: BTreeSet<usize> = ratings.iter().map(|rating| rating.battle).collect();
            for rating in &mut ratings {
                rating.a = names.partition_point(|name| *name < rating.a);
                rating.b = names.partition_point(|name| *name < rating.b);
            }
            QueryRatings {
                query,
                phi: battles.len() as f64 / ratings.len() as f64,
                ratings,
                scores: vec![0.0; names.len()],
            }
        })
        .collect()
}

impl QueryRatings {
    /// Fits the scores under the judges' parameters, and adds each vote at the quadrature nodes of
    /// its gap's posterior.
    fn expect(
        &mut self,
        model: &JudgeModel,
        options: &RatingOptions,
        cases: &mut BTreeMap<usize, Vec<RegressionCase>>,
    ) -> Result<(), RatingError> {
        let documents = self.scores.len();
        let observations = model.observations(&self.ratings, self.query);
        let fit = rating::fit(documents, &observations, options, Some(&self.scores))?;
        let posterior = rating::covariance(documents, &observations, &fit, options, self.phi);
        self.scores = fit.scores;
        let Some(posterior) = posterior else {
            return Ok(());
        };
        for rating in &self.ratings {
            let gap = self.scores[rating.b] - self.scores[rating.a];
            let error = posterior.gap_se(rating.a, rating.b);
            let own = cases.entry(rating.judge).or_default();
            own.extend(NODES.map(|(node, weight)| RegressionCase {
                x: [gap + node * error, rating.order()],
                vote: rating.score(),
                weight,
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    #[test]
    fn few_votes_leave_a_judge_plain() {
        let ratings = [
            rating(2, 0, 1, 1.0),
            rating(5, 0, 1, 0.0),
            rating(5, 3, 3, 1.0),
        ];
        let model = judge_model(&ratings, 0.05).unwrap();
        assert!(model.converged);
        let rows: Vec<_> = model
            .judges
            .iter()
            .map(|row| (row.judge, row.votes, row.basis))
            .collect();
        assert_eq!(
            rows,
            [
                (2, 1, ParameterBasis::TooFewVotes),
                (5, 1, ParameterBasis::TooFewVotes)
            ]
        );
        assert_eq!(
            (model.response(2), model.response(99)),
            ((1.0, 0.0), (1.0, 0.0))
        );
        let none = judge_model(&[], 0.05).unwrap();
        assert!(none.judges.is_empty() && none.converged);
        assert!(judge_model(&ratings, 0.0).is_err());
    }

    #[test]
    fn plain_judges_leave_the_scores_of_the_mean_vote() {
        let ratings = [
            rating(0, 0, 1, 1.0),
            rating(1, 0, 1, -0.5),
            rating(2, 0, 1, 0.0),
            rating(0, 1, 2, 1.0),
            Rating {
                query: 8,
                ..rating(0, 1, 2, -1.0)
            },
        ];
        let votes = judge_model(&ratings, 0.05)
            .unwrap()
            .observations(&ratings, 0);
        assert_eq!(votes.len(), 4);
        let means = [
            Observation::new(0, 1, 0.5, 1.0),
            Observation::new(1, 2, 1.0, 1.0),
        ];
        let scores = |rows: &[Observation]| {
            rating::fit(3, rows, &RatingOptions::default(), None)
                .unwrap()
                .scores
        };
        for (one, other) in scores(&votes).iter().zip(scores(&means)) {
            assert!((one - other).abs() < 1e-12);
        }
    }

    #[test]
    fn documents_may_have_any_numbers() {
        let far = |judge: usize, margin: f64| rating(judge, 7, usize::MAX, margin);
        let model = judge_model(&[far(0, 1.0), far(1, -1.0)], 0.05).unwrap();
        assert_eq!(model.judges.len(), 2);
    }
}
