//! The metrics of an evaluation by a field of the queries.

use super::report::{EvaluationReport, MetricRow};
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::estimate_json::{difference_json, mean_json};
use crate::app::input_files::{display_name, open};
use crate::app::text_format::{counted, first_names, p_value};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{Comparison, MetricSlice, Resampling, compare, holm, metric_slices};
use crate::domain::named::did_you_mean;
use crate::domain::number_words::{fixed, signed};
use crate::domain::sanitize;
use crate::formats::query_fields::read_query_fields;
use crate::judge::metadata::{query_field, query_field_names};
use crate::store::Store;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The slice of queries without a value.
pub const NO_VALUE: &str = "(no value)";

/// The value of a field by query; queries without one are missing.
#[derive(Clone, Debug)]
pub struct SliceField {
    pub name: String,
    values: BTreeMap<QueryId, String>,
}

impl SliceField {
    /// The field in a table or in JSON lines.
    ///
    /// # Errors
    /// The file cannot be read, or no query of it has the field.
    pub fn of_file(path: &Path, name: &str) -> Result<Self, AppError> {
        let found = read_query_fields(open(path)?, &display_name(path), name);
        let mut problems = FileProblems::of(path);
        found.problems.into_iter().for_each(|of| problems.add(of));
        problems.refuse_any()?;
        if found.values.is_empty() {
            let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
            return Err(lacks(&display_name(path), name, &names));
        }
        let (name, values) = (name.to_owned(), found.values);
        Ok(Self { name, values })
    }

    /// The field with these values.
    #[cfg(test)]
    pub fn of_values(name: &str, values: &[(&str, &str)]) -> Self {
        let values = values.iter();
        Self {
            name: name.to_owned(),
            values: values
                .map(|(query, value)| (QueryId::new(*query), (*value).to_owned()))
                .collect(),
        }
    }

    /// The value of a query.
    pub fn value(&self, query: &QueryId) -> Option<&str> {
        self.values.get(query).map(String::as_str)
    }

    /// Refuses queries of which none has a value; `count` is their number.
    ///
    /// # Errors
    /// None of them has a value.
    pub fn check_known<'a>(
        &self,
        mut queries: impl Iterator<Item = &'a QueryId>,
        count: usize,
    ) -> Result<(), AppError> {
        if queries.any(|query| self.values.contains_key(query)) {
            return Ok(());
        }
        let names = self.values.keys().map(QueryId::as_str);
        Err(invalid!(
            "--slice {}: none of the {} has a value; the field is known for {}",
            sanitize::line(&self.name),
            counted(count, "measured query"),
            first_names(&names.collect::<Vec<_>>())
        ))
    }

    /// The field in the metadata of the project's queries.
    ///
    /// # Errors
    /// No query has it.
    pub fn of_project(store: &Store, name: &str) -> Result<Self, AppError> {
        let queries = store.read_blocking(|db| db.query_extras())?;
        let mut values = BTreeMap::new();
        let mut names = BTreeSet::new();
        for (query, extra) in queries {
            names.extend(query_field_names(&extra));
            if let Some(value) = query_field(&extra, name) {
                values.insert(query, value);
            }
        }
        if values.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let known = match names.as_slice() {
                [] => "they have no fields".to_owned(),
                names => format!("their fields are {}", first_names(names)),
            };
            return Err(invalid!(
                "--slice: no query of the project has a field {:?}; {known}{}; --tags names a \
                 table with query_id and this field",
                sanitize::line(name),
                did_you_mean(name, &names)
            ));
        }
        let name = name.to_owned();
        Ok(Self { name, values })
    }
}

fn lacks(file: &str, name: &str, others: &[&str]) -> AppError {
    let known = match others {
        [] => "it has no other field".to_owned(),
        others => format!("its fields are {}", first_names(others)),
    };
    invalid!(
        "{file}: no query has a field {:?}; {known}{}",
        sanitize::line(name),
        did_you_mean(name, others)
    )
}

/// A metric by slice.
#[derive(Debug)]
pub struct SlicedMetric {
    pub metric: String,
    pub rows: Vec<SlicedRow>,
}

#[derive(Debug)]
pub struct SlicedRow {
    pub slice: MetricSlice,
    /// The difference from the other ranking within the slice, and its p-value with Holm's
    /// correction over the slices.
    pub comparison: Option<(Comparison, Option<f64>)>,
}

