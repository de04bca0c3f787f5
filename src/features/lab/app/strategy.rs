//! The result of one sampling strategy on one simulated query.

use crate::domain::sampling::adaptive::{AdaptivePlan, SamplingState};
use crate::features::lab::domain::{Quality, SimulatedQuery, quality, run};

#[derive(Debug)]
pub struct StrategyOnQuery {
    /// Quality of the ranking.
    pub quality: Quality,
    pub(super) state: SamplingState,
    /// Number of paid ensemble battles per document.
    pub battles: f64,
    pub pairs: usize,
    pub rounds: usize,
}

impl StrategyOnQuery {
    pub(super) fn play(
        world: &SimulatedQuery,
        plan: &AdaptivePlan,
        lambda: f64,
        seed: u64,
    ) -> Self {
        let played = run(world, &plan.strategy, plan.battles, lambda, seed);
        let ensembles = (world.truth().len() * world.judges()).max(1);
        Self {
            quality: played.quality,
            state: played.state,
            battles: played.calls as f64 / ensembles as f64,
            pairs: played.pairs,
            rounds: played.rounds,
        }
    }

    /// Refits the scores with a different prior.
    pub(super) fn fit_again(&mut self, world: &SimulatedQuery, lambda: f64) {
        if self.state.lambda() != lambda {
            self.state.set_prior(lambda);
            self.quality = quality(&self.state.scores(), world.truth());
        }
    }
}
