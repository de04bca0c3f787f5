//! Summary of the built pools and of the first stage's quality.

use super::first_stage::FirstStage;
use crate::app::error::AppError;
use crate::app::estimate_json::mean_json;
use crate::domain::metrics::{
    EvaluationRules, Measure, Metric, Qrels, RankedRun, Resampling, evaluate,
};
use crate::domain::retrieval::{JudgingPool, PoolLayout, SlotSource};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Clone, Debug, Serialize)]
pub struct PoolSummary {
    pub queries: usize,
    pub documents: usize,
    /// Recall and reciprocal rank of the first stage, with intervals.
    pub first_stage: Map<String, Value>,
    pub pools: PoolCounts,
    /// Warnings to the reader.
    pub warnings: Vec<String>,
    /// The same for each fused stage, and for their fusion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fusion: Option<Value>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PoolCounts {
    pub count: usize,
    depth: usize,
    /// Number of pools with fewer documents than requested.
    short: usize,
    layout: PoolLayout,
    /// Number of documents in all pools.
    pub slots: usize,
    /// Number of documents labeled relevant.
    pub positives: usize,
    /// Number of those that the first stage found.
    pub label_found: usize,
    pub label_missed: usize,
    pub fill: usize,
}

impl PoolSummary {
    /// The summary of pools that a search engine has filled and that have no labels.
    pub(super) fn of_search(
        pools: &[JudgingPool],
        documents: usize,
        (depth, layout): (usize, PoolLayout),
        warnings: Vec<String>,
    ) -> Self {
        let filled = || pools.iter().filter(|pool| !pool.slots.is_empty());
        let slots = filled().map(|pool| pool.slots.len()).sum();
        Self {
            queries: pools.len(),
            documents,
            first_stage: Map::new(),
            pools: PoolCounts {
                count: filled().count(),
                depth,
                short: filled().filter(|pool| pool.slots.len() < depth).count(),
                layout,
                slots,
                positives: 0,
                label_found: 0,
                label_missed: 0,
                fill: slots,
            },
            warnings,
            stages: None,
            fusion: None,
        }
    }
}

/// The input of a summary: the first stage's results, the labels, and the pools built from them.
pub(super) struct Summarized<'a> {
    pub(super) qrels: &'a Qrels,
    pub(super) stage: &'a FirstStage,
    pub(super) run: &'a RankedRun,
    pub(super) pools: &'a [JudgingPool],
    pub(super) depth: usize,
    pub(super) relevant_from: i32,
    pub(super) layout: PoolLayout,
}

impl Summarized<'_> {
    pub(super) fn summary(&self, warnings: Vec<String>) -> Result<PoolSummary, AppError> {
        let (queries, first_stage) = self.quality(self.run)?;
        // A query without documents has no pool.
        let pools = || self.pools.iter().filter(|pool| !pool.slots.is_empty());
        let slots = || pools().flat_map(|pool| &pool.slots);
        let of = |source| slots().filter(|slot| slot.source() == source).count();
        let (found, missed) = (of(SlotSource::LabelFound), of(SlotSource::LabelMissed));
        let short = |pool: &&JudgingPool| pool.slots.len() < self.depth;
        let stages = self.stage.hybrid().map(|hybrid| {
            hybrid
                .runs()
                .into_iter()
                .map(|(name, run)| Ok((name.to_owned(), self.quality(&run)?.1.into())))
                .collect::<Result<_, AppError>>()
        });
        Ok(PoolSummary {
            queries,
            documents: self.stage.documents(),
            first_stage,
            pools: PoolCounts {
                count: pools().count(),
                depth: self.depth,
                short: pools().filter(short).count(),
                layout: self.layout,
                slots: slots().count(),
                positives: found + missed,
                label_found: found,
                label_missed: missed,
                fill: of(SlotSource::Fill),
            },
            warnings,
            stages: stages.transpose()?,
            fusion: self.stage.hybrid().map(|hybrid| hybrid.made.clone()),
        })
    }

    /// Number of evaluated queries, and the means with their intervals.
    fn quality(&self, run: &RankedRun) -> Result<(usize, Map<String, Value>), AppError> {
        let rules = EvaluationRules {
            relevant_from: self.relevant_from,
            ..EvaluationRules::default()
        };
        let metrics = [Measure::Recall, Measure::Mrr]
            .map(|measure| Metric::new(measure, Some(self.depth)))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(AppError::failed)?;
        let evaluation = evaluate(self.qrels, run, &metrics, &rules).map_err(AppError::failed)?;
        let rows = metrics.iter().map(|metric| {
            let estimate = evaluation.estimate(*metric, &Resampling::default());
            (metric.to_string(), mean_json(estimate))
        });
        Ok((evaluation.queries.len(), rows.collect()))
    }
}
