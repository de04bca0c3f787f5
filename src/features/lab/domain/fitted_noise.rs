//! Fits the noise of judges to a project's votes, so that its matrices can be simulated again.

mod probit;

use super::noise::{JudgeNoise, Noise};
use crate::domain::rating::Covariance;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use probit::{Probit, ProbitVote};
use statrs::distribution::{ContinuousCDF, Normal};
use thiserror::Error;

/// Number of equally likely values that represent the shared error of the judges.
const NODES: usize = 11;

/// Maximum share of a judge's error variance that is treated as shared.
const MOST_SHARED: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedVote {
    /// Index of document A among the table's scores.
    pub a: usize,
    /// Index of document B.
    pub b: usize,
    /// Index of the judge in the ensemble.
    pub seat: usize,
    pub outcome: Outcome,
    /// Whether the judge was shown B first.
    pub swapped: bool,
}

/// One query's true scores, or a [`plausible_scores`] draw of them, and its votes.
#[derive(Clone, Copy, Debug)]
pub struct ObservedQuery<'a> {
    pub scores: &'a [f64],
    /// The votes in any order; votes on documents without a score are ignored.
    pub votes: &'a [ObservedVote],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoiseError {
    /// There are no votes of a judge.
    #[error("the judge at seat {seat} has not voted on any scored pair")]
    NoVotes { seat: usize },
}

/// Plausible true scores of a fitted query: one draw from the posterior around its scores, with
/// mean 0.
///
/// The fitted scores themselves cannot serve as true scores: the prior has shrunk them, and they
/// contain the errors of the votes. A draw has neither problem: votes and draw together are a
/// sample of the model (plausible values, Mislevy 1991). In pool order; `None` if the covariance
/// belongs to another pool.
pub fn plausible_scores(
    scores: &[f64],
    covariance: &Covariance,
    rng: &mut SeededRng,
) -> Option<Vec<f64>> {
    if covariance.documents() != scores.len() {
        return None;
    }
    let normals: Vec<f64> = scores.iter().map(|_| rng.normal()).collect();
    let mut error = vec![0.0; scores.len()];
    covariance.spread(&normals, &mut error);
    let mean = error.iter().sum::<f64>() / scores.len().max(1) as f64;
    Some(
        scores
            .iter()
            .zip(error)
            .map(|(score, error)| score + error - mean)
            .collect(),
    )
}

/// The noise of the first `judges` judges of the ensemble.
///
/// Each judge is an ordered probit: it votes B with probability Φ(β_m d + γ_m o − τ_m) and A with
/// Φ(−β_m d − γ_m o − τ_m), where d is the gap of the scores and o = +1 if B was shown first, −1 if
/// A was; β, γ and τ are estimated by maximum likelihood. The shared part of the judges' error
/// (`pair`², with `own`² = 1 − `pair`²) is chosen so that the expected number of agreements between
/// two judges on a pair equals the observed one; 0 if no pair has two votes. Failed calls are not
/// votes: `errors` and `call` are 0.
pub fn fitted_noise(judges: usize, tables: &[ObservedQuery]) -> Result<Noise, NoiseError> {
    let votes = usable_votes(tables);
    let of_seat = |seat: usize| votes.iter().filter(move |vote| vote.seat == seat);
    if let Some(seat) = (0..judges).find(|seat| of_seat(*seat).next().is_none()) {
        return Err(NoiseError::NoVotes { seat });
    }
    let probits: Vec<Probit> = (0..judges).map(|seat| Probit::fit(of_seat(seat))).collect();
    let shared = shared(&probits, &votes);
    Ok(Noise {
        pair: shared.sqrt(),
        call: 0.0,
        errors: 0.0,
        judges: probits
            .iter()
            .map(|judge| JudgeNoise {
                slope: judge.slope,
                own: (1.0 - shared).sqrt(),
                order: judge.order,
                tie: judge.tie,
            })
            .collect(),
    })
}

/// All usable votes, grouped by table and pair.
fn usable_votes(tables: &[ObservedQuery]) -> Vec<ProbitVote> {
    let mut votes = Vec::new();
    for (table, entry) in tables.iter().enumerate() {
        votes.extend(entry.votes.iter().filter_map(|cast| {
            let (low, high) = (cast.a.min(cast.b), cast.a.max(cast.b));
            let flipped = cast.a > cast.b;
            Some(ProbitVote {
                battle: (table, low, high),
                seat: cast.seat,
                gap: entry.scores.get(high)? - entry.scores.get(low)?,
                order: if cast.swapped != flipped { 1.0 } else { -1.0 },
                outcome: match cast.outcome {
                    Outcome::A if flipped => Outcome::B,
                    Outcome::B if flipped => Outcome::A,
                    outcome => outcome,
                },
            })
        }));
    }
    votes.sort_by_key(|vote| (vote.battle, vote.seat));
    votes
}

