//! A model with predictions of each query by models that never saw it.

use super::{Calibration, ScoredLogits, StudentModel, TrainingRow};
use crate::domain::sampling::SeededRng;
use crate::domain::student::OutcomeProbabilities;
use crate::domain::student::features::PairFeatures;
use std::collections::{BTreeMap, BTreeSet};

/// Precisions of the penalty that are tried.
const PRECISIONS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1_000.0];

/// A fitted model, and what it would have said of queries that it does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Fitted to all rows, with the calibration of all predictions together.
    pub model: StudentModel,
    /// Precision of its penalty: the one with the least cross entropy on queries left out.
    pub precision: f64,
    /// By row, of the model and the calibration that its query had no part in.
    pub predicted: Vec<OutcomeProbabilities>,
    /// Groups of queries.
    pub folds: usize,
    /// By group, fitted and calibrated without its queries.
    without: Vec<StudentModel>,
    fold_of: BTreeMap<usize, usize>,
}

impl CrossValidation {
    /// What a pair of a query is said to be by a model that the query had no part in: the one of all rows, where it has no row.
    pub fn predict(&self, query: usize, pair: &PairFeatures) -> OutcomeProbabilities {
        let fold = self.fold_of.get(&query);
        let model = fold.and_then(|fold| self.without.get(*fold));
        model.unwrap_or(&self.model).predict(pair)
    }
}

/// What a precision is worth on queries left out.
struct LeftOut {
    loss: f64,
    precision: f64,
    /// By row: η and τ.
    logits: Vec<(f64, f64)>,
    /// By group, fitted without it.
    models: Vec<StudentModel>,
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
    let mut near: Vec<StudentModel> = Vec::new();
    for precision in PRECISIONS {
        let models: Option<Vec<StudentModel>> = (0..folds)
            .map(|out| {
                let near = near.get(out);
                StudentModel::fit_where(rows, precision, near, |query| fold(query) != out)
            })
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
        near.clone_from(&models);
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            best = Some(LeftOut {
                loss,
                precision,
                logits,
                models,
            });
        }
    }
    let LeftOut {
        precision,
        logits,
        models,
        ..
    } = best?;
    let of_fold = |out: usize| -> Vec<ScoredLogits> {
        let rows = rows.iter().zip(&logits);
        let rows = rows.filter(|(row, _)| fold(row.query) == out);
        rows.map(|(row, logits)| (*logits, row.score, row.weight))
            .collect()
    };
    let parts: Vec<Vec<ScoredLogits>> = (0..folds).map(of_fold).collect();
    let calibrations = (0..folds).map(|out| {
        let others = (0..folds).filter(|other| *other != out);
        let parts =
            others.map(|other| without_both(rows, (precision, &models[out]), &fold, (out, other)));
        // Of two groups nothing is left to calibrate on.
        calibrate(&parts.collect::<Option<Vec<_>>>().unwrap_or_default())
    });
    let without: Vec<StudentModel> = models
        .iter()
        .zip(calibrations)
        .map(|(model, calibration)| calibrated(model.clone(), calibration))
        .collect();
    let predicted = rows
        .iter()
        .map(|row| without[fold(row.query)].predict(&row.features));
    let calibration = calibrate(&parts);
    Some(CrossValidation {
        predicted: predicted.collect(),
        model: calibrated(StudentModel::fit(rows, precision)?, calibration),
        precision,
        folds,
        without,
        fold_of,
    })
}

fn calibrated(model: StudentModel, calibration: Calibration) -> StudentModel {
    StudentModel {
        temperature: calibration.temperature,
        isotonic: calibration.isotonic,
        ..model
    }
}

/// The rows of one group, by a model that saw neither it nor another group: what is calibrated on them has seen nothing of that
/// other group. `None` where no row is left to fit.
fn without_both(
    rows: &[TrainingRow],
    (precision, near): (f64, &StudentModel),
    fold: &impl Fn(usize) -> usize,
    (out, of): (usize, usize),
) -> Option<Vec<ScoredLogits>> {
    let others = |query| fold(query) != out && fold(query) != of;
    let model = StudentModel::fit_where(rows, precision, Some(near), others)?;
    let rows = rows.iter().filter(|row| fold(row.query) == of);
    let scored = rows.map(|row| (model.logits(&row.features), row.score, row.weight));
    Some(scored.collect())
}

/// The calibration of some groups: isotonic where its cross entropy, of each group by a calibration of the others, is less than
/// that of a temperature.
fn calibrate(parts: &[Vec<ScoredLogits>]) -> Calibration {
    let all = parts.concat();
    let by_temperature = Calibration::of_temperature(&all);
    let Some(by_curves) = Calibration::of_isotonic(&all) else {
        return by_temperature;
    };
    let (mut of_temperature, mut of_curves) = (0.0, 0.0);
    for out in 0..parts.len() {
        let mut others = parts.to_vec();
        let part = others.remove(out);
        let others = others.concat();
        let Some(curves) = Calibration::of_isotonic(&others) else {
            return by_temperature;
        };
        of_temperature += Calibration::of_temperature(&others).loss(&part);
        of_curves += curves.loss(&part);
    }
    match of_curves < of_temperature {
        true => by_curves,
        false => by_temperature,
    }
}
