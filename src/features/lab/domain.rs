//! Simulated campaigns: evaluates sampling strategies without paying for judges
//! (science.md § Simulations).
//!
//! A [`SimulatedQuery`] is a query whose true scores are known and whose judges follow the noise
//! model. [`run`] runs one strategy on one world, so that callers can show progress, stop early and
//! use as many threads as they like. Strategies on the same worlds see the same votes, so they can
//! be compared world by world. All results are simulated: no model was asked.

mod coverage;
mod fitted_noise;
mod noise;
mod quality;
mod queue_worth;
mod simulated_answers;
mod simulated_duel;
mod simulated_lists;
mod simulated_query;
mod simulated_review;
mod simulated_student;

pub use coverage::Coverage;
pub use fitted_noise::{ObservedQuery, ObservedVote, fitted_noise, plausible_scores};
pub use noise::Noise;
pub use quality::{
    MeanInterval, Quality, QualitySummary, quality, quality_differences, summarize_quality,
};
pub use queue_worth::{QueueWorth, queue_worth};
pub use simulated_duel::{DuelPlay, SimulatedDuel};
pub use simulated_lists::{ListCampaign, ListQuery, ListWorld};
pub use simulated_query::{SimulatedQuery, Theta};
pub use simulated_review::{ReviewedQuery, Reviewer};

use crate::domain::battle::Pair;
use crate::domain::prediction::QueryPredictions;
use crate::domain::ranking::{opinion_battles, unvoted};
use crate::domain::rating::{PriorEvidence, RatingOptions};
use crate::domain::sampling::adaptive;
use crate::domain::sampling::adaptive::{AskedPair, Round, SamplingState, Strategy, next_round};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct SimulationResult {
    /// The quality of its final scores.
    pub quality: Quality,
    /// The final state; its scores, one per document, are natural-log strengths with mean 0.
    pub state: SamplingState,
    /// Number of judge calls made: the budget, or fewer if nothing was left to ask.
    pub calls: usize,
    pub pairs: usize,
    /// Number of nonempty rounds: how often a real campaign would wait for its judges.
    pub rounds: usize,
}

/// Runs a strategy on a world with a budget of `battles` ensemble battles per document (see
/// [`adaptive::calls`]), which is never exceeded, and fits the votes by MAP with a prior of this
/// precision, which is also used to choose pairs.
///
/// The result depends only on the world and the seed. Every call returns a vote.
pub fn run(
    world: &SimulatedQuery,
    strategy: &Strategy,
    battles: f64,
    lambda: f64,
    seed: u64,
) -> SimulationResult {
    run_with_student(world, strategy, battles, lambda, seed, None)
}

/// As [`run`], but a student's predictions also affect the choice of pairs, with a weight in
/// battles per document. The final state and its quality are based on the votes only.
pub fn run_with_student(
    world: &SimulatedQuery,
    strategy: &Strategy,
    battles: f64,
    lambda: f64,
    seed: u64,
    student: Option<(f64, &QueryPredictions)>,
) -> SimulationResult {
    let mut campaign = SimulatedCampaign {
        student,
        ..SimulatedCampaign::new(world, *strategy, battles, seed)
    };
    while campaign.play_round(lambda) {}
    let state = campaign.state(lambda);
    SimulationResult {
        quality: quality(&state.scores(), world.truth()),
        state,
        calls: campaign.spent,
        pairs: campaign.asked.len(),
        rounds: campaign.rounds,
    }
}

/// A campaign on one query, run round by round.
struct SimulatedCampaign<'a> {
    world: &'a SimulatedQuery,
    strategy: Strategy,
    budget: usize,
    seed: u64,
    /// A student's predictions, with their weight in battles per document.
    student: Option<(f64, &'a QueryPredictions)>,
    asked: Vec<AskedPair>,
    place: HashMap<Pair, usize>,
    spent: usize,
    rounds: usize,
}

impl<'a> SimulatedCampaign<'a> {
    fn new(world: &'a SimulatedQuery, strategy: Strategy, battles: f64, seed: u64) -> Self {
        Self {
            world,
            strategy,
            budget: adaptive::calls(battles, world.truth().len(), world.judges()),
            seed,
            student: None,
            asked: Vec::new(),
            place: HashMap::new(),
            spent: 0,
            rounds: 0,
        }
    }

    /// The scores from the votes so far.
    fn state(&self, lambda: f64) -> SamplingState {
        SamplingState::new(
            self.world.truth().len(),
            self.world.judges(),
            &self.asked,
            lambda,
        )
    }

