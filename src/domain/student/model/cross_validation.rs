//! A model with predictions of each query by models that never saw it.

use super::{StudentModel, TrainingRow, temperature};
use crate::domain::sampling::SeededRng;
use crate::domain::student::OutcomeProbabilities;
use std::collections::{BTreeMap, BTreeSet};

/// Precisions of the penalty that are tried.
const PRECISIONS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1_000.0];

/// A fitted model, and what it would have said of queries that it does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Fitted to all rows, with the temperature of all predictions together.
    pub model: StudentModel,
    /// Precision of its penalty: the one with the least cross entropy on queries left out.
    pub precision: f64,
    /// By row, of the model and the temperature that its query had no part in.
    pub predicted: Vec<OutcomeProbabilities>,
    /// Groups of queries.
    pub folds: usize,
}

/// What a precision is worth on queries left out.
struct LeftOut {
    loss: f64,
    precision: f64,
    /// By row: η and τ.
    logits: Vec<(f64, f64)>,
}

/// Fits a model, and predicts each row by one that was fitted without the queries of its group. `None` for rows of fewer
/// than two queries, and where there is no fit.
pub fn cross_validate(rows: &[TrainingRow], folds: usize, seed: u64) -> Option<CrossValidation> {
    let queries: BTreeSet<usize> = rows.iter().map(|row| row.query).collect();
    let folds = folds.min(queries.len());
    if folds < 2 {
        return None;
    }
    let mut order: Vec<usize> = queries.into_iter().collect();
    SeededRng::new(seed, &["student folds"]).shuffle(&mut order);
    let fold_of: BTreeMap<usize, usize> = order
        .into_iter()
        .enumerate()
        .map(|(at, query)| (query, at % folds))
        .collect();
    let fold = |query: usize| fold_of.get(&query).copied().unwrap_or_default();
    let mut best: Option<LeftOut> = None;
    for precision in PRECISIONS {
        let models: Option<Vec<StudentModel>> = (0..folds)
            .map(|out| StudentModel::fit_where(rows, precision, |query| fold(query) != out))
            .collect();
        let models = models?;
        let logits: Vec<(f64, f64)> = rows
            .iter()
            .map(|row| models[fold(row.query)].logits(&row.features))
            .collect();
        let loss: f64 = rows
            .iter()
            .zip(&logits)
            .map(|(row, (eta, tau))| {
                row.weight * super::newton::cross_entropy(*eta, *tau, row.score)
            })
            .sum();
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            best = Some(LeftOut {
                loss,
                precision,
                logits,
            });
        }
    }
    let LeftOut {
        precision, logits, ..
    } = best?;
    let known = |wanted: &dyn Fn(usize) -> bool| {
        let rows = rows.iter().zip(&logits);
        let rows = rows.filter(|(row, _)| wanted(fold(row.query)));
        let rows: Vec<_> = rows
            .map(|(row, logits)| (*logits, row.score, row.weight))
            .collect();
        temperature(&rows)
    };
    let temperatures: Vec<f64> = (0..folds).map(|out| known(&|fold| fold != out)).collect();
    let predicted = rows.iter().zip(&logits).map(|(row, (eta, tau))| {
        let temperature = temperatures[fold(row.query)];
        super::probabilities(eta / temperature, tau / temperature)
    });
    Some(CrossValidation {
        predicted: predicted.collect(),
        model: StudentModel {
            temperature: known(&|_| true),
            ..StudentModel::fit(rows, precision)?
        },
        precision,
        folds,
    })
}
