//! What sampling strategies, ranking methods and duels are worth, in simulation: no model and nobody is asked.

mod coverage;
mod duels;
mod every;
mod methods;
mod overrides;
mod project_worlds;
mod strategy;
mod students;

use super::error::{AppError, invalid};
use crate::domain::ranking::PriorPrecision;
use crate::domain::rating::{PRIOR_BATTLES, PriorEvidence};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::simulation::{Noise, Quality, SimulatedQuery, Theta, opening_evidence};
pub use coverage::RankIntervalCoverage;
pub use duels::{Claims, DuelShare, DuelSimulation, DuelSummary};
use every::every;
pub use methods::{MethodOnQuery, MethodResult, MethodSimulation};
pub use overrides::{OverrideSimulation, VerdictRule};
pub use project_worlds::ProjectWorlds;
pub use strategy::StrategyOnQuery;
pub use students::{StudentSimulation, StudentWorth};

#[derive(Debug)]
pub enum WorldSource {
    /// Scores spread in this way over so many documents, and judges that err so.
    Synthetic(Theta, usize, Noise),
    /// The project's own votes.
    Project(ProjectWorlds),
}

impl WorldSource {
    fn world(&self, seed: u64, index: usize) -> Result<SimulatedQuery, AppError> {
        match self {
            Self::Synthetic(theta, documents, noise) => {
                let noise = noise.clone();
                Ok(SimulatedQuery::synthetic(
                    *theta, *documents, noise, seed, index,
                ))
            }
            Self::Project(worlds) => worlds.world(seed, index),
        }
    }
}

/// What one strategy came to on all queries.
#[derive(Debug)]
pub struct StrategyResult {
    pub plan: AdaptivePlan,
    pub queries: Vec<StrategyOnQuery>,
    /// How often rank intervals hold the true rank, where there are any.
    pub intervals: Option<RankIntervalCoverage>,
}

impl StrategyResult {
    /// How good the rankings are.
    pub fn qualities(&self) -> Vec<Quality> {
        self.queries.iter().map(|query| query.quality).collect()
    }

    /// A mean over the queries.
    pub fn mean(&self, value: impl Fn(&StrategyOnQuery) -> f64) -> Option<f64> {
        let sum: f64 = self.queries.iter().map(value).sum();
        (!self.queries.is_empty()).then(|| sum / self.queries.len() as f64)
    }
}

#[derive(Debug)]
pub struct Simulation {
    pub queries: usize,
    /// What is compared, the first with all others.
    pub strategies: Vec<AdaptivePlan>,
    /// The prior of the scores that are measured. If it is set, pairs are chosen by it too; if it is learned, by the one that
    /// the opening cycle teaches, as in the first campaign of a project.
    pub prior: PriorPrecision,
    /// Threads; the result does not depend on them.
    pub threads: Option<usize>,
    /// The seed of worlds, votes and plans.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationPhase {
    Played,
    /// Rank intervals are held against the truth.
    Measured,
}

impl Simulation {
    /// Plays every strategy on every query. `progress` is told how many queries of a phase are done.
    pub fn run(
        &self,
        source: &WorldSource,
        progress: &mut dyn FnMut(SimulationPhase, usize),
    ) -> Result<Vec<StrategyResult>, AppError> {
        if self.strategies.is_empty() {
            return Err(invalid!("--strategies: name at least one"));
        }
        let choosing: Vec<f64> = self
            .strategies
            .iter()
            .map(|plan| self.choosing_lambda(source, plan))
            .collect::<Result<_, _>>()?;
        let mut played = self.every(SimulationPhase::Played, progress, |index| {
            let world = source.world(self.seed, index)?;
            Ok(self
                .strategies
                .iter()
                .zip(&choosing)
                .map(|(plan, &lambda)| StrategyOnQuery::play(&world, plan, lambda, self.seed))
                .collect::<Vec<_>>())
        })?;
        let lambdas: Vec<f64> = (0..self.strategies.len())
            .map(|at| coverage::lambda(self.prior, played.iter().map(|query| &query[at])))
            .collect();
        for (index, query) in played.iter_mut().enumerate() {
            let world = source.world(self.seed, index)?;
            for (line, lambda) in query.iter_mut().zip(&lambdas) {
                line.fit_again(&world, *lambda);
            }
        }
        let strategies = 0..self.strategies.len();
        let phi = |at: usize| coverage::phi(played.iter().map(move |query| &query[at]));
        let phis: Vec<f64> = strategies.map(phi).collect();
        let covered = self.every(SimulationPhase::Measured, progress, |index| {
            let world = source.world(self.seed, index)?;
            Ok(coverage::of_query(&world, &played[index], &phis))
        })?;
        let estimates = phis.into_iter().zip(lambdas);
        let mut results: Vec<StrategyResult> = (0..)
            .zip(self.strategies.iter().zip(estimates))
            .map(|(at, (plan, (phi, lambda))): (usize, _)| StrategyResult {
                plan: *plan,
                queries: Vec::new(),
                intervals: RankIntervalCoverage::of(
                    phi,
                    lambda,
                    covered.iter().filter_map(|query| query[at]),
                ),
            })
            .collect();
        for query in played {
            for (result, on_query) in results.iter_mut().zip(query) {
                result.queries.push(on_query);
            }
        }
        Ok(results)
    }

    /// The prior by which a first campaign chooses its pairs: learned from the opening cycle, as in a project.
    fn choosing_lambda(&self, source: &WorldSource, plan: &AdaptivePlan) -> Result<f64, AppError> {
        let default = self.prior.value(None);
        if self.prior != PriorPrecision::Auto || !plan.strategy.opens_with_whole_battles() {
            return Ok(default);
        }
        let mut evidence = PriorEvidence::default();
        let mut judges = 1;
        for index in 0..self.queries.min(coverage::LEARNED_FROM) {
            let world = source.world(self.seed, index)?;
            judges = judges.max(world.judges());
            if let Some(of_query) =
                opening_evidence(&world, &plan.strategy, plan.battles, self.seed)
            {
                evidence = evidence.pooled(&of_query);
            }
        }
        let learned = evidence
            .best(|_| 1.0 / judges as f64)
            .filter(|_| evidence.battles() >= PRIOR_BATTLES);
        Ok(learned.unwrap_or(default))
    }

    /// Does the work of every query, on all threads; one result a query, in order.
    fn every<T: Send>(
        &self,
        phase: SimulationPhase,
        progress: &mut dyn FnMut(SimulationPhase, usize),
        work: impl Fn(usize) -> Result<T, AppError> + Sync,
    ) -> Result<Vec<T>, AppError> {
        every(
            self.queries,
            self.threads,
            &mut |done| progress(phase, done),
            work,
        )
    }
}