impl SlicedRow {
    /// The name on screen.
    pub fn name(&self) -> &str {
        self.slice.slice.as_deref().unwrap_or(NO_VALUE)
    }

    fn json(&self) -> Value {
        let mut row = mean_json(Some(self.slice.estimate));
        row["slice"] = json!(self.slice.slice);
        row["queries"] = json!(self.slice.estimate.n);
        row["against_other_queries"] = json!(self.slice.rest);
        if let Some((comparison, p_holm)) = self.comparison {
            let mut difference = difference_json(comparison);
            difference["p_randomisation"] = json!(comparison.randomization_p);
            difference["p_randomisation_holm"] = json!(p_holm);
            row["difference"] = difference;
        }
        row
    }
}

impl SlicedMetric {
    fn of(row: &MetricRow, field: &SliceField) -> Self {
        let values = row.per_query.iter();
        let values: Vec<(&QueryId, f64)> = values
            .filter_map(|(query, value)| Some((query, (*value)?)))
            .collect();
        Self::of_values(&row.name, &values, &row.pairs(), field)
    }

    /// A metric from its values by query, and the pairs of values of both rankings if it is compared
    /// with another one.
    pub fn of_values(
        metric: &str,
        values: &[(&QueryId, f64)],
        pairs: &[(&QueryId, f64, f64)],
        field: &SliceField,
    ) -> Self {
        let named = values.iter().map(|(query, value)| {
            let slice = field.values.get(*query);
            (slice.map(String::as_str), *value)
        });
        let slices = metric_slices(&named.collect::<Vec<_>>());
        let comparisons = slices.iter().map(|slice| {
            let of_slice = pairs
                .iter()
                .filter(|(query, ..)| field.values.get(*query) == slice.slice.as_ref());
            let (mine, theirs): (Vec<f64>, Vec<f64>) =
                of_slice.map(|(_, mine, theirs)| (*mine, *theirs)).unzip();
            compare(&mine, &theirs, &Resampling::of(mine.len()))
        });
        let comparisons: Vec<Option<Comparison>> = comparisons.collect();
        let p: Vec<Option<f64>> = comparisons
            .iter()
            .map(|of| Some((*of)?.randomization_p))
            .collect();
        let compared = comparisons.into_iter().zip(holm(&p));
        let rows = slices.into_iter().zip(compared);
        Self {
            metric: metric.to_owned(),
            rows: rows
                .map(|(slice, (comparison, p))| SlicedRow {
                    slice,
                    comparison: comparison.map(|of| (of, p)),
                })
                .collect(),
        }
    }

    /// Whether it is compared with another ranking.
    pub fn is_compared(&self) -> bool {
        self.rows.iter().any(|row| row.comparison.is_some())
    }

    /// The slices with the lowest mean, or with the worst difference from the other ranking, and
    /// that value.
    fn worst(&self) -> (Vec<&SlicedRow>, f64) {
        let is_compared = self.is_compared();
        let value = |row: &SlicedRow| match row.comparison {
            Some((comparison, _)) => comparison.mean_difference,
            // A slice that the other ranking lacks.
            None if is_compared => f64::INFINITY,
            None => row.slice.estimate.mean,
        };
        let lowest = self.rows.iter().map(value).fold(f64::INFINITY, f64::min);
        let is_lowest = |row: &&SlicedRow| value(row) <= lowest;
        (self.rows.iter().filter(is_lowest).collect(), lowest)
    }

    /// The rows; `worst` marks the slice or slices with the worst value.
    pub fn json(&self) -> Value {
        let (worst, _) = self.worst();
        let rows = self.rows.iter().map(|row| {
            let mut json = row.json();
            json["worst"] =
                json!(self.rows.len() > 1 && worst.iter().any(|of| std::ptr::eq(*of, row)));
            json
        });
        rows.collect()
    }

