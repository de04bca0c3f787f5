//! The metrics by which methods are compared, and their values.

use crate::app::error::{AppError, invalid};
use crate::app::truth::Truth;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Metric, RankedRun, evaluate_gains};
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub struct MethodsOptions {
    /// The method that the others are tested against; by default, the first-stage order.
    pub baseline: Option<String>,
    /// Cutoff of the metrics that have one, in documents per ranking.
    pub depth: usize,
    /// The grade from which a document is relevant.
    pub level: i32,
}

/// The default metrics; the first one is used for the plot.
pub(super) fn metrics(depth: usize) -> Result<Vec<Metric>, AppError> {
    let names = ["ndcg@", "mrr@", "map", "recall@", "p@", "judged@"];
    let named = names.iter().map(|name| match name.strip_suffix('@') {
        Some(_) => format!("{name}{depth}"),
        None => (*name).to_owned(),
    });
    let read = named.map(|name| name.parse::<Metric>());
    read.collect::<Result<_, _>>()
        .map_err(|error| invalid!("--at: {error}"))
}

/// The value of each metric for each query.
pub(super) fn values<'a>(
    orders: impl Iterator<Item = (&'a QueryId, &'a [DocId])>,
    queries: &[QueryId],
    metrics: &[Metric],
    truth: &Truth,
    level: i32,
) -> Result<Vec<Vec<Option<f64>>>, AppError> {
    let run: RankedRun = orders
        .map(|(query, order)| {
            let ranked = order
                .iter()
                .enumerate()
                .map(|(above, id)| (id.clone(), -(above as f64)));
            (query.clone(), ranked.collect())
        })
        .collect();
    let rules = EvaluationRules {
        relevant_from: level,
        ..EvaluationRules::default()
    };
    let found = evaluate_gains(&truth.qrels, truth.gains.as_ref(), &run, metrics, &rules)?;
    let rows: HashMap<&QueryId, &Vec<Option<f64>>> = found
        .queries
        .iter()
        .map(|row| (&row.query, &row.values))
        .collect();
    let of = |query: &QueryId, at: usize| rows.get(query)?.get(at).copied().flatten();
    Ok((0..metrics.len())
        .map(|at| queries.iter().map(|query| of(query, at)).collect())
        .collect())
}
