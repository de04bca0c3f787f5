//! Documents and judges fitted together: Bradley–Terry with a slope and a position shift a judge.

use super::Ballot;
use super::logistic::{Case, regression};
use crate::domain::rating::{self, Model, Observation, Options, RatingError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer votes a judge keeps β = 1 and γ = 0. At this many the standard error of γ is still about 0.4 (simulated
/// with the noise of SCIENCE §0).
pub const MIN_VOTES: usize = 100;

/// The fit has converged when no β and no γ moves further than this in a round.
const TOLERANCE: f64 = 1e-4;

const MAX_ROUNDS: usize = 100;

/// Nodes and weights of three-point Gauss–Hermite quadrature for a standard normal.
const NODES: [(f64, f64); 3] = [
    (-1.732_050_807_568_877_2, 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (1.732_050_807_568_877_2, 1.0 / 6.0),
];

/// Where a judge's parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Its votes.
    Fitted,
    /// Nothing: it has fewer than [`MIN_VOTES`] votes with a known error of the gap, and counts as a plain judge.
    TooFewVotes,
    /// Nothing: its votes have no finite fit, and it counts as a plain judge.
    NoMaximum,
}

/// How a judge turns a gap into votes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgeParameters {
    /// The judge.
    pub judge: usize,
    /// β: how sharply it tells documents apart. Mean 1 over the fitted judges; 0 for one that tosses a coin.
    pub beta: f64,
    /// γ in logits: positive favours the document shown first.
    pub gamma: f64,
    /// γ / β: the gap in score that being shown first is worth. `None` unless β is above 0.
    pub shift: Option<f64>,
    /// Its votes.
    pub votes: usize,
    /// Whether β and γ were fitted.
    pub basis: Basis,
}

/// The judges of a project.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeModel {
    /// In ascending order of their numbers.
    pub judges: Vec<JudgeParameters>,
    /// Rounds taken.
    pub rounds: usize,
    /// Whether the parameters came to rest within the rounds allowed.
    pub converged: bool,
}

/// Fits logit P(judge m votes for B) = β_m (e_b − e_a) + γ_m o, o = +1 where B was shown first and −1 where A was, with
/// mean β = 1 (SCIENCE §6.1).
///
/// Rounds of EM: the scores of each query by the MAP fit, then β and γ of each judge by a logistic regression over all
/// queries, in expectation over the Laplace posterior of each gap (three-point Gauss–Hermite). `lambda` is the prior
/// precision of [`Options`], for one battle; the posterior takes φ = battles / votes, which is 1/M where M judges vote on
/// every battle. Queries of more than [`rating::MAX_DENSE`] documents have no posterior and say nothing of the judges.
/// The same ballots in the same order give the same bits; another order may change the last ones.
pub fn judge_model(ballots: &[Ballot], lambda: f64) -> Result<JudgeModel, RatingError> {
    let options = Options {
        model: Model::Map,
        lambda,
    };
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for ballot in ballots.iter().filter(|ballot| ballot.a != ballot.b) {
        *votes.entry(ballot.judge).or_default() += 1;
    }
    let judges = votes.iter().map(|(judge, votes)| plain(*judge, *votes));
    let mut model = JudgeModel {
        judges: judges.collect(),
        rounds: 0,
        converged: false,
    };
    let mut pools = pools(ballots);
    while !model.converged && model.rounds < MAX_ROUNDS {
        model.rounds += 1;
        let mut cases: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
        for pool in &mut pools {
            pool.expect(&model, &options, &mut cases)?;
        }
        model.converged = model.maximise(&cases);
    }
    Ok(model)
}

impl JudgeModel {
    /// β and γ of a judge: 1 and 0 for one that the model does not know.
    pub fn response(&self, judge: usize) -> (f64, f64) {
        let known = self.judges.binary_search_by_key(&judge, |row| row.judge);
        let row = known.ok().and_then(|at| self.judges.get(at));
        row.map_or((1.0, 0.0), |row| (row.beta, row.gamma))
    }

    /// One observation a ballot of `query`, in order, for [`rating::fit`]: slope β, offset γ o, and the weight of one
    /// battle shared by the votes on it. With β = 1 and γ = 0 throughout they give the scores of the plain fit to the
    /// mean votes.
    pub fn observations(&self, ballots: &[Ballot], query: usize) -> Vec<Observation> {
        let own = || ballots.iter().filter(|ballot| ballot.query == query);
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for ballot in own() {
            *votes.entry(ballot.battle).or_default() += 1;
        }
        own()
            .map(|ballot| {
                let (slope, gamma) = self.response(ballot.judge);
                let sharing = votes.get(&ballot.battle).copied().unwrap_or(1);
                Observation {
                    a: ballot.a,
                    b: ballot.b,
                    score: ballot.score(),
                    weight: 1.0 / sharing as f64,
                    slope,
                    offset: gamma * ballot.order(),
                }
            })
            .collect()
    }

