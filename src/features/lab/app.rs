//! Simulates sampling strategies, ranking methods and duels, without calling models or people.

mod coverage;
mod duels;
mod every;
mod lists;
mod methods;
mod overrides;
mod project_worlds;
mod strategy;
mod students;

use crate::app::error::{AppError, invalid};
use crate::domain::ranking::PriorPrecision;
use crate::domain::rating::{PRIOR_BATTLES, PriorEvidence};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::features::lab::domain::{Noise, Quality, SimulatedQuery, Theta, opening_evidence};
pub use coverage::RankIntervalCoverage;
pub use duels::{Claims, DuelShare, DuelSimulation, DuelSummary};
use every::every;
pub use lists::{ListResult, ListSimulation};
pub use methods::{MethodOnQuery, MethodResult, MethodSimulation};
pub use overrides::{OverrideSimulation, VerdictRule};
pub use project_worlds::ProjectWorlds;
pub use strategy::StrategyOnQuery;
pub use students::{StudentSimulation, StudentWorth};

#[derive(Debug)]
pub enum WorldSource {
    /// A distribution of true scores, the number of documents, and the noise of the judges.
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

/// The results of one strategy on all queries.
#[derive(Debug)]
pub struct StrategyResult {
    pub plan: AdaptivePlan,
    pub queries: Vec<StrategyOnQuery>,
    /// Coverage of rank intervals, if there are any.
    pub intervals: Option<RankIntervalCoverage>,
}

impl StrategyResult {
    /// Quality of the rankings.
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
    /// The strategies to compare; the first one with all others.
    pub strategies: Vec<AdaptivePlan>,
    /// The prior for the evaluated scores. If it is set, pairs are chosen with it too; if it is
    /// learned, pairs are chosen with the prior learned from the opening cycle, as in the first
    /// campaign of a project.
    pub prior: PriorPrecision,
    /// Number of threads, which does not affect the result.
    pub threads: Option<usize>,
    /// Random seed for worlds, votes and plans.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationPhase {
    Played,
    /// Rank intervals are compared with the truth.
    Measured,
}

impl Simulation {
    /// Runs every strategy on every query. `progress` receives the number of finished queries in a
    /// phase.
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

    /// The prior with which a first campaign chooses its pairs, learned from the opening cycle as
    /// in a project.
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

    /// Runs the work of every query on all threads; one result per query, in order.
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
