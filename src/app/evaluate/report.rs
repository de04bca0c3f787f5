//! The evaluation of a ranking, and of its difference from another.

use crate::app::error::AppError;
use crate::app::estimate_json::{difference_json, mean_json};
use crate::app::text_format::{counted, first_names};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{
    Comparison, MeanEstimate, MetricDistribution, PairedVerdict, SharedOrigin, histogram, holm,
};
use crate::formats::csv_cell::SafeCsv;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::Write;

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
    /// The name of the baseline's file.
    pub other_name: String,
    /// Whether differences are tested for significance.
    pub tested: bool,
    /// The largest difference that counts as equal, if equivalence is tested.
    pub margin: Option<f64>,
    /// What the ranking and, if there is one, its baseline have in common with the scores that they
    /// are evaluated against.
    pub shared: Vec<(String, SharedOrigin)>,
    /// Notes to the reader, one sentence each.
    pub warnings: Vec<String>,
    /// By query, the number of relevant documents, and of those among the first ten of the ranking;
    /// empty unless requested.
    pub(super) found: Vec<(QueryId, [usize; 2])>,
}

#[derive(Debug)]
pub struct MetricRow {
    pub name: String,
    /// Its mean over the queries.
    pub estimate: Option<MeanEstimate>,
    pub(super) per_query: PerQuery,
    /// The other ranking's mean, and the difference.
    pub against: Option<(Option<f64>, Option<Comparison>)>,
    /// The other ranking's values.
    other_per_query: PerQuery,
    /// The p-values corrected for several baselines; `None` for a single one.
    corrected: Option<CorrectedP>,
}

/// p-values of one metric, corrected by Holm's method over all baselines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedP {
    pub randomization: Option<f64>,
    pub equivalence: Option<f64>,
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
            other_name: String::new(),
            tested: true,
            margin: None,
            shared: Vec::new(),
            warnings: Vec::new(),
            found: Vec::new(),
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
            corrected: None,
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

    /// Corrects the p-values of each metric for the number of baselines, in reports on one ranking.
    pub fn correct(reports: &mut [Self]) {
        let metrics = reports.first().map_or(0, |report| report.rows.len());
        for metric in 0..metrics {
            let p = |of: fn(&MetricRow, Option<f64>) -> Option<f64>| {
                let rows = reports.iter().map(|report| {
                    let row = report.rows.get(metric)?;
                    of(row, report.margin)
                });
                holm(&rows.collect::<Vec<_>>())
            };
            let randomization = p(|row, _| Some(row.comparison()?.randomization_p));
            let equivalence = p(MetricRow::equivalence_p);
            let corrected = randomization.into_iter().zip(equivalence);
            for (report, (randomization, equivalence)) in reports.iter_mut().zip(corrected) {
                if let Some(row) = report.rows.get_mut(metric) {
                    row.corrected = Some(CorrectedP {
                        randomization,
                        equivalence,
                    });
                }
            }
        }
    }

    /// Whether the ranking was made from the scores that it is evaluated against.
    pub fn is_from_same_scores(&self) -> bool {
        let own = self.shared.first();
        own.is_some_and(|(_, shared)| shared.is_from_same_scores())
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

    /// Writes a row per query: the number of relevant documents and of those among the first ten,
    /// then the metrics, and those of the other ranking.
    pub fn write_per_query(&self, out: &mut dyn Write) -> Result<(), AppError> {
        let mut header = vec!["query_id".to_owned(), "n_rel".to_owned()];
        header.push("n_rel_retrieved".to_owned());
        header.extend(self.rows.iter().map(|row| column_name(&row.name)));
        let compared = || self.rows.iter().filter(|row| row.against.is_some());
        header.extend(compared().map(|row| format!("{}_{}", self.other, column_name(&row.name))));
        let mine = self.rows.iter().map(|row| by_name(&row.per_query));
        let others = compared().map(|row| by_name(&row.other_per_query));
        let columns: Vec<HashMap<&QueryId, f64>> = mine.chain(others).collect();
        let mut queries: Vec<&(QueryId, [usize; 2])> = self.found.iter().collect();
        queries.sort_by_cached_key(|(query, _)| sort_key(query));
        let mut csv = SafeCsv::new(out);
        csv.row(header)?;
        for (query, counts) in queries {
            let mut cells = vec![query.as_str().to_owned()];
            cells.extend(counts.map(|count| count.to_string()));
            let values = columns.iter().map(|values| values.get(query));
            cells.extend(values.map(|value| cell(value.copied())));
            csv.row(cells)?;
        }
        csv.finish()?;
        Ok(())
    }

    /// Writes one row: the mean of each metric, also of the other ranking, and the number of
    /// queries.
    pub fn write_summary(&self, out: &mut dyn Write) -> Result<(), AppError> {
        let compared = || self.rows.iter().filter(|row| row.against.is_some());
        let name = |row: &MetricRow| format!("avg_{}", column_name(&row.name));
        let mut header: Vec<String> = self.rows.iter().map(name).collect();
        header.extend(compared().map(|row| format!("{}_{}", self.other, name(row))));
        header.push("n_queries".to_owned());
        let means = self.rows.iter().map(|row| row.estimate.map(|of| of.mean));
        let others = compared().map(|row| row.against.and_then(|(mean, _)| mean));
        let mut cells: Vec<String> = means.chain(others).map(cell).collect();
        cells.push(self.queries.to_string());
        let mut csv = SafeCsv::new(out);
        csv.row(header)?;
        csv.row(cells)?;
        csv.finish()?;
        Ok(())
    }

    pub fn json(&self) -> Value {
        let metrics: Map<String, Value> = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.json(self)))
            .collect();
        let shared = self.shared.iter().map(|(name, shared)| {
            let mut of = json!(shared);
            of["ranking"] = json!(name);
            of["from_same_scores"] = json!(shared.is_from_same_scores());
            of
        });
        json!({
            "queries": self.queries,
            "judged_queries": self.judged,
            "truth": self.truth,
            "against": self.against,
            "metrics": metrics,
            "shared_with_truth": shared.collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }
}