    /// New parameters from the expected votes; whether they are the old ones.
    fn maximise(&mut self, cases: &BTreeMap<usize, Vec<Case>>) -> bool {
        let mut next = self.judges.clone();
        for row in &mut next {
            let own = cases.get(&row.judge).map_or(&[][..], Vec::as_slice);
            let enough = own.len() >= MIN_VOTES * NODES.len();
            let fit = enough.then(|| regression(own));
            *row = plain(row.judge, row.votes);
            row.basis = match fit {
                None => Basis::TooFewVotes,
                Some(None) => Basis::NoMaximum,
                Some(Some(fit)) => {
                    [row.beta, row.gamma] = fit.coefficients;
                    Basis::Fitted
                }
            };
        }
        let fitted = || next.iter().filter(|row| row.basis == Basis::Fitted);
        let mean = fitted().map(|row| row.beta).sum::<f64>() / fitted().count() as f64;
        for row in &mut next {
            if row.basis == Basis::Fitted {
                // Only a set of judges that vote against their own scores has no mean to divide by.
                if mean > 0.0 {
                    row.beta /= mean;
                } else {
                    *row = plain(row.judge, row.votes);
                    row.basis = Basis::NoMaximum;
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
        basis: Basis::TooFewVotes,
    }
}

/// One query's ballots, its documents renumbered without gaps, and where its scores stand.
struct Pool {
    query: usize,
    ballots: Vec<Ballot>,
    /// Battles a vote: what a vote's share of a battle is to be scaled with.
    phi: f64,
    scores: Vec<f64>,
}

fn pools(ballots: &[Ballot]) -> Vec<Pool> {
    let mut by_query: BTreeMap<usize, Vec<Ballot>> = BTreeMap::new();
    for ballot in ballots.iter().filter(|ballot| ballot.a != ballot.b) {
        by_query.entry(ballot.query).or_default().push(*ballot);
    }
    by_query
        .into_iter()
        .map(|(query, mut ballots)| {
            let ends = ballots.iter().flat_map(|ballot| [ballot.a, ballot.b]);
            let names: Vec<usize> = ends.collect::<BTreeSet<_>>().into_iter().collect();
            let battles: BTreeSet<usize> = ballots.iter().map(|ballot| ballot.battle).collect();
            for ballot in &mut ballots {
                ballot.a = names.partition_point(|name| *name < ballot.a);
                ballot.b = names.partition_point(|name| *name < ballot.b);
            }
            Pool {
                query,
                phi: battles.len() as f64 / ballots.len() as f64,
                ballots,
                scores: vec![0.0; names.len()],
            }
        })
        .collect()
}

impl Pool {
    /// Fits the scores under the judges' parameters, and adds each vote at the nodes of its gap's posterior.
    fn expect(
        &mut self,
        model: &JudgeModel,
        options: &Options,
        cases: &mut BTreeMap<usize, Vec<Case>>,
    ) -> Result<(), RatingError> {
        let documents = self.scores.len();
        let observations = model.observations(&self.ballots, self.query);
        let fit = rating::fit(documents, &observations, options, Some(&self.scores))?;
        let posterior = rating::covariance(documents, &observations, &fit, options, self.phi);
        self.scores = fit.scores;
        let Some(posterior) = posterior else {
            return Ok(());
        };
        for ballot in &self.ballots {
            let gap = self.scores[ballot.b] - self.scores[ballot.a];
            let error = posterior.gap_se(ballot.a, ballot.b);
            let own = cases.entry(ballot.judge).or_default();
            own.extend(NODES.map(|(node, weight)| Case {
                x: [gap + node * error, ballot.order()],
                vote: ballot.score(),
                weight,
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ballot;
    use super::*;

    #[test]
    fn few_votes_leave_a_judge_plain() {
        let ballots = [
            ballot(2, 0, 1, 1.0),
            ballot(5, 0, 1, 0.0),
            ballot(5, 3, 3, 1.0),
        ];
        let model = judge_model(&ballots, 0.05).unwrap();
        assert!(model.converged);
        let rows: Vec<_> = model
            .judges
            .iter()
            .map(|row| (row.judge, row.votes, row.basis))
            .collect();
        assert_eq!(
            rows,
            [(2, 1, Basis::TooFewVotes), (5, 1, Basis::TooFewVotes)]
        );
        assert_eq!(
            (model.response(2), model.response(99)),
            ((1.0, 0.0), (1.0, 0.0))
        );
        let none = judge_model(&[], 0.05).unwrap();
        assert!(none.judges.is_empty() && none.converged);
        assert!(judge_model(&ballots, 0.0).is_err());
    }

    #[test]
    fn plain_judges_leave_the_scores_of_the_mean_vote() {
        let ballots = [
            ballot(0, 0, 1, 1.0),
            ballot(1, 0, 1, -0.5),
            ballot(2, 0, 1, 0.0),
            ballot(0, 1, 2, 1.0),
            Ballot {
                query: 8,
                ..ballot(0, 1, 2, -1.0)
            },
        ];
        let votes = judge_model(&ballots, 0.05)
            .unwrap()
            .observations(&ballots, 0);
        assert_eq!(votes.len(), 4);
        let means = [
            Observation::new(0, 1, 0.5, 1.0),
            Observation::new(1, 2, 1.0, 1.0),
        ];
        let scores = |rows: &[Observation]| {
            rating::fit(3, rows, &Options::default(), None)
                .unwrap()
                .scores
        };
        for (one, other) in scores(&votes).iter().zip(scores(&means)) {
            assert!((one - other).abs() < 1e-12);
        }
    }

    #[test]
    fn documents_may_have_any_numbers() {
        let far = |judge: usize, margin: f64| ballot(judge, 7, usize::MAX, margin);
        let model = judge_model(&[far(0, 1.0), far(1, -1.0)], 0.05).unwrap();
        assert_eq!(model.judges.len(), 2);
    }
}
