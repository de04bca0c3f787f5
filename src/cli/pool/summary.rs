//! What `pool build` made.

use super::super::{Failure, output};
use super::stage::FirstStage;
use super::{Build, Built};
use crate::domain::metrics::{Measure, Metric, Qrels, Resampling, Rules, evaluate};
use crate::domain::retrieval::{Layout, Source};
use crate::domain::sanitise;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Build {
    /// What was built, and how good the first stage is.
    pub(super) fn summary(
        &self,
        built: &Built,
        qrels: &Qrels,
        stage: &FirstStage,
        layout: Layout,
    ) -> Result<Value, Failure> {
        let depth = self.depth as usize;
        let rules = Rules {
            relevant_from: self.level,
            ..Rules::default()
        };
        let metrics = [Measure::Recall, Measure::Mrr]
            .map(|measure| Metric::new(measure, Some(depth)))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let evaluation = evaluate(qrels, &built.run, &metrics, &rules)?;
        let mut first_stage = serde_json::Map::new();
        for metric in metrics {
            let estimate = evaluation.estimate(metric, &Resampling::default());
            let interval = estimate.and_then(|estimate| estimate.interval);
            first_stage.insert(
                metric.to_string(),
                json!({
                    "mean": estimate.map(|estimate| estimate.mean),
                    "low": interval.map(|(low, _)| low),
                    "high": interval.map(|(_, high)| high),
                }),
            );
        }
        let mut sources: BTreeMap<Source, usize> = BTreeMap::new();
        for slot in built.pools.iter().flat_map(|pool| &pool.slots) {
            *sources.entry(slot.source()).or_default() += 1;
        }
        let of = |source| sources.get(&source).copied().unwrap_or(0);
        let (found, missed, fill) = (
            of(Source::LabelFound),
            of(Source::LabelMissed),
            of(Source::Fill),
        );
        let short = built
            .pools
            .iter()
            .filter(|pool| pool.slots.len() < depth)
            .count();
        Ok(json!({
            "queries": evaluation.queries.len(),
            "documents": stage.documents(),
            "first_stage": first_stage,
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
        }))
    }
}

/// The summary for people.
pub(super) fn words(summary: &Value) -> String {
    let pools = &summary["pools"];
    let mut text = format!(
        "{} documents, {} queries\n",
        summary["documents"], summary["queries"]
    );
    let rows: Vec<Vec<String>> = summary["first_stage"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let number = |key: &str| {
                value[key]
                    .as_f64()
                    .map_or("–".to_owned(), |value| format!("{value:.4}"))
            };
            vec![
                sanitise::line(name).into_owned(),
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