impl MetricRow {
    fn comparison(&self) -> Option<Comparison> {
        self.against?.1
    }

    /// The p-value of the test that the difference is within the margin.
    pub fn equivalence_p(&self, margin: Option<f64>) -> Option<f64> {
        Some(self.comparison()?.equivalence(margin?)?.p)
    }

    /// The p-values after the correction for several baselines, if there are several.
    pub fn corrected(&self) -> Option<CorrectedP> {
        self.corrected
    }

    /// Whether the ranking is better, worse or equal. With a margin, rankings with the same value on
    /// every query are equal.
    pub fn verdict(&self, margin: Option<f64>) -> Option<PairedVerdict> {
        let comparison = self.comparison()?;
        let plain = CorrectedP {
            randomization: Some(comparison.randomization_p),
            equivalence: self.equivalence_p(margin),
        };
        let p = self.corrected.unwrap_or(plain);
        if margin.is_some() && matches!(comparison.wins_ties_losses, (0, _, 0)) {
            return Some(PairedVerdict::Equal);
        }
        Some(PairedVerdict::of(
            comparison.mean_difference,
            p.randomization?,
            p.equivalence,
        ))
    }

    /// The test of equivalence as JSON; null without a margin.
    fn equivalence_json(&self, margin: Option<f64>) -> Value {
        let Some(margin) = margin else {
            return Value::Null;
        };
        let found = self.comparison().and_then(|of| of.equivalence(margin));
        json!({
            "margin": margin,
            "p": found.map(|of| of.p),
            "p_holm": self.corrected.map(|of| of.equivalence),
            "low_90": found.map(|of| of.interval.0),
            "high_90": found.map(|of| of.interval.1),
        })
    }

    fn json(&self, report: &EvaluationReport) -> Value {
        let (other, tested) = (report.other, report.tested);
        let mut row = mean_json(self.estimate);
        if let (Some((baseline, comparison)), Value::Object(row)) = (self.against, &mut row) {
            row.insert(other.to_owned(), json!(baseline));
            let difference = comparison.map(|of| {
                let mut difference = difference(of, tested);
                difference["per_query"] = by_query(&self.differences());
                if tested {
                    let corrected = self.corrected.map(|of| of.randomization);
                    difference["p_randomisation_holm"] = json!(corrected);
                    difference["tost"] = self.equivalence_json(report.margin);
                    difference["verdict"] = json!(self.verdict(report.margin));
                }
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
        let pairs = self.pairs().into_iter();
        pairs
            .map(|(query, mine, other)| (query.clone(), Some(mine - other)))
            .collect()
    }

    /// The values of this ranking and of the other one, for the queries where both are defined.
    pub(super) fn pairs(&self) -> Vec<(&QueryId, f64, f64)> {
        let theirs = by_name(&self.other_per_query);
        let mine = self.per_query.iter();
        mine.filter_map(|(query, mine)| Some((query, (*mine)?, *theirs.get(query)?)))
            .collect()
    }
}

/// The name of a metric as a column: `recall_at_10`.
fn column_name(metric: &str) -> String {
    metric.replace('@', "_at_")
}

fn by_name(values: &PerQuery) -> HashMap<&QueryId, f64> {
    let values = values.iter();
    values
        .filter_map(|(query, value)| Some((query, (*value)?)))
        .collect()
}

/// A number as DuckDB writes it; empty if it is undefined.
fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format!("{value:?}"))
}

/// Sorts queries by number, and the others after them by name.
fn sort_key(query: &QueryId) -> (u64, QueryId) {
    let number = query.as_str().parse::<u64>();
    (number.unwrap_or(u64::MAX), query.clone())
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
        difference["p_randomisation"] = json!(of.randomization_p);
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
