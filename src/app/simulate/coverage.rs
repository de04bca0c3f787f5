//! How often rank intervals hold the true rank.

use super::strategy::StrategyOnQuery;
use crate::domain::ranking::{LearnedPrior, PriorPrecision};
use crate::domain::rating::{Dispersion, PRIOR_BATTLES, PriorEvidence};
use crate::domain::simulation::{Coverage, MeanInterval, SimulatedQuery};
use crate::store::summary_cache::ENOUGH_BATTLES;

/// Queries that a prior is learned from at most.
pub(super) const LEARNED_FROM: usize = 200;

/// The rank intervals of one strategy, over all queries.
#[derive(Clone, Copy, Debug)]
pub struct RankIntervalCoverage {
    /// The dispersion they were made with.
    pub phi: f64,
    /// The precision of the prior.
    pub lambda: f64,
    /// How often they hold the true rank.
    pub all: MeanInterval,
    /// The same of the first ten.
    pub top: MeanInterval,
    /// Ranks that they are wide.
    pub width: MeanInterval,
    /// The share of the queries whose simultaneous intervals hold all true ranks.
    pub at_once: MeanInterval,
    /// Ranks that the simultaneous ones are wide.
    pub width_at_once: MeanInterval,
}

impl RankIntervalCoverage {
    pub(super) fn of(
        phi: f64,
        lambda: f64,
        queries: impl Iterator<Item = Coverage>,
    ) -> Option<Self> {
        let [all, top, width, at_once, width_at_once] =
            Coverage::means(&queries.collect::<Vec<_>>())?;
        Some(Self {
            phi,
            lambda,
            all,
            top,
            width,
            at_once,
            width_at_once,
        })
    }
}

/// The prior that a project with these queries would use.
pub(super) fn lambda<'a>(
    prior: PriorPrecision,
    lines: impl Iterator<Item = &'a StrategyOnQuery>,
) -> f64 {
    if prior != PriorPrecision::Auto {
        return prior.value(None);
    }
    let (mut evidence, mut judges) = (PriorEvidence::default(), 1);
    for line in lines.take(LEARNED_FROM) {
        judges = judges.max(line.state.judges());
        if let Some(of_query) = line.state.prior_evidence() {
            evidence = evidence.pooled(&of_query);
        }
    }
    let battles = evidence.battles();
    let phi = |dispersion: Dispersion| dispersion.phi().unwrap_or(1.0 / judges as f64);
    let best = evidence.best(phi).filter(|_| battles >= PRIOR_BATTLES);
    prior.value(best.map(|lambda| LearnedPrior { lambda, battles }))
}

/// The dispersion that a project with these queries would use: estimated from all of their battles where there are
/// enough, and one over the number of judges before.
pub(super) fn phi<'a>(lines: impl Iterator<Item = &'a StrategyOnQuery> + Clone) -> f64 {
    let known = lines.clone().filter_map(|line| line.state.dispersion());
    let pooled = known.fold(Dispersion::default(), Dispersion::pooled);
    let mut lines = lines;
    let judges = lines.next().map_or(1, |line| line.state.judges().max(1));
    let estimated = pooled.phi().filter(|_| pooled.battles >= ENOUGH_BATTLES);
    estimated.unwrap_or(1.0 / judges as f64)
}

/// What the intervals of one query cover, one entry a strategy.
pub(super) fn of_query(
    world: &SimulatedQuery,
    lines: &[StrategyOnQuery],
    phis: &[f64],
) -> Vec<Option<Coverage>> {
    let of = |(line, phi): (&StrategyOnQuery, &f64)| {
        let covariance = line.state.covariance()?.with_phi(*phi);
        Coverage::of(&line.state.scores(), &covariance, world.truth())
    };
    lines.iter().zip(phis).map(of).collect()
}
