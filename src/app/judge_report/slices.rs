//! The agreement of each judge with people by a field of the queries.

use super::report::RaterReport;
use crate::app::error::AppError;
use crate::app::evaluate::{SliceField, SlicedMetric};
use crate::domain::corpus::QueryId;
use crate::domain::judge_report::{Rating, agreement_by_query};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};

/// The agreement by slice, for each judge.
#[derive(Debug)]
pub struct SlicedJudges {
    pub field: String,
    /// By name. The value of a query is the share of its pairs on which the judge agrees with the
    /// people; a slice is compared with the other queries, Holm-corrected over its slices.
    pub judges: Vec<(String, SlicedMetric)>,
}

impl SlicedJudges {
    pub fn json(&self) -> Value {
        let judges = self.judges.iter();
        let judges: Map<String, Value> =
            judges.map(|(name, of)| (name.clone(), of.json())).collect();
        json!({ "field": self.field, "metric": "agreement", "judges": judges })
    }
}

impl RaterReport {
    /// The raw agreement with people by slice. Judges without votes on pairs that people judged are
    /// left out.
    ///
    /// # Errors
    /// No query with verdicts has a value of the field.
    pub fn sliced(&self, store: &Store, field: &SliceField) -> Result<SlicedJudges, AppError> {
        let known = store.read_blocking(|db| db.queries())?;
        let known: HashMap<QueryKey, QueryId> = known
            .into_iter()
            .map(|query| (query.key, query.id))
            .collect();
        let name = |at: usize| known.get(self.queries.get(at)?);
        let mut measured = Vec::new();
        for (at, (_, spec)) in self.rater_data.judges.iter().enumerate() {
            let own = self.reviewed.iter().filter(|rating| rating.judge == at);
            let own: Vec<Rating> = own.copied().collect();
            let agreement = agreement_by_query(&own, &self.rater_data.verdicts);
            let values: Vec<(&QueryId, f64)> = agreement
                .into_iter()
                .filter_map(|(query, share)| Some((name(query)?, share)))
                .collect();
            if !values.is_empty() {
                measured.push((spec.name.clone(), values));
            }
        }
        let queries = measured.iter().flat_map(|(_, values)| values);
        let queries: BTreeSet<&QueryId> = queries.map(|(query, _)| *query).collect();
        field.check_known(queries.iter().copied(), queries.len())?;
        let judges = measured.into_iter().map(|(name, values)| {
            let metric = format!("agreement of {name} with people");
            let of = SlicedMetric::of_values(&metric, &values, &[], field);
            (name, of)
        });
        Ok(SlicedJudges {
            field: field.name.clone(),
            judges: judges.collect(),
        })
    }
}
