//! The result of a method comparison, as data for tables, plots and other programs.

use crate::app::estimate_json::{difference_json, mean_json};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Comparison, Metric, MetricDistribution, Qrels, histogram};
use crate::features::methods::domain::{MethodEffort, MethodRow, MethodValues, RankingFailure};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Methods evaluated on the same queries against one truth.
#[derive(Clone, Debug)]
pub struct MethodsReport {
    /// Name of the truth.
    pub truth: String,
    /// A note if the values come from judges and not from people.
    pub against: Option<&'static str>,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
    /// The evaluated queries, by identifier.
    pub queries: Vec<QueryId>,
    /// The grades of the truth for those queries.
    pub grades: Qrels,
    /// The first one is used for the plot.
    pub metrics: Vec<Metric>,
    /// Name of the baseline.
    pub baseline: String,
    /// The first-stage order first, then by name.
    pub methods: Vec<MethodEntry>,
    /// Whether the plot's cost is in US dollars per query, and not in calls.
    pub in_usd: bool,
    /// Number of candidates that only labels have put there: the first stage did not rank them that
    /// high.
    pub from_labels: usize,
}

/// The results of one method.
#[derive(Clone, Debug)]
pub struct MethodEntry {
    pub name: String,
    pub judges: Vec<String>,
    pub effort: MethodEffort,
    /// In the order of the metrics.
    pub values: Vec<MethodValues>,
    /// Tests against the baseline, in the order of the metrics; `None` for the baseline itself, or
    /// without common queries.
    pub tests: Vec<Option<BaselineTest>>,
    /// Whether no other method is better and cheaper.
    pub on_front: bool,
    /// If its judges are those of the truth: its rank by the first metric, and its rank without
    /// their votes.
    pub self_preference: Option<(usize, Option<usize>)>,
    /// The result of each query on which it was run.
    pub rows: HashMap<QueryId, MethodRow>,
}

/// A method minus the baseline, over the queries for which both have a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaselineTest {
    pub comparison: Comparison,
    /// p-value of the randomization test, Holm-corrected over all methods for this metric.
    pub randomization_holm: Option<f64>,
}

/// Maximum corrected p-value of a significant difference.
const SIGNIFICANCE: f64 = 0.05;

impl BaselineTest {
    /// Whether the method is better (`Greater`) or worse (`Less`) than the baseline; `None` unless
    /// both the interval of the difference and the corrected p-value exclude that they are equal.
    pub fn significant(&self) -> Option<Ordering> {
        let (low, high) = self.comparison.interval?;
        (self.randomization_holm? <= SIGNIFICANCE && (low > 0.0 || high < 0.0))
            .then(|| low.total_cmp(&0.0))
    }
}

impl MethodEntry {
    /// The test of the first metric against the baseline.
    pub fn first_test(&self) -> Option<&BaselineTest> {
        self.tests.first()?.as_ref()
    }

    /// The order of a query, if it has one.
    pub fn order(&self, query: &QueryId) -> Option<&[DocId]> {
        let row = self.rows.get(query)?;
        (row.failure.is_none() && !row.order.is_empty()).then_some(row.order.as_slice())
    }

    /// The points, grades or scores behind the order of a query, if the method provides them.
    pub fn scores(&self, query: &QueryId) -> Option<&[Option<f64>]> {
        self.order(query)?;
        self.rows.get(query)?.scores.as_deref()
    }

    /// The orders of these queries.
    pub fn orders<'a>(
        &'a self,
        queries: &'a [QueryId],
    ) -> impl Iterator<Item = (&'a QueryId, &'a [DocId])> {
        queries
            .iter()
            .filter_map(|query| Some((query, self.order(query)?)))
    }

    /// Why a query has no order, if the method was run on it.
    pub fn failure(&self, query: &QueryId) -> Option<&RankingFailure> {
        self.rows.get(query)?.failure.as_ref()
    }

    /// Those of these queries that failed, and why.
    pub fn failures<'a>(
        &'a self,
        queries: &'a [QueryId],
    ) -> impl Iterator<Item = (&'a QueryId, &'a RankingFailure)> {
        queries
            .iter()
            .filter_map(|query| Some((query, self.failure(query)?)))
    }

    /// Those of these queries on which the method was not run.
    pub fn not_run<'a>(&'a self, queries: &'a [QueryId]) -> impl Iterator<Item = &'a QueryId> {
        queries
            .iter()
            .filter(|query| !self.rows.contains_key(*query))
    }

    /// Cost of the method per query, in dollars or calls; `None` if a price is unknown.
    pub fn cost(&self, in_usd: bool) -> Option<f64> {
        if in_usd {
            self.effort.usd_a_query()
        } else {
            self.effort.a_query(self.effort.calls)
        }
    }
}

