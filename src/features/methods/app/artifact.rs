//! A comparison in the format of ranksmith's `compare_reranking`.

use super::report::{MethodEntry, MethodsReport};
use crate::domain::corpus::QueryId;
use crate::features::methods::domain::reranking::{Method, MethodKind};
use crate::features::methods::domain::{FailureKind, MethodRow, MethodValues};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

impl MethodsReport {
    /// The comparison in the format of `compare_reranking`'s file, plus additional fields.
    pub fn artifact(&self, depth: usize) -> Value {
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
                "not_run": method.not_run(&self.queries).count(),
                "failure_type_counts": failure_counts(method, &self.queries),
                "llm_calls": method.effort.calls,
                "shared_calls": method.effort.shared_calls,
                "usd_a_query": method.effort.usd_a_query(),
                "timed_queries": method.effort.timed,
                "latency_ms_p50": method.effort.wall_p50_ms,
                "latency_ms_p95": method.effort.wall_p95_ms,
                "truncated_documents": method.effort.truncated,
                "max_document_chars": method.effort.document_chars,
            }));
            for (at, query) in self.queries.iter().enumerate() {
                let row = method.rows.get(query);
                // A failed query counts as 0, as in the aggregate.
                let value = |values: &MethodValues| {
                    let value = values.per_query.get(at).copied().flatten();
                    json!(row.map(|_| value.unwrap_or(0.0)))
                };
                let found = method.values.iter().map(value);
                let found: Map<String, Value> = metric_names.iter().cloned().zip(found).collect();
                let mut entry = json!({
                    "fixture_id": query,
                    "query_id": query,
                    "algorithm": method.name,
                    "ranked_ids": method.order(query),
                    "scores": method.scores(query),
                    "metrics": found,
                });
                add_outcome(&mut entry, row);
                per_query.push(entry);
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
            "benchmark_type": match self.from_labels {
                0 => "reranking_with_first_stage_candidates",
                _ => "diagnostic_not_retrieval",
            },
            "candidates_from_labels": self.from_labels,
            "notes": self.notes,
            "dataset": "project",
            "truth": self.truth,
            "algorithm": self.methods.iter().map(|method| &method.name).collect::<Vec<_>>(),
            "top_k": depth,
            "case_count": self.queries.len(),
            "baseline": self.baseline,
            "call_estimates": most_calls,
            "candidate_count": self.candidates().max(),
            // The results do not record where their candidates came from.
            "candidate_strategy": null,
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
                .filter_map(|method| Some(method.order(query)?.len()))
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

/// Number of failed queries by kind.
fn failure_counts(method: &MethodEntry, queries: &[QueryId]) -> BTreeMap<FailureKind, usize> {
    let mut counts = BTreeMap::new();
    for (_, failure) in method.failures(queries) {
        *counts.entry(failure.kind).or_default() += 1;
    }
    counts
}

/// Adds how a query ended and what it took, with the names of ranksmith's results per query. A
/// query on which the method was not run has neither.
fn add_outcome(entry: &mut Value, row: Option<&MethodRow>) {
    let failure = row.and_then(|row| row.failure.as_ref());
    let asked = row.filter(|row| row.calls > 0);
    entry["status"] = json!(match (row, failure) {
        (None, _) => "not_run",
        (Some(_), Some(_)) => "failed",
        (Some(_), None) => "ranked",
    });
    entry["valid"] = json!(row.map(|row| row.failure.is_none()));
    entry["failure_type"] = json!(failure.map(|failure| failure.kind));
    entry["error"] = json!(failure.map(|failure| &failure.message));
    entry["latency_ms"] = json!(row.and_then(|row| row.wall_ms));
    entry["usage"] = json!(asked.map(|row| json!({
        "prompt_tokens": row.tokens_in,
        "completion_tokens": row.tokens_out,
        "total_tokens": row.tokens_in + row.tokens_out,
    })));
    entry["llm_calls"] = json!(row.map(|row| row.calls));
    entry["shared_calls"] = json!(row.and_then(|row| row.shared_calls));
    entry["failed_calls"] = json!(row.map(|row| row.failed_calls));
    entry["cost"] = json!(row.and_then(|row| row.cost_usd));
    entry["repairs"] = json!(row.map(|row| row.repairs));
    entry["truncated_documents"] = json!(row.and_then(|row| row.cut.as_ref()));
    entry["max_document_chars"] = json!(row.and_then(|row| row.document_chars));
}

/// The method of an entry, whose name ends with its judges after a slash.
fn method_of(entry: &MethodEntry) -> Option<Method> {
    let judges = format!("/{}", entry.judges.join("+"));
    let name = entry.name.strip_suffix(&judges).unwrap_or(&entry.name);
    name.parse().ok()
}
