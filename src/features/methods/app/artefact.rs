//! A comparison in the format of ranksmith's `compare_reranking`.

use super::report::{MethodEntry, MethodsReport};
use crate::features::methods::domain::MethodValues;
use crate::features::methods::domain::reranking::{Method, MethodKind};
use serde_json::{Map, Value, json};

impl MethodsReport {
    /// The comparison in the format of `compare_reranking`'s file, plus additional fields.
    pub fn artefact(&self, depth: usize) -> Value {
        let metric_names: Vec<String> = self.metrics.iter().map(ToString::to_string).collect();
        let mut aggregate = Vec::new();
        let mut per_query = Vec::new();
        for method in &self.methods {
            let means = method
                .values
                .iter()
                .map(|values| json!(values.all.map(|of| of.mean)));
            let means: Map<String, Value> = metric_names.iter().cloned().zip(means).collect();
            aggregate.push(json!({
                "algorithm": method.name,
                "case_count": method.effort.queries,
                "metrics": means,
                "failed": method.effort.failed,
                "llm_calls": method.effort.calls,
                "usd_a_query": method.effort.usd_a_query(),
                "latency_ms_p50": method.effort.wall_p50_ms,
                "latency_ms_p95": method.effort.wall_p95_ms,
            }));
            for (at, query) in self.queries.iter().enumerate() {
                let value =
                    |values: &MethodValues| json!(values.per_query.get(at).copied().flatten());
                let found = method.values.iter().map(value);
                let found: Map<String, Value> = metric_names.iter().cloned().zip(found).collect();
                per_query.push(json!({
                    "fixture_id": query,
                    "query_id": query,
                    "algorithm": method.name,
                    "ranked_ids": method.orders.get(query),
                    "scores": method.scores.get(query),
                    "metrics": found,
                }));
            }
        }
        let most_calls = self.methods.iter().map(|method| self.most_calls(method));
        let names = self.methods.iter().map(|method| method.name.clone());
        let most_calls: Map<String, Value> =
            names.zip(most_calls.map(|calls| json!(calls))).collect();
        let kinds = self.methods.iter();
        let kinds: Vec<MethodKind> = kinds
            .filter_map(|method| Some(method_of(method)?.kind))
            .collect();
        let first = |of: fn(&MethodKind) -> Option<usize>| kinds.iter().find_map(of);
        json!({
            "schema_version": 1,
            "benchmark_type": "reranking_with_first_stage_candidates",
            "dataset": "project",
            "truth": self.truth,
            "algorithm": self.methods.iter().map(|method| &method.name).collect::<Vec<_>>(),
            "top_k": depth,
            "case_count": self.queries.len(),
            "baseline": self.baseline,
            "call_estimates": most_calls,
            "candidate_count": self.candidates().max(),
            "candidate_strategy": "project_pools",
            "candidates": null,
            "cache_dir": null,
            "fixture": null,
            "window_size": first(|kind| match kind {
                MethodKind::RankGpt { window, .. } => Some(*window),
                _ => None,
            }),
            "stride": first(|kind| match kind {
                MethodKind::RankGpt { stride, .. } => Some(*stride),
                _ => None,
            }),
            "passes": first(|kind| match kind {
                MethodKind::Prp { passes } => Some(*passes),
                _ => None,
            }),
            "seed": null,
            "aggregate": aggregate,
            "per_query": per_query,
        })
    }

    /// Number of candidates of each query.
    fn candidates(&self) -> impl Iterator<Item = usize> {
        self.queries.iter().filter_map(|query| {
            let orders = self.methods.iter();
            orders
                .filter_map(|method| Some(method.orders.get(query)?.len()))
                .max()
        })
    }

    /// Maximum number of calls that the method can need for all queries, each asked once; `None`
    /// for an unknown method.
    fn most_calls(&self, entry: &MethodEntry) -> Option<usize> {
        let method = method_of(entry)?;
        let most = |count| match method.kind {
            // An existing order needs no calls; a service is sent as many batches as it needs.
            MethodKind::Named(_) => None,
            _ => Some(method.most_calls(method.looks_at(count), entry.judges.len())),
        };
        self.candidates().map(most).sum()
    }
}

/// The method of an entry, whose name ends with its judges after a slash.
fn method_of(entry: &MethodEntry) -> Option<Method> {
    let judges = format!("/{}", entry.judges.join("+"));
    let name = entry.name.strip_suffix(&judges).unwrap_or(&entry.name);
    name.parse().ok()
}
