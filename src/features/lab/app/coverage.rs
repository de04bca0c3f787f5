//! Coverage of rank intervals.

use super::strategy::StrategyOnQuery;
use crate::domain::ranking::{LearnedPrior, PriorPrecision};
use crate::domain::rating::{Dispersion, PRIOR_BATTLES, PriorEvidence};
use crate::features::lab::domain::{Coverage, MeanInterval, SimulatedQuery};
use crate::store::estimates::ENOUGH_BATTLES;

/// Maximum number of queries that a prior is learned from.
pub(super) const LEARNED_FROM: usize = 200;

/// The rank intervals of one strategy, over all queries.
#[derive(Clone, Copy, Debug)]
pub struct RankIntervalCoverage {
    /// The dispersion that they were computed with.
    pub phi: f64,
    /// Precision of the prior.
    pub lambda: f64,
    /// Share of intervals that contain the true rank.
    pub all: MeanInterval,
    /// The same for the first ten.
    pub top: MeanInterval,
    /// Width in ranks.
    pub width: MeanInterval,
    /// Share of queries whose simultaneous intervals contain all true ranks.
    pub at_once: MeanInterval,
    /// Width of the simultaneous intervals in ranks.
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

/// The dispersion that a project with these queries would use: estimated from all their battles if
/// there are enough, or else one over the number of judges.
pub(super) fn phi<'a>(lines: impl Iterator<Item = &'a StrategyOnQuery> + Clone) -> f64 {
    let pooled = lines
        .clone()
        .filter_map(|line| line.state.dispersion())
        .fold(Dispersion::default(), Dispersion::pooled);
    let mut lines = lines;
    let judges = lines.next().map_or(1, |line| line.state.judges().max(1));
    pooled
        .phi()
        .filter(|_| pooled.battles >= ENOUGH_BATTLES)
        .unwrap_or(1.0 / judges as f64)
}

/// Coverage of the intervals of one query, one entry per strategy.
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
