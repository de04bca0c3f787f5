//! The evaluation of a ranking, and of its difference from another.

use crate::app::estimate_json::{difference_json, mean_json};
use crate::app::text_format::{counted, first_names};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{Comparison, MeanEstimate, MetricDistribution, histogram};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The evaluation of a ranking, and of its difference from another.
#[derive(Debug)]
pub struct EvaluationReport {
    pub queries: usize,
    /// Number of judged queries.
    pub judged: usize,
    /// Whether the ranking lacks some of them, although it was not declared partial.
    pub incomplete: bool,
    /// What it is evaluated against: a file, or the project's own labels.
    pub truth: String,
    /// A note if the values come from judges and not from people.
    pub against: Option<&'static str>,
    pub rows: Vec<MetricRow>,
    /// What the ranking is compared with: its baseline, or itself before.
    pub other: &'static str,
    /// Whether differences are tested for significance.
    pub tested: bool,
    /// Notes to the reader, one sentence each.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub struct MetricRow {
    pub name: String,
    /// Its mean over the queries.
    pub estimate: Option<MeanEstimate>,
    per_query: PerQuery,
    /// The other ranking's mean, and the difference.
    pub against: Option<(Option<f64>, Option<Comparison>)>,
    /// The other ranking's values.
    other_per_query: PerQuery,
}

/// A metric's value for each query; `None` if it is undefined.
pub(super) type PerQuery = Vec<(QueryId, Option<f64>)>;

impl EvaluationReport {
    /// An empty report on this many queries.
    pub(super) fn new(queries: usize) -> Self {
        Self {
            queries,
            judged: queries,
            incomplete: false,
            truth: String::new(),
            against: None,
            rows: Vec::new(),
            other: "baseline",
            tested: true,
            warnings: Vec::new(),
        }
    }

    /// Adds a metric; an existing one is kept.
    pub(super) fn add(
        &mut self,
        name: String,
        estimate: Option<MeanEstimate>,
        per_query: PerQuery,
    ) {
        if self.rows.iter().any(|row| row.name == name) {
            return;
        }
        self.rows.push(MetricRow {
            name,
            estimate,
            per_query,
            against: None,
            other_per_query: Vec::new(),
        });
    }

    /// Adds the baseline's values, their mean and the comparison to the latest metric.
    pub(super) fn compare(
        &mut self,
        baseline: Option<f64>,
        comparison: Option<Comparison>,
        per_query: PerQuery,
    ) {
        if let Some(row) = self.rows.last_mut()
            && row.against.is_none()
        {
            row.against = Some((baseline, comparison));
            row.other_per_query = per_query;
        }
    }

    /// The values of each NDCG by query, of the ranking and of the other one.
    pub fn ndcg_distributions(&self) -> Vec<MetricDistribution> {
        let of = |name: String, per_query: &PerQuery| MetricDistribution {
            name,
            values: per_query.iter().filter_map(|(_, value)| *value).collect(),
        };
        let mut found = Vec::new();
        for row in self.rows.iter().filter(|row| row.name.starts_with("ndcg")) {
            found.push(of(row.name.clone(), &row.per_query));
            if row.against.is_some() {
                let name = format!("{}, {}", row.name, self.other);
                found.push(of(name, &row.other_per_query));
            }
        }
        found
    }

    pub fn json(&self) -> Value {
        let metrics: Map<String, Value> = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.json(self.other, self.tested)))
            .collect();
        json!({
            "queries": self.queries,
            "judged_queries": self.judged,
            "truth": self.truth,
            "against": self.against,
            "metrics": metrics,
            "warnings": self.warnings,
        })
    }
}

impl MetricRow {
    fn json(&self, other: &str, tested: bool) -> Value {
        let mut row = mean_json(self.estimate);
        if let (Some((baseline, comparison)), Value::Object(row)) = (self.against, &mut row) {
            row.insert(other.to_owned(), json!(baseline));
            let difference = comparison.map(|of| {
                let mut difference = difference(of, tested);
                difference["per_query"] = by_query(&self.differences());
                difference
            });
            row.insert("difference".to_owned(), json!(difference));
            row.insert(
                format!("{other}_per_query"),
                by_query(&self.other_per_query),
            );
        }
        let per_query = by_query(&self.per_query);
        if let Value::Object(row) = &mut row {
            row.insert("per_query".to_owned(), per_query);
            if self.name.starts_with("ndcg") {
                let values = self.per_query.iter().filter_map(|(_, value)| *value);
                row.insert("histogram".to_owned(), json!(histogram::<10>(values)));
            }
        }
        row
    }

    /// This ranking's value minus the other's, for the queries where both are defined.
    fn differences(&self) -> PerQuery {
        let theirs: HashMap<&QueryId, f64> = self
            .other_per_query
            .iter()
            .filter_map(|(query, value)| Some((query, (*value)?)))
            .collect();
        let both = self.per_query.iter().filter_map(|(query, mine)| {
            let difference = (*mine)? - theirs.get(query)?;
            Some((query.clone(), Some(difference)))
        });
        both.collect()
    }
}

fn by_query(values: &PerQuery) -> Value {
    let values = values.iter();
    let values = values.map(|(query, value)| (query.as_str().to_owned(), json!(value)));
    Value::Object(values.collect())
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
