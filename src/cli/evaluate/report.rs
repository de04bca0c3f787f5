//! What was measured, as a table or as JSON.

use crate::app::wording::counted;
use crate::cli::command::{CommandResult};
use crate::cli::{output};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{Comparison, MeanEstimate};
use serde_json::{Map, Value, json};

/// Measures of a ranking, and of how it differs from another.
pub(super) struct EvaluationReport {
    queries: usize,
    rows: Vec<MetricRow>,
    /// What the ranking is compared with: its baseline, or itself before.
    pub(super) other: &'static str,
    /// What a reader should know, a sentence each.
    pub(super) warnings: Vec<String>,
}

struct MetricRow {
    name: String,
    estimate: Option<MeanEstimate>,
    per_query: Vec<(QueryId, Option<f64>)>,
    against: Option<(Option<f64>, Option<Comparison>)>,
}

impl EvaluationReport {
    /// Nothing measured yet on so many queries.
    pub(super) fn new(queries: usize) -> Self {
        Self {
            queries,
            rows: Vec::new(),
            other: "baseline",
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

    pub(super) fn print(&self, json: bool) -> CommandResult {
        if json {
            return output::json(&self.json());
        }
        for warning in &self.warnings {
            output::message(&format!("note: {warning}"));
        }
        let compared = self.rows.iter().any(|row| row.against.is_some());
        let mut text = format!("{}\n", counted(self.queries, "query"));
        let other = format!(">{}", self.other);
        let mut header = vec!["metric", ">mean", "95 % interval"];
        if compared {
            header.extend([
                &other,
                ">difference",
                "95 % interval",
                ">p (randomisation)",
                ">p (t-test)",
                "better/equal/worse",
            ]);
        }
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.cells(compared)).collect();
        text.push_str(&output::table(&header, &rows));
        output::text(&text)
    }

    fn json(&self) -> Value {
        let metrics: Map<String, Value> = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.json(self.other)))
            .collect();
        json!({ "queries": self.queries, "metrics": metrics, "warnings": self.warnings })
    }
}

impl MetricRow {
    fn cells(&self, compared: bool) -> Vec<String> {
        let interval = self.estimate.and_then(|estimate| estimate.interval);
        let mut cells = vec![
            self.name.clone(),
            number(self.estimate.map(|estimate| estimate.mean)),
            range(interval),
        ];
        if compared {
            let (baseline, comparison) = self.against.unwrap_or_default();
            cells.push(number(baseline));
            cells.push(
                comparison.map_or("–".to_owned(), |of| format!("{:+.4}", of.mean_difference)),
            );
            cells.push(range(comparison.and_then(|of| of.interval)));
            cells.push(number(comparison.map(|of| of.randomisation_p)));
            cells.push(number(comparison.and_then(|of| Some(of.t_test?.p))));
            cells.push(comparison.map_or("–".to_owned(), |of| {
                let (better, equal, worse) = of.wins_ties_losses;
                format!("{better}/{equal}/{worse}")
            }));
        }
        cells
    }

    fn json(&self, other: &str) -> Value {
        let interval = self.estimate.and_then(|estimate| estimate.interval);
        let per_query: Map<String, Value> = self
            .per_query
            .iter()
            .map(|(query, value)| (query.as_str().to_owned(), json!(value)))
            .collect();
        let mut row = json!({
            "mean": self.estimate.map(|estimate| estimate.mean),
            "low": interval.map(|(low, _)| low),
            "high": interval.map(|(_, high)| high),
        });
        if let (Some((baseline, comparison)), Value::Object(row)) = (self.against, &mut row) {
            row.insert(other.to_owned(), json!(baseline));
            row.insert("difference".to_owned(), json!(comparison.map(difference)));
        }
        if let Value::Object(row) = &mut row {
            row.insert("per_query".to_owned(), Value::Object(per_query));
        }
        row
    }
}

fn difference(of: Comparison) -> Value {
    let (better, equal, worse) = of.wins_ties_losses;
    json!({
        "queries": of.n,
        "mean": of.mean_difference,
        "low": of.interval.map(|(low, _)| low),
        "high": of.interval.map(|(_, high)| high),
        "p_randomisation": of.randomisation_p,
        "p_t_test": of.t_test.map(|test| test.p),
        "t": of.t_test.map(|test| test.t),
        "better": better,
        "equal": equal,
        "worse": worse,
    })
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.4}"))
}

fn range(interval: Option<(f64, f64)>) -> String {
    interval.map_or("–".to_owned(), |(low, high)| {
        format!("{low:.4} to {high:.4}")
    })
}
