//! Compares two rankings of a search system under the scores of the project.

use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::app::truth::{GradeBasis, TruthSource, project_truth};
use crate::domain::metrics::{EvaluationRules, Metric, evaluate_gains};
use crate::domain::sanitize;
use crate::features::drift::domain::SystemChange;
use crate::registry::find_ranking;
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};

/// The metric of the comparison.
pub(super) const METRIC: &str = "ndcg@10";

/// The difference of two rankings, which are in the project or files.
///
/// # Errors
/// A ranking is unknown, the project has no scores, the rankings lack different queries, or they lack
/// all.
pub(super) fn compare_rankings(
    store: &Store,
    before: &str,
    after: &str,
) -> Result<SystemChange, AppError> {
    let metric: Metric = METRIC
        .parse()
        .map_err(|error| AppError::Failed(format!("{METRIC}: {error}")))?;
    let truth = project_truth(store, TruthSource::Zelo, GradeBasis::Auto)?;
    let values = |name: &str| -> Result<(BTreeMap<_, f64>, BTreeSet<_>), AppError> {
        let run = find_ranking(store, name)?.orders;
        let rules = EvaluationRules::default();
        let evaluation =
            evaluate_gains(&truth.qrels, truth.gains.as_ref(), &run, &[metric], &rules)?;
        let values = evaluation.values(metric).into_iter();
        let values = values.map(|(query, value)| (query.clone(), value));
        let values = values.collect();
        Ok((values, evaluation.missing_from_run.into_iter().collect()))
    };
    let (before_values, before_missing) = values(before)?;
    let (after_values, after_missing) = values(after)?;
    for (name, mine, theirs) in [
        (before, &before_missing, &after_missing),
        (after, &after_missing, &before_missing),
    ] {
        let lacking = mine.difference(theirs).count();
        if lacking > 0 {
            return Err(invalid!(
                "{} lacks {} of the other ranking that the project has scores for; rank the same \
                 queries in both, or remove these from the other ranking",
                sanitize::line(name),
                counted(lacking, "query")
            ));
        }
    }
    let differences: Vec<f64> = after_values
        .iter()
        .filter_map(|(query, after)| Some(after - before_values.get(query)?))
        .collect();
    SystemChange::of(&differences).ok_or_else(|| {
        invalid!(
            "{} and {} have no query with scores in common",
            sanitize::line(before),
            sanitize::line(after)
        )
    })
}
