//! Simulates how much a student improves on votes alone: in the fit, in the choice of pairs, and in
//! both.

use super::every::every;
use crate::app::error::{AppError, invalid};
use crate::domain::prediction::QueryPredictions;
use crate::domain::ranking::{
    CHOOSING_WEIGHT, LearnedWeight, OPINION_WEIGHTS, held_out_likelihood, opinion_battles, unvoted,
};
use crate::domain::sampling::adaptive::{AdaptivePlan, Sampler, SamplingState};
use crate::features::lab::domain::{
    Noise, Quality, QueueWorth, SimulatedQuery, Theta, quality, queue_worth, run_with_student,
};

/// Judges in a simulated ensemble; predictions are about the votes of three.
const JUDGES: usize = 3;

#[derive(Debug)]
pub struct StudentSimulation {
    pub theta: Theta,
    pub documents: usize,
    pub queries: usize,
    /// Standard deviation of each judge's own error on a pair.
    pub noise: f64,
    /// Correlation of the student's scores with the truth.
    pub correlation: f64,
    pub plans: Vec<AdaptivePlan>,
    /// Precision of the prior for all scores.
    pub lambda: f64,
    pub threads: Option<usize>,
    pub seed: u64,
}

/// The results of one plan, query by query.
#[derive(Debug)]
pub struct StudentWorth {
    pub plan: AdaptivePlan,
    /// Without a student.
    pub alone: Vec<Quality>,
    /// With the student in the fit, at the weight supported by the votes.
    pub in_fit: Vec<Quality>,
    /// With pairs also chosen using the student; `None` for plans that do not use scores.
    pub in_choice: Option<Vec<Quality>>,
    /// With both.
    pub in_both: Option<Vec<Quality>>,
    /// The value of a queue that starts with votes against the student, with pairs chosen without
    /// it, query by query.
    pub queue: Vec<QueueWorth>,
    /// The student's weight supported by the votes, with pairs chosen without it.
    pub learned: Option<LearnedWeight>,
}

/// A query after a plan: the votes, and the evidence for each weight of the student.
struct PlayedQuery {
    state: SamplingState,
    evidence: Option<[f64; OPINION_WEIGHTS.len()]>,
    queue: Option<QueueWorth>,
}

impl StudentSimulation {
    fn world(&self, index: usize) -> SimulatedQuery {
        let noise = Noise::standard(JUDGES).with_own(self.noise);
        SimulatedQuery::synthetic(self.theta, self.documents, noise, self.seed, index)
    }

    /// Runs every plan on every query. `progress` receives the number of finished queries.
    pub fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<Vec<StudentWorth>, AppError> {
        if self.plans.is_empty() {
            return Err(invalid!("--strategies: name at least one"));
        }
        let played = every(self.queries, self.threads, progress, |index| {
            let world = self.world(index);
            let predictions = world.predicted_by_student(self.correlation);
            let play = |plan: &AdaptivePlan| {
                let chosen = (plan.strategy.sampler != Sampler::Cycles)
                    .then(|| self.play(&world, plan, Some(&predictions), &predictions));
                (self.play(&world, plan, None, &predictions), chosen)
            };
            Ok(self.plans.iter().map(play).collect::<Vec<_>>())
        })?;
        let mut worth = Vec::new();
        for (at, plan) in self.plans.iter().enumerate() {
            let alone: Vec<&PlayedQuery> = played.iter().map(|query| &query[at].0).collect();
            let chosen: Option<Vec<&PlayedQuery>> =
                played.iter().map(|query| query[at].1.as_ref()).collect();
            let (in_fit, learned) = self.fitted(&alone);
            worth.push(StudentWorth {
                plan: *plan,
                alone: self.plain(&alone),
                queue: alone.iter().filter_map(|of| of.queue).collect(),
                in_fit,
                in_choice: chosen.as_ref().map(|chosen| self.plain(chosen)),
                in_both: chosen.as_ref().map(|chosen| self.fitted(chosen).0),
                learned,
            });
        }
        Ok(worth)
    }

    /// Runs a plan, with pairs chosen with or without a student.
    fn play(
        &self,
        world: &SimulatedQuery,
        plan: &AdaptivePlan,
        choosing: Option<&QueryPredictions>,
        predictions: &QueryPredictions,
    ) -> PlayedQuery {
        let choosing = choosing.map(|predictions| (CHOOSING_WEIGHT, predictions));
        let (strategy, battles) = (&plan.strategy, plan.battles);
        let result = run_with_student(world, strategy, battles, self.lambda, self.seed, choosing);
        let pairs = unvoted(self.documents, result.state.votes(), predictions);
        let evidence = held_out_likelihood(
            self.documents,
            JUDGES,
            result.state.votes(),
            &pairs,
            self.lambda,
        );
        PlayedQuery {
            queue: queue_worth(world, &result.state, predictions),
            state: result.state,
            evidence,
        }
    }

    fn plain(&self, played: &[&PlayedQuery]) -> Vec<Quality> {
        let queries = played.iter().enumerate();
        queries
            .map(|(index, of)| quality(&of.state.scores(), self.world(index).truth()))
            .collect()
    }

    /// Quality with the student in the fit, at the weight supported by the votes of all queries.
    fn fitted(&self, played: &[&PlayedQuery]) -> (Vec<Quality>, Option<LearnedWeight>) {
        let evidence: Vec<_> = played.iter().filter_map(|of| of.evidence).collect();
        let learned = LearnedWeight::of(&evidence);
        let weight = learned.map_or(0.0, |learned| learned.weight);
        let qualities = played.iter().enumerate().map(|(index, of)| {
            let world = self.world(index);
            let predictions = world.predicted_by_student(self.correlation);
            let pairs = unvoted(self.documents, of.state.votes(), &predictions);
            let battles = opinion_battles(self.documents, JUDGES, weight, &pairs);
            let state = of.state.clone().with_student(battles);
            quality(&state.scores(), world.truth())
        });
        (qualities.collect(), learned)
    }
}