    /// Names the worst slice, and says whether it is shown to be worse.
    pub fn sentence(&self, other: &str) -> Option<String> {
        const ERROR: f64 = 0.05;
        if self.rows.len() < 2 {
            return None;
        }
        let (metric, other) = (sanitize::line(&self.metric), sanitize::line(other));
        let (worst, value) = self.worst();
        let [worst] = worst.as_slice() else {
            let names = worst.iter().map(|row| sanitize::line(row.name()));
            let names: Vec<_> = names.collect();
            let (words, number) = if self.is_compared() {
                let words = format!("Worst slices by {metric} against the {other}");
                (words, signed(value, 4))
            } else {
                (format!("Lowest {metric}"), fixed(value, 4))
            };
            return Some(format!(
                "{}: {}, in {}: {}.",
                words,
                number,
                counted(names.len(), "slice"),
                names.join(", ")
            ));
        };
        let name = sanitize::line(worst.name()).into_owned();
        if let Some((comparison, p)) = worst.comparison {
            let queries = counted(comparison.n, "query");
            let difference = signed(comparison.mean_difference, 4);
            let shown = match p {
                Some(p) if p <= ERROR && comparison.mean_difference < 0.0 => {
                    format!("worse (Holm {})", p_value(p))
                }
                _ => "not shown to be worse".to_owned(),
            };
            let without = self.rows.iter().filter(|row| row.comparison.is_none());
            let without: Vec<_> = without.map(|row| sanitize::line(row.name())).collect();
            let left_out = match without.as_slice() {
                [] => String::new(),
                names => format!(" Without queries in common: {}.", names.join(", ")),
            };
            return Some(format!(
                "Worst slice by {metric} against the {other}: {name} ({queries}), {difference}, \
                 {shown}.{left_out}"
            ));
        }
        let queries = counted(worst.slice.estimate.n, "query");
        let mean = fixed(worst.slice.estimate.mean, 4);
        let shown = match worst.slice.rest {
            Some(rest) if rest.p_holm <= ERROR && rest.difference < 0.0 => format!(
                "{} from the other queries (Holm {})",
                signed(rest.difference, 4),
                p_value(rest.p_holm)
            ),
            _ => "not shown to differ from the other queries".to_owned(),
        };
        Some(format!(
            "Lowest {metric}: {name} ({queries}), {mean}, {shown}."
        ))
    }
}

/// The metrics of an evaluation by the values of a field.
#[derive(Debug)]
pub struct SlicedReport {
    pub field: String,
    pub metrics: Vec<SlicedMetric>,
}

impl SlicedReport {
    /// # Errors
    /// No query of the evaluation has a value of the field.
    pub fn of(report: &EvaluationReport, field: &SliceField) -> Result<Self, AppError> {
        let queries = report.rows.iter().flat_map(|row| &row.per_query);
        let queries = queries.map(|(query, _)| query);
        field.check_known(queries, report.queries)?;
        let metrics = report.rows.iter().map(|row| SlicedMetric::of(row, field));
        Ok(Self {
            field: field.name.clone(),
            metrics: metrics.collect(),
        })
    }

    pub fn json(&self) -> Value {
        let metrics: Map<String, Value> = self
            .metrics
            .iter()
            .map(|of| (of.metric.clone(), of.json()))
            .collect();
        json!({ "field": self.field, "metrics": metrics })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_slice_is_marked() {
        let field = SliceField::of_values("topic", &[("a", "cars"), ("b", "sea"), ("c", "sea")]);
        let queries = ["a", "b", "c"].map(QueryId::new);
        let values = [0.2, 0.5, 0.7];
        let values: Vec<(&QueryId, f64)> = queries.iter().zip(values).collect();
        let of = SlicedMetric::of_values("m", &values, &[], &field);
        let rows = of.json();
        let worst = |at: usize| rows[at]["worst"].clone();
        assert_eq!([worst(0), worst(1)], [json!(true), json!(false)]);
        assert_eq!(rows[1]["queries"], 2);
        // Compared with another ranking, the slice that loses most is the worst.
        let pairs = [
            (&queries[0], 0.2, 0.1),
            (&queries[1], 0.5, 0.9),
            (&queries[2], 0.7, 0.8),
        ];
        let of = SlicedMetric::of_values("m", &values, &pairs, &field);
        let rows = of.json();
        assert_eq!(
            [&rows[0]["worst"], &rows[1]["worst"]],
            [&json!(false), &json!(true)]
        );
        // A slice without an answer in common is named, and the number is that of the comparison.
        let of = SlicedMetric::of_values("m", &values, &pairs[1..2], &field);
        assert_eq!(
            of.sentence("run").unwrap(),
            "Worst slice by m against the run: sea (1 query), −0.4000, not shown to be worse. \
             Without queries in common: cars."
        );
        let unknown = [QueryId::new("d")];
        let error = field
            .check_known(unknown.iter(), 1)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("--slice topic: none of the 1 measured query has a value"),
            "{error}"
        );
    }
}