impl MethodsReport {
    pub fn method(&self, name: &str) -> Option<&MethodEntry> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Number of documents in the longest ranking.
    pub fn longest_ranking(&self) -> usize {
        self.methods
            .iter()
            .flat_map(|method| method.rows.values())
            .map(|row| row.order.len())
            .max()
            .unwrap_or(0)
    }

    /// The values of the first metric by method.
    pub fn distributions(&self) -> Vec<MetricDistribution> {
        self.methods
            .iter()
            .map(|method| MetricDistribution {
                name: method.name.clone(),
                values: method
                    .values
                    .first()
                    .into_iter()
                    .flat_map(|values| values.per_query.iter().flatten().copied())
                    .collect(),
            })
            .collect()
    }

    /// Unit of the plot's cost.
    pub fn cost_unit(&self) -> &'static str {
        if self.in_usd {
            "US dollars per query"
        } else {
            "calls per query"
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "truth": self.truth,
            "against": self.against,
            "queries": self.queries.len(),
            "baseline": self.baseline,
            "cost_unit": self.cost_unit(),
            "methods": self.methods.iter().map(|method| self.method_json(method)).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    fn method_json(&self, method: &MethodEntry) -> Value {
        let mut metrics = Map::new();
        let values = method.values.iter().zip(&method.tests);
        for (metric, (values, test)) in self.metrics.iter().zip(values) {
            metrics.insert(metric.to_string(), self.values_json(values, test.as_ref()));
        }
        let effort = &method.effort;
        let preference = method
            .self_preference
            .map(|(with, without)| json!({ "rank": with, "rank_without_own_votes": without }));
        let baseline = self
            .method(&self.baseline)
            .and_then(|base| base.values.first());
        let deltas = method.values.first().zip(baseline);
        let deltas = deltas.map_or_else(Vec::new, |(mine, base)| mine.deltas(base));
        let differing: Vec<Value> = deltas
            .iter()
            .map(|of| json!({ "query": self.queries.get(of.query), "difference": of.delta }))
            .collect();
        let failures = method.failures(&self.queries).map(|(query, failure)| {
            json!({ "query": query, "failure_type": failure.kind, "message": failure.message })
        });
        let failures: Vec<Value> = failures.collect();
        json!({
            "method": method.name,
            "judges": method.judges,
            "queries": effort.queries,
            "failed": effort.failed,
            "failed_share": effort.failed_share(),
            "failures": failures,
            "not_run": method.not_run(&self.queries).collect::<Vec<_>>(),
            "metrics": metrics,
            "calls": effort.calls,
            "calls_a_query": effort.a_query(effort.calls),
            "shared_calls": effort.shared_calls,
            "failed_calls": effort.failed_calls,
            "tokens_in": effort.tokens_in,
            "tokens_out": effort.tokens_out,
            "cost_usd": (effort.priced > 0).then_some(effort.cost_usd),
            "priced_queries": effort.priced,
            "usd_a_query": effort.usd_a_query(),
            "timed_queries": effort.timed,
            "wall_ms_p50": effort.wall_p50_ms,
            "wall_ms_p95": effort.wall_p95_ms,
            "service_ms_a_query": effort.a_query(effort.service_ms),
            "repairs": effort.repairs,
            "repaired_queries": effort.repaired,
            "truncated_documents": effort.truncated,
            "max_document_chars": effort.document_chars,
            "on_front": method.on_front,
            "differing_queries": differing,
            "self_preference": preference,
        })
    }

    fn values_json(&self, values: &MethodValues, test: Option<&BaselineTest>) -> Value {
        let mut row = mean_json(values.all);
        let present = values.per_query.iter().flatten().copied();
        row["answered_only"] = mean_json(values.answered);
        row["histogram"] = json!(histogram::<10>(present));
        let by_query = self.queries.iter().zip(&values.per_query);
        let by_query: Map<String, Value> = by_query
            .map(|(query, value)| (query.to_string(), json!(value)))
            .collect();
        row["per_query"] = Value::Object(by_query);
        row["difference"] = json!(test.map(|test| {
            let mut difference = difference_json(test.comparison);
            let (better, equal, worse) = test.comparison.wins_ties_losses;
            difference["better"] = json!(better);
            difference["equal"] = json!(equal);
            difference["worse"] = json!(worse);
            difference["p_randomisation"] = json!(test.comparison.randomization_p);
            difference["p_randomisation_holm"] = json!(test.randomization_holm);
            difference
        }));
        row
    }
}