    /// The scores used for choosing pairs.
    fn choosing_state(&self, lambda: f64) -> SamplingState {
        let state = self.state(lambda);
        let Some((weight, predictions)) = self.student else {
            return state;
        };
        let (documents, judges) = (self.world.truth().len(), self.world.judges());
        let pairs = unvoted(documents, state.votes(), predictions);
        state.with_student(opinion_battles(documents, judges, weight, &pairs))
    }

    /// Runs the next round with pairs chosen under a prior of this precision; returns false if
    /// nothing was left to ask or spend.
    fn play_round(&mut self, lambda: f64) -> bool {
        if self.spent >= self.budget {
            return false;
        }
        let round = Round {
            seed: self.seed,
            query: self.world.name(),
            number: self.rounds,
            calls: self.budget - self.spent,
        };
        let tasks = next_round(&self.choosing_state(lambda), &self.strategy, &round);
        for task in &tasks {
            self.spent += task.judges.len();
            let at = *self.place.entry(task.pair).or_insert(self.asked.len());
            let votes = task
                .judges
                .iter()
                .filter_map(|seat| self.world.vote(task.pair, seat));
            match self.asked.get_mut(at) {
                Some(entry) => {
                    entry.judges = entry.judges.with(task.judges);
                    entry.votes.extend(votes);
                }
                None => self.asked.push(AskedPair {
                    pair: task.pair,
                    judges: task.judges,
                    votes: votes.collect(),
                }),
            }
        }
        self.rounds += usize::from(!tasks.is_empty());
        !tasks.is_empty()
    }
}

