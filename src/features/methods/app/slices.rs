//! The first metric of each method by a field of the queries.

use super::report::{MethodEntry, MethodsReport};
use crate::app::error::AppError;
use crate::app::evaluate::{SliceField, SlicedMetric};
use crate::domain::corpus::QueryId;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The first metric by slice, for each method.
#[derive(Debug)]
pub struct SlicedMethods {
    pub field: String,
    pub metric: String,
    /// By name. A method other than the baseline is compared with it within each slice, and p-values
    /// are Holm-corrected over the slices of a method.
    pub methods: Vec<(String, SlicedMetric)>,
}

impl SlicedMethods {
    pub fn json(&self) -> Value {
        let methods = self.methods.iter();
        let methods: Map<String, Value> = methods
            .map(|(name, of)| (name.clone(), of.json()))
            .collect();
        json!({ "field": self.field, "metric": self.metric, "methods": methods })
    }
}

impl MethodsReport {
    /// The first metric by slice. As in the means, a failed query counts as 0; the differences are
    /// those of the queries that both methods answered.
    ///
    /// # Errors
    /// No query of the comparison has a value of the field.
    pub fn sliced(&self, field: &SliceField) -> Result<SlicedMethods, AppError> {
        field.check_known(self.queries.iter(), self.queries.len())?;
        let metric = self.metrics.first().map(ToString::to_string);
        let metric = metric.unwrap_or_default();
        let baseline = self.method(&self.baseline);
        let theirs: HashMap<&QueryId, f64> = baseline
            .map(|baseline| self.answered(baseline).into_iter().collect())
            .unwrap_or_default();
        let methods = self.methods.iter().map(|method| {
            let answered = self.answered(method);
            let known: HashMap<&QueryId, f64> = answered.iter().copied().collect();
            let run = self
                .queries
                .iter()
                .filter(|query| method.rows.contains_key(*query));
            let values: Vec<(&QueryId, f64)> = run
                .map(|query| (query, known.get(query).copied().unwrap_or(0.0)))
                .collect();
            let pairs: Vec<(&QueryId, f64, f64)> = match method.name == self.baseline {
                true => Vec::new(),
                false => answered
                    .iter()
                    .filter_map(|(query, mine)| Some((*query, *mine, *theirs.get(query)?)))
                    .collect(),
            };
            let name = format!("{metric} of {}", method.name);
            (
                method.name.clone(),
                SlicedMetric::of_values(&name, &values, &pairs, field),
            )
        });
        Ok(SlicedMethods {
            field: field.name.clone(),
            methods: methods.collect(),
            metric,
        })
    }

    /// The values of the first metric, by query.
    fn answered<'a>(&'a self, method: &MethodEntry) -> Vec<(&'a QueryId, f64)> {
        let values = method.values.first();
        let values = values
            .into_iter()
            .flat_map(|values| values.per_query.clone());
        self.queries
            .iter()
            .zip(values)
            .filter_map(|(query, value)| Some((query, value?)))
            .collect()
    }
}
