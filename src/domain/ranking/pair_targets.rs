//! Training targets: the share of each pair that its votes and verdicts give to a document.

use super::fit_inputs::FitInputs;
use super::{QueryRows, RankingSettings};
use crate::domain::battle::Pair;
use crate::domain::verdict::OverrideMode;
use std::collections::BTreeMap;

/// The share of one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairTarget {
    pub pair: Pair,
    /// Weighted mean over the battles and verdicts that count, in 0..=1 (1: the higher pool index
    /// is better).
    pub score: f64,
    /// Weight in battles, above 0.
    pub weight: f64,
}

/// The pairs that the fit of a query is based on, in the order of their documents.
pub fn pair_targets(rows: &QueryRows, settings: &RankingSettings) -> Vec<PairTarget> {
    // A target is a share, not a gap: the verdict replaces votes that it contradicts, as in the fit
    // of the legacy mode.
    let settings = RankingSettings {
        override_mode: if settings.override_mode.is_legacy() {
            settings.override_mode
        } else {
            OverrideMode::Legacy
        },
        ..settings.without_tastes()
    };
    let inputs = FitInputs::new(rows, &settings);
    let mut sums: BTreeMap<Pair, (f64, f64)> = BTreeMap::new();
    for one in &inputs.observations {
        let document = |place: usize| inputs.entered.get(place).copied();
        let (Some(a), Some(b)) = (document(one.a), document(one.b)) else {
            continue;
        };
        let Some(pair) = Pair::new(a, b) else {
            continue;
        };
        let score = if b == pair.high() {
            one.score
        } else {
            1.0 - one.score
        };
        let (sum, weight) = sums.entry(pair).or_default();
        *sum += one.weight * score;
        *weight += one.weight;
    }
    let counted = sums.into_iter().filter(|(_, (_, weight))| *weight > 0.0);
    counted
        .map(|(pair, (sum, weight))| PairTarget {
            pair,
            score: (sum / weight).clamp(0.0, 1.0),
            weight,
        })
        .collect()
}
