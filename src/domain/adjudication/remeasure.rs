//! Measures rankings under the original and the corrected labels.

use crate::domain::metrics::{
    Comparison, EvaluationError, EvaluationRules, MeanEstimate, Measure, Metric, Qrels, RankedRun,
    Resampling, evaluate,
};

/// A measure of a ranking under the labels before and after correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remeasured {
    pub metric: Metric,
    /// Under the original labels; `None` if it is undefined for every query.
    pub before: Option<MeanEstimate>,
    /// Under the corrected labels.
    pub after: Option<MeanEstimate>,
    /// After minus before, per query, with its paired bootstrap interval.
    pub difference: Option<Comparison>,
}

/// The measures shown: Recall, MRR, NDCG and judged share of the first `top` documents, and MAP.
pub fn remeasured_metrics(top: usize) -> Vec<Metric> {
    [
        (Measure::Recall, Some(top)),
        (Measure::Mrr, Some(top)),
        (Measure::Ndcg, Some(top)),
        (Measure::Map, None),
        (Measure::Judged, Some(top)),
    ]
    .into_iter()
    .filter_map(|(measure, cutoff)| Metric::new(measure, cutoff).ok())
    .collect()
}

/// Measures a ranking under the labels `before` and `after` correction. Only queries with labels
/// before are used: a query whose first label is a ruling has no baseline.
///
/// # Errors
/// If the ranking lists a document twice or has a score that is not a number.
pub fn remeasure(
    run: &RankedRun,
    before: &Qrels,
    after: &Qrels,
    metrics: &[Metric],
    rules: &EvaluationRules,
    how: &Resampling,
) -> Result<Vec<Remeasured>, EvaluationError> {
    let old = evaluate(before, run, metrics, rules)?;
    let mut after = after.clone();
    after.retain(|query, _| before.contains_key(query));
    let new = evaluate(&after, run, metrics, rules)?;
    let row = |metric: &Metric| {
        let before = old.estimate(*metric, how);
        let same = old.values(*metric) == new.values(*metric);
        Remeasured {
            metric: *metric,
            before,
            after: if same {
                before
            } else {
                new.estimate(*metric, how)
            },
            difference: new.against(&old, *metric, how),
        }
    };
    Ok(metrics.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::{DocId, QueryId};
    use std::collections::BTreeMap;

    #[test]
    fn a_turned_label_shows_in_the_difference() {
        let query = |name: &str| QueryId::new(name);
        let document = |name: &str| DocId::new(name);
        let ranked = || vec![(document("x"), 2.0), (document("y"), 1.0)];
        let run = RankedRun::from(["1", "2", "3"].map(|name| (query(name), ranked())));
        let before = Qrels::from([
            (query("1"), BTreeMap::from([(document("y"), 1)])),
            (query("2"), BTreeMap::from([(document("x"), 1)])),
        ]);
        let mut after = before.clone();
        after.get_mut(&query("1")).unwrap().insert(document("x"), 1);
        after.insert(query("3"), BTreeMap::from([(document("x"), 0)]));
        let how = Resampling::default();
        let rows = remeasure(
            &run,
            &before,
            &after,
            &remeasured_metrics(10),
            &EvaluationRules::default(),
            &how,
        )
        .unwrap();
        let of = |name: &str| {
            *rows
                .iter()
                .find(|row| row.metric.to_string() == name)
                .unwrap()
        };
        let mrr = of("mrr@10");
        assert_eq!(mrr.before.unwrap().mean, 0.75);
        assert_eq!(mrr.after.unwrap().mean, 1.0);
        assert_eq!(mrr.difference.unwrap().mean_difference, 0.25);
        assert_eq!(of("judged@10").difference.unwrap().mean_difference, 0.25);
    }
}
