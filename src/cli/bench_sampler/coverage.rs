//! How often rank intervals hold the true rank.

use super::super::output;
use super::{StrategyOnQuery, StrategyResult, mean_json, words};
use crate::domain::rating::Dispersion;
use crate::domain::simulation::{Coverage, MeanInterval, SimulatedQuery};
use crate::store::summary_cache::ENOUGH_BATTLES;
use serde_json::{Value, json};

/// The rank intervals of one strategy, over all queries.
pub(super) struct RankIntervalCoverage {
    /// The dispersion they were made with.
    phi: f64,
    all: MeanInterval,
    top: MeanInterval,
    width: MeanInterval,
}

impl RankIntervalCoverage {
    pub(super) fn of(phi: f64, queries: impl Iterator<Item = Coverage>) -> Option<Self> {
        let [all, top, width] = Coverage::means(&queries.collect::<Vec<_>>())?;
        Some(Self {
            phi,
            all,
            top,
            width,
        })
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "level": 0.95,
            "phi": self.phi,
            "covered": mean_json(self.all),
            "covered_first_10": mean_json(self.top),
            "width": mean_json(self.width),
        })
    }
}

/// The dispersion that a project with these queries would use: estimated from all of their battles where there are
/// enough, and one over the number of judges before.
pub(super) fn phi(lines: &[&StrategyOnQuery]) -> f64 {
    let known = lines.iter().filter_map(|line| line.state.dispersion());
    let pooled = known.fold(Dispersion::default(), Dispersion::pooled);
    let judges = lines.first().map_or(1, |line| line.state.judges().max(1));
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

/// One row a strategy; nothing where no strategy has intervals.
pub(super) fn text(table: &[StrategyResult]) -> String {
    let rows: Vec<Vec<String>> = table
        .iter()
        .filter_map(|row| {
            let intervals = row.intervals.as_ref()?;
            Some(vec![
                row.campaign.to_string(),
                words(Some(intervals.all), false),
                words(Some(intervals.top), false),
                format!("{:.1}", intervals.width.mean),
                format!("{:.3}", intervals.phi),
            ])
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = [
        "95 % rank intervals",
        ">hold the true rank",
        ">of the first 10",
        ">ranks wide",
        ">dispersion φ",
    ];
    format!("\n{}", output::table(&header, &rows))
}