/// The share of the judges' error variance that is common to all, 0..=[`MOST_SHARED`].
fn shared(probits: &[Probit], votes: &[ProbitVote]) -> f64 {
    let seated = |vote: &ProbitVote| Some((*probits.get(vote.seat)?, *vote));
    let mut both = Vec::new();
    for battle in votes.chunk_by(|x, y| x.battle == y.battle) {
        for (at, first) in battle.iter().enumerate() {
            let others = battle
                .iter()
                .skip(at + 1)
                .filter(|other| other.seat != first.seat);
            both.extend(others.filter_map(|other| Some((seated(first)?, seated(other)?))));
        }
    }
    let agreed = both
        .iter()
        .filter(|(x, y)| x.1.outcome == y.1.outcome)
        .count() as f64;
    let nodes = nodes();
    let expected = |share: f64| -> f64 {
        both.iter()
            .map(|((first, x), (second, y))| {
                let agree = nodes.iter().map(|node| {
                    let p = first.given(x, share.sqrt() * node, (1.0 - share).sqrt());
                    let q = second.given(y, share.sqrt() * node, (1.0 - share).sqrt());
                    p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>()
                });
                agree.sum::<f64>() / NODES as f64
            })
            .sum()
    };
    let (mut low, mut high) = (0.0, MOST_SHARED);
    if both.is_empty() || expected(low) >= agreed {
        return 0.0;
    }
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        if expected(middle) < agreed {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Equally likely values of a standard normal variable, scaled to variance 1.
fn nodes() -> [f64; NODES] {
    let normal = Normal::standard();
    let place = |at: usize| normal.inverse_cdf((at as f64 + 0.5) / NODES as f64);
    let raw: [f64; NODES] = std::array::from_fn(place);
    let size = (raw.iter().map(|z| z * z).sum::<f64>() / NODES as f64).sqrt();
    raw.map(|z| z / size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Pair;
    use crate::domain::sampling::plan;
    use crate::features::lab::domain::{SimulatedQuery, Theta};

    /// The votes of standard judges on a random plan, with the true scores on the scale of a
    /// Bradley–Terry fit.
    fn votes(index: usize) -> (Vec<f64>, Vec<ObservedVote>) {
        let noise = Noise {
            errors: 0.0,
            ..Noise::standard(3)
        };
        let world = SimulatedQuery::synthetic(Theta::Gaussian, 30, noise, 2, index);
        let mut casts = Vec::new();
        for battle in plan(2, world.name(), 30, 6) {
            let (a, b) = (battle.pair.low(), battle.pair.high());
            casts.extend((0..3).map(|seat| ObservedVote {
                a,
                b,
                seat,
                outcome: world.vote(Pair::new(a, b).unwrap(), seat).unwrap(),
                swapped: (a + b + seat) % 2 == 0,
            }));
        }
        (
            world.truth().iter().map(|theta| 1.4665 * theta).collect(),
            casts,
        )
    }

    #[test]
    fn the_noise_of_simulated_judges_is_found_again() {
        let queries: Vec<_> = (0..12).map(votes).collect();
        let tables: Vec<ObservedQuery> = queries
            .iter()
            .map(|(scores, votes)| ObservedQuery { scores, votes })
            .collect();
        let noise = fitted_noise(3, &tables).unwrap();
        let shared = noise.pair * noise.pair;
        assert!((shared - 0.18).abs() < 0.08, "{noise:?}");
        for judge in &noise.judges {
            assert!((judge.slope - 1.0 / 1.702).abs() < 0.04, "{noise:?}");
            assert!((judge.tie - 0.043).abs() < 0.01, "{noise:?}");
        }
    }

    #[test]
    fn a_judge_that_never_voted_has_no_noise() {
        let (scores, votes) = votes(0);
        let table = ObservedQuery {
            scores: &scores,
            votes: &votes,
        };
        assert_eq!(
            fitted_noise(4, &[table]),
            Err(NoiseError::NoVotes { seat: 3 })
        );
    }
}