/// The evidence of the votes of a campaign's opening cycle about the prior.
pub fn opening_evidence(
    world: &SimulatedQuery,
    strategy: &Strategy,
    battles: f64,
    seed: u64,
) -> Option<PriorEvidence> {
    let mut opening = SimulatedCampaign::new(world, *strategy, battles, seed);
    let lambda = RatingOptions::default().lambda;
    opening.play_round(lambda);
    opening.state(lambda).prior_evidence()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rating::Dispersion;
    use crate::domain::sampling::adaptive::{JudgeChoice, Sampler};

    /// The default precision of the prior, until one is learned.
    const LAMBDA: f64 = 0.05;

    fn world(index: usize) -> SimulatedQuery {
        SimulatedQuery::synthetic(Theta::Gaussian, 24, Noise::standard(3), 4, index)
    }

    #[test]
    fn the_same_campaign_ends_the_same() {
        let strategy = Strategy::new(Sampler::Top, JudgeChoice::Escalate);
        let played = run(&world(0), &strategy, 2.0, LAMBDA, 1);
        assert_eq!(played, run(&world(0), &strategy, 2.0, LAMBDA, 1));
        let scores = played.state.scores();
        let other = |index, seed| {
            run(&world(index), &strategy, 2.0, LAMBDA, seed)
                .state
                .scores()
        };
        assert_ne!(scores, other(1, 1));
        assert_ne!(scores, other(0, 2));
    }

    #[test]
    fn the_budget_is_spent_to_the_last_call() {
        for sampler in Sampler::ALL {
            for judging in JudgeChoice::ALL {
                let played = run(&world(0), &Strategy::new(sampler, judging), 1.5, LAMBDA, 1);
                assert_eq!(played.calls, 108, "{sampler} {judging}");
                assert!(played.state.scores().iter().sum::<f64>().abs() < 1e-9);
            }
        }
    }

    #[test]
    fn small_worlds_end_when_everything_is_asked() {
        let strategy = Strategy::new(Sampler::Eig, JudgeChoice::Rotate);
        for (documents, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (4, 6)] {
            let world = SimulatedQuery::synthetic(Theta::Skew, documents, Noise::standard(2), 1, 0);
            let played = run(&world, &strategy, 99.0, LAMBDA, 1);
            assert_eq!((played.pairs, played.calls), (pairs, 2 * pairs));
        }
    }

    #[test]
    fn informed_pairs_beat_random_ones() {
        let play = |sampler, judging| -> Vec<Quality> {
            let strategy = Strategy::new(sampler, judging);
            let played = (0..8).map(|index| run(&world(index), &strategy, 2.0, LAMBDA, 1));
            played.map(|played| played.quality).collect()
        };
        let random = play(Sampler::Cycles, JudgeChoice::All);
        for (sampler, judging) in [
            (Sampler::Swiss, JudgeChoice::Rotate),
            (Sampler::Top, JudgeChoice::Escalate),
        ] {
            let gain = quality_differences(&play(sampler, judging), &random);
            assert!(gain.tau.unwrap().mean > 0.02, "{sampler}: {gain:?}");
            assert!(gain.ndcg.unwrap().mean > 0.02, "{sampler}: {gain:?}");
        }
    }

    /// The final states of campaigns of a strategy on queries of 25 documents with these judges.
    fn played(strategy: &str, noise: &Noise, queries: usize) -> Vec<SamplingState> {
        let plan: adaptive::AdaptivePlan = strategy.parse().unwrap();
        let world = |index| SimulatedQuery::synthetic(Theta::Gaussian, 25, noise.clone(), 0, index);
        let play = |index| run(&world(index), &plan.strategy, plan.battles, LAMBDA, 0).state;
        (0..queries).map(play).collect()
    }

    #[test]
    fn the_prior_follows_the_judges_noise() {
        // φ divided by the variance of the scores that the judges' total noise gives for true
        // scores with standard deviation 1.82.
        for (own, truth) in [(0.35, 0.016), (0.8, 0.034), (1.6, 0.1)] {
            let noise = Noise::standard(3).with_own(own);
            for strategy in ["cycles:4", "swiss:4", "top+escalate:2"] {
                let evidence = played(strategy, &noise, 40)
                    .iter()
                    .filter_map(SamplingState::prior_evidence)
                    .fold(PriorEvidence::default(), |sum, one| sum.pooled(&one));
                let found = evidence.best(|d| d.phi().unwrap()).unwrap();
                assert!(
                    (0.49..2.05).contains(&(found / truth)),
                    "{strategy} at {own}: {found} for {truth}"
                );
            }
        }
    }

    #[test]
    fn simultaneous_intervals_hold_all_ranks_of_a_query_at_once() {
        // 60 queries with an expected simultaneous coverage of 95 %: the standard error is 2.8
        // points, and three are allowed.
        for strategy in ["cycles:4", "swiss:4", "top+escalate:2"] {
            let noise = Noise::standard(3);
            let states = played(strategy, &noise, 60);
            let pooled = states
                .iter()
                .filter_map(SamplingState::dispersion)
                .fold(Dispersion::default(), Dispersion::pooled);
            let coverages: Vec<Coverage> = (0..)
                .zip(&states)
                .map(|(index, state): (usize, _)| {
                    let errors = state.covariance().unwrap().with_phi(pooled.phi().unwrap());
                    let world =
                        SimulatedQuery::synthetic(Theta::Gaussian, 25, noise.clone(), 0, index);
                    Coverage::of(&state.scores(), &errors, world.truth()).unwrap()
                })
                .collect();
            let [_, _, width, at_once, wider] = Coverage::means(&coverages).unwrap();
            assert!(at_once.mean > 0.865, "{strategy}: {at_once:?}");
            assert!(wider.mean < 2.2 * width.mean, "{strategy}: {wider:?}");
            // The individual intervals almost never cover all documents.
            let alone = coverages.iter().filter(|c| c.all == 1.0).count();
            assert!(alone < 40, "{strategy}: {alone}");
        }
    }

    #[test]
    fn the_dispersion_of_three_judges_that_share_nothing_is_a_third() {
        let mut noise = Noise::standard(3).with_own(1.702);
        (noise.pair, noise.call, noise.errors) = (0.0, 0.0, 0.0);
        for judge in &mut noise.judges {
            (judge.slope, judge.order, judge.tie) = (1.4665, 0.0, 0.0);
        }
        for strategy in [
            "cycles:4",
            "cycles:8",
            "swiss:4",
            "cycles+rotate:2",
            "top+escalate:2",
        ] {
            let pooled = played(strategy, &noise, 60)
                .iter()
                .filter_map(SamplingState::dispersion)
                .fold(Dispersion::default(), Dispersion::pooled);
            let found = pooled.phi().unwrap();
            assert!((0.31..0.35).contains(&found), "{strategy}: {found}");
            let by_modes = pooled.numerator / pooled.denominator;
            assert!(by_modes < found - 0.01, "{strategy}: {by_modes}");
        }
    }

    #[test]
    fn names_of_distributions_stay_and_are_read_back() {
        let names = ["gaussian", "skew", "graded"];
        assert_eq!(Theta::ALL.map(Theta::name), names);
        for theta in Theta::ALL {
            assert_eq!(theta.name().parse(), Ok(theta));
            assert_eq!(serde_json::json!(theta), theta.name());
        }
    }
}
