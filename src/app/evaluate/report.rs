//! What was measured, of a ranking and of how it differs from another.

use crate::app::intervals::{difference_json, mean_json};
use crate::app::wording::{counted, first_names};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{Comparison, MeanEstimate};
use serde_json::{Map, Value, json};

/// Measures of a ranking, and of how it differs from another.
#[derive(Debug)]
pub struct EvaluationReport {
    pub queries: usize,
    pub rows: Vec<MetricRow>,
    /// What the ranking is compared with: its baseline, or itself before.
    pub other: &'static str,
    /// Whether differences are tested against chance.
    pub tested: bool,
    /// What a reader should know, a sentence each.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub struct MetricRow {
    pub name: String,
    /// Its mean over the queries.
    pub estimate: Option<MeanEstimate>,
    per_query: Vec<(QueryId, Option<f64>)>,
    /// The other ranking's mean, and the difference.
    pub against: Option<(Option<f64>, Option<Comparison>)>,
}

impl EvaluationReport {
    /// Nothing measured yet on so many queries.
    pub(super) fn new(queries: usize) -> Self {
        Self {
            queries,
            rows: Vec::new(),
            other: "baseline",
            tested: true,
            warnings: Vec::new(),
        }
    }

    /// Adds a measure; one that is there already stays as it is.
    pub(super) fn add(
        &mut self,
        name: String,
        estimate: Option<MeanEstimate>,
        per_query: Vec<(QueryId, Option<f64>)>,
    ) {
        if self.rows.iter().any(|row| row.name == name) {
            return;
        }
        self.rows.push(MetricRow {
            name,
            estimate,
            per_query,
            against: None,
        });
    }

    /// Puts the baseline's mean and the comparison with it beside the last measure.
    pub(super) fn compare(&mut self, baseline: Option<f64>, comparison: Option<Comparison>) {
        if let Some(row) = self.rows.last_mut() {
            row.against.get_or_insert((baseline, comparison));
        }
    }

    pub fn json(&self) -> Value {
        let metrics: Map<String, Value> = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.json(self.other, self.tested)))
            .collect();
        json!({ "queries": self.queries, "metrics": metrics, "warnings": self.warnings })
    }
}

impl MetricRow {
    fn json(&self, other: &str, tested: bool) -> Value {
        let per_query: Map<String, Value> = self
            .per_query
            .iter()
            .map(|(query, value)| (query.as_str().to_owned(), json!(value)))
            .collect();
        let mut row = mean_json(self.estimate);
        if let (Some((baseline, comparison)), Value::Object(row)) = (self.against, &mut row) {
            row.insert(other.to_owned(), json!(baseline));
            let difference = comparison.map(|of| difference(of, tested));
            row.insert("difference".to_owned(), json!(difference));
        }
        if let Value::Object(row) = &mut row {
            row.insert("per_query".to_owned(), Value::Object(per_query));
        }
        row
    }
}

fn difference(of: Comparison, tested: bool) -> Value {
    let (better, equal, worse) = of.wins_ties_losses;
    let mut difference = difference_json(of);
    if tested {
        difference["p_randomisation"] = json!(of.randomisation_p);
        difference["p_t_test"] = json!(of.t_test.map(|test| test.p));
        difference["t"] = json!(of.t_test.map(|test| test.t));
    }
    difference["better"] = json!(better);
    difference["equal"] = json!(equal);
    difference["worse"] = json!(worse);
    difference
}

/// `3 queries WHAT: a, b, c`.
pub(super) fn listed(queries: &[QueryId], what: &str) -> String {
    let names: Vec<&str> = queries.iter().map(QueryId::as_str).collect();
    format!(
        "{} {what}: {}",
        counted(queries.len(), "query"),
        first_names(&names)
    )
}
