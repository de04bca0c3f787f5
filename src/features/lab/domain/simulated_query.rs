//! One simulated query.

use super::noise::Noise;
use crate::domain::battle::Pair;
use crate::domain::named::named;
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;

named! {
    "a distribution", "kebab-case";
    /// How the true scores of a query's documents are distributed, in the units of
    /// [`Noise::standard`].
    ///
    /// The shapes of `Skew` and `Graded` are chosen so that three judges agree on 72 % of random
    /// pairs under them, too (science.md § Simulations).
    #[derive(Default)]
    pub enum Theta {
        /// Normal, standard deviation 1.82.
        #[default]
        Gaussian,
        /// A long upper tail: gamma with shape 3, standard deviation 2.03.
        Skew,
        /// Four grades 2.7 apart, with 75, 15, 7 and 3 % of the documents, each with standard
        /// deviation 1.15.
        Graded,
    }
}

impl Theta {
    fn draw(self, documents: usize, rng: &mut SeededRng) -> Vec<f64> {
        let mut theta: Vec<f64> = (0..documents)
            .map(|document| match self {
                Self::Gaussian => 1.82 * rng.normal(),
                Self::Skew => {
                    let gamma = -(rng.unit() * rng.unit() * rng.unit()).ln();
                    2.03 * (gamma - 3.0) / 3.0f64.sqrt()
                }
                Self::Graded => {
                    let place = (document as f64 + 0.5) / documents as f64;
                    let grade = [0.03, 0.10, 0.25].iter().filter(|share| place < **share);
                    2.7 * grade.count() as f64 + 1.15 * rng.normal()
                }
            })
            .collect();
        rng.shuffle(&mut theta);
        theta
    }
}

/// One query with known truth: its documents' true scores and its judges.
///
/// A judge's vote on a pair depends only on the world, not on when or by which strategy it is
/// requested.
#[derive(Clone, Debug)]
pub struct SimulatedQuery {
    pub(super) seed: u64,
    pub(super) name: String,
    pub(super) truth: Vec<f64>,
    pub(super) noise: Noise,
}

impl SimulatedQuery {
    /// Query number `index` of an unlimited series with `documents` documents each.
    pub fn synthetic(
        theta: Theta,
        documents: usize,
        noise: Noise,
        seed: u64,
        index: usize,
    ) -> Self {
        let name = index.to_string();
        let truth = theta.draw(
            documents,
            &mut SeededRng::new(seed, &["truth", theta.name(), &name]),
        );
        Self::new(seed, &name, truth, noise)
    }

    /// A query with the given true scores. For a real query, use a
    /// [`plausible`](super::plausible_scores) draw of the scores and its judges'
    /// [`fitted_noise`](super::fitted_noise()).
    ///
    /// Every vote is drawn from the model, also on pairs that real judges voted on: the true scores
    /// depend on those votes, so repeating them would favor strategies that ask for them.
    pub fn new(seed: u64, name: &str, truth: Vec<f64>, noise: Noise) -> Self {
        Self {
            seed,
            name: name.to_owned(),
            truth,
            noise,
        }
    }

    /// The same query with its documents in the order of a first stage whose scores have this
    /// correlation, from −1 to 1, with the true scores.
    #[must_use]
    pub fn in_first_stage_order(mut self, correlation: f64) -> Self {
        let mut rng = SeededRng::new(self.seed, &["first-stage", &self.name]);
        let count = self.truth.len().max(1) as f64;
        let mean = self.truth.iter().sum::<f64>() / count;
        let squares = self
            .truth
            .iter()
            .map(|truth| (truth - mean) * (truth - mean));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        let unseen = (1.0 - correlation * correlation).max(0.0).sqrt() * deviation;
        let scores: Vec<f64> = self
            .truth
            .iter()
            .map(|truth| correlation * (truth - mean) + unseen * rng.normal())
            .collect();
        let order = best_first(&scores).into_iter();
        self.truth = order.map(|document| self.truth[document]).collect();
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    pub fn judges(&self) -> usize {
        self.noise.judges.len()
    }

    /// The vote of the judge at `seat`, with the pair's lower index as A; `None` if there is no
    /// such judge or document.
    pub fn vote(&self, pair: Pair, seat: usize) -> Option<Outcome> {
        self.vote_with(pair, seat, 0.0)
    }

    /// The vote of a judge that also prefers the pair's higher index by `taste`, in units of the
    /// true scores.
    pub(super) fn vote_with(&self, pair: Pair, seat: usize, taste: f64) -> Option<Outcome> {
        let tie = self.noise.judges.get(seat)?.tie;
        let preference = self.preference(pair, seat)? + taste;
        Some(if preference > tie {
            Outcome::B
        } else if preference < -tie {
            Outcome::A
        } else {
            Outcome::Tie
        })
    }

    /// How much the judge at `seat` prefers the pair's higher index, in units of the true scores; 0
    /// for a failed call.
    pub fn preference(&self, pair: Pair, seat: usize) -> Option<f64> {
        let judge = self.noise.judges.get(seat)?;
        let gap = self.truth.get(pair.high())? - self.truth.get(pair.low())?;
        let pair = format!("{} {}", pair.low(), pair.high());
        let shared = SeededRng::new(self.seed, &["pair", &self.name, &pair]).normal();
        let mut rng = SeededRng::new(self.seed, &["vote", &self.name, &pair, &seat.to_string()]);
        let own = judge.own * rng.normal() + self.noise.call * rng.normal();
        let order = if rng.below(2) == 0 {
            judge.order
        } else {
            -judge.order
        };
        if rng.unit() < self.noise.errors {
            return Some(0.0);
        }
        Some(judge.slope * gap + self.noise.pair * shared + own + order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_judges_agree_as_often_as_they_were_calibrated_to() {
        for theta in Theta::ALL {
            let (mut pairs, mut agreed, mut right) = (0, 0, 0);
            for index in 0..100 {
                let world = SimulatedQuery::synthetic(theta, 20, Noise::standard(3), 5, index);
                for low in (0..20).step_by(2) {
                    let pair = Pair::new(low, low + 1).unwrap();
                    let votes = [0, 1, 2].map(|seat| world.vote(pair, seat).unwrap());
                    pairs += 1;
                    if votes[0] != Outcome::Tie && votes.iter().all(|vote| *vote == votes[0]) {
                        agreed += 1;
                        let better = world.truth()[low + 1] > world.truth()[low];
                        right += usize::from((votes[0] == Outcome::B) == better);
                    }
                }
            }
            let (agreed, right) = (agreed as f64 / pairs as f64, right as f64 / agreed as f64);
            assert!((agreed - 0.72).abs() < 0.03, "{theta}: {agreed}");
            assert!((right - 0.97).abs() < 0.015, "{theta}: {right}");
        }
    }

    #[test]
    fn who_is_not_there_does_not_vote() {
        let world = SimulatedQuery::synthetic(Theta::Gaussian, 3, Noise::standard(2), 1, 0);
        assert_eq!(world.vote(Pair::new(0, 1).unwrap(), 2), None);
        assert_eq!(world.vote(Pair::new(0, 3).unwrap(), 0), None);
        assert!(world.vote(Pair::new(0, 2).unwrap(), 1).is_some());
    }
}
