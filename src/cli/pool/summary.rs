//! What `pool build` made.

use super::super::{CommandFailure, output};
use super::stage::FirstStage;
use super::{BuiltPools, PoolBuildOptions};
use crate::domain::metrics::{
    Evaluation, EvaluationRules, Measure, Metric, Qrels, Resampling, evaluate,
};
use crate::domain::retrieval::{PoolLayout, SlotSource};
use crate::domain::sanitise;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl PoolBuildOptions {
    /// What was built, and how good the first stage is.
    pub(super) fn summary(
        &self,
        built: &BuiltPools,
        qrels: &Qrels,
        stage: &FirstStage,
        layout: PoolLayout,
    ) -> Result<Value, CommandFailure> {
        let depth = self.depth as usize;
        let rules = EvaluationRules {
            relevant_from: self.level,
            ..EvaluationRules::default()
        };
        let metrics = [Measure::Recall, Measure::Mrr]
            .map(|measure| Metric::new(measure, Some(depth)))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let evaluation = evaluate(qrels, &built.run, &metrics, &rules)?;
        let mut sources: BTreeMap<SlotSource, usize> = BTreeMap::new();
        for slot in built.pools.iter().flat_map(|pool| &pool.slots) {
            *sources.entry(slot.source()).or_default() += 1;
        }
        let of = |source| sources.get(&source).copied().unwrap_or(0);
        let (found, missed, fill) = (
            of(SlotSource::LabelFound),
            of(SlotSource::LabelMissed),
            of(SlotSource::Fill),
        );
        let short = built
            .pools
            .iter()
            .filter(|pool| pool.slots.len() < depth)
            .count();
        let mut summary = json!({
            "queries": evaluation.queries.len(),
            "documents": stage.documents(),
            "first_stage": quality(&evaluation, &metrics),
            "pools": {
                "count": built.pools.len(),
                "depth": depth,
                "short": short,
                "layout": layout,
                "slots": found + missed + fill,
                "positives": found + missed,
                "label_found": found,
                "label_missed": missed,
                "fill": fill,
            },
            "warnings": built.notes,
        });
        if let Some(hybrid) = stage.hybrid() {
            for (name, run) in hybrid.runs() {
                let evaluation = evaluate(qrels, &run, &metrics, &rules)?;
                summary["stages"][name] = quality(&evaluation, &metrics).into();
            }
            summary["fusion"] = hybrid.made.clone();
        }
        Ok(summary)
    }
}

/// Means with their intervals.
fn quality(evaluation: &Evaluation, metrics: &[Metric]) -> Map<String, Value> {
    let row = |metric: &Metric| {
        let estimate = evaluation.estimate(*metric, &Resampling::default());
        let interval = estimate.and_then(|estimate| estimate.interval);
        let value = json!({
            "mean": estimate.map(|estimate| estimate.mean),
            "low": interval.map(|(low, _)| low),
            "high": interval.map(|(_, high)| high),
        });
        (metric.to_string(), value)
    };
    metrics.iter().map(row).collect()
}

/// The summary for people.
pub(super) fn words(summary: &Value) -> String {
    let pools = &summary["pools"];
    let mut text = format!(
        "{} documents, {} queries\n",
        summary["documents"], summary["queries"]
    );
    let whole = json!({"": summary["first_stage"]});
    let stages = summary.get("stages").unwrap_or(&whole);
    let stages = stages.as_object().into_iter().flatten();
    let values = stages.flat_map(|(stage, metrics)| {
        let metrics = metrics.as_object().into_iter().flatten();
        metrics.map(move |(name, value)| (format!("{stage} {name}"), value))
    });
    let rows: Vec<Vec<String>> = values
        .map(|(name, value)| {
            let number = |key: &str| {
                value[key]
                    .as_f64()
                    .map_or("–".to_owned(), |value| format!("{value:.4}"))
            };
            vec![
                sanitise::line(name.trim()).into_owned(),
                number("mean"),
                format!("{} to {}", number("low"), number("high")),
            ]
        })
        .collect();
    text.push_str(&output::table(
        &["first stage", ">mean", "95 % interval"],
        &rows,
    ));
    text.push_str(&format!(
        "{} pools with {} documents: {} labelled relevant ({} found by the first stage, {} not), {} fill\n",
        pools["count"],
        pools["slots"],
        pools["positives"],
        pools["label_found"],
        pools["label_missed"],
        pools["fill"]
    ));
    text
}
