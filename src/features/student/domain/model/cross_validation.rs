//! Fits a model and cross-validates it: each query is predicted by models that never saw it.

use super::isotonic::SortedPredictions;
use super::newton::TrainingTable;
use super::{Calibration, ScoredLogits, StudentModel, TrainingRow, probabilities};
use crate::domain::parallel::in_order;
use crate::domain::prediction::OutcomeProbabilities;
use crate::domain::sampling::SeededRng;
use crate::features::student::domain::features::PairFeatures;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Candidate precisions of the penalty.
const PRECISIONS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1_000.0];

/// Why no model could be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    #[error("a student needs judged pairs of at least two queries")]
    TooFewQueries,
    /// The rows are inconsistent, or no minimum was found.
    #[error("the student's fit has no minimum")]
    NotFitted,
    #[error("nobody waits for the student any more")]
    NotWanted,
}

/// A fitted model, with its out-of-sample predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Fitted to all rows, with the calibration of all predictions together.
    pub model: StudentModel,
    /// Precision of its penalty: the one with the lowest cross entropy on held-out queries.
    pub precision: f64,
    /// By row, predicted by the model and calibration that were fitted without its query. Only the
    /// precision is shared: it is chosen using all groups, including the held-out one.
    pub predicted: Vec<OutcomeProbabilities>,
    /// Number of groups of queries.
    pub folds: usize,
    /// By group, fitted and calibrated without its queries.
    without: Vec<StudentModel>,
    fold_of: BTreeMap<usize, usize>,
}

impl CrossValidation {
    /// Predicts a pair of a query by a model that was fitted without the query; the model of all
    /// rows if the query has no rows.
    pub fn predict(&self, query: usize, pair: &PairFeatures) -> OutcomeProbabilities {
        let fold = self.fold_of.get(&query);
        let model = fold.and_then(|fold| self.without.get(*fold));
        model.unwrap_or(&self.model).predict(pair)
    }
}

/// Rows grouped by query; one or two groups are held out at a time.
struct Groups<'a> {
    rows: &'a [TrainingRow],
    table: TrainingTable,
    /// By row.
    group: Vec<usize>,
    /// Called before each fit.
    wanted: &'a (dyn Fn() -> bool + Sync),
}

impl Groups<'_> {
    /// The rows whose group is wanted, as contiguous ranges.
    fn rows_of(&self, wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, _) in self
            .group
            .iter()
            .enumerate()
            .filter(|(_, group)| wanted(**group))
        {
            match found.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => found.push(at..at + 1),
            }
        }
        found
    }

    /// The model of all rows except those of some groups, starting from a nearby model.
    fn fit(
        &self,
        without: &[usize],
        precision: f64,
        near: Option<&StudentModel>,
    ) -> Result<StudentModel, NoModel> {
        if !(self.wanted)() {
            return Err(NoModel::NotWanted);
        }
        let rows = self.rows_of(|group| !without.contains(&group));
        StudentModel::of_table(&self.table, &rows, precision, near).ok_or(NoModel::NotFitted)
    }

    /// A model's logits for the rows of a group.
    fn scored(&self, model: &StudentModel, group: usize) -> Vec<ScoredLogits> {
        let rows = self.rows_of(|other| other == group).into_iter().flatten();
        rows.filter_map(|at| self.rows.get(at))
            .map(|row| (model.logits(&row.features), row.score, row.weight))
            .collect()
    }

    /// For each precision, the model without a group, and its cross entropy on that group.
    fn left_out(&self, group: usize) -> Result<Vec<(StudentModel, f64)>, NoModel> {
        let mut found: Vec<(StudentModel, f64)> = Vec::new();
        for precision in PRECISIONS {
            let near = found.last().map(|(model, _)| model);
            let model = self.fit(&[group], precision, near)?;
            let scored = self.scored(&model, group);
            let loss = scored.iter().map(|((eta, tau), score, weight)| {
                weight * super::newton::cross_entropy(*eta, *tau, *score)
            });
            let loss = loss.sum();
            found.push((model, loss));
        }
        Ok(found)
    }
}

/// Fits a model, and predicts each row by a model fitted without the queries of its group.
///
/// # Errors
/// If the rows come from fewer than two queries, a fit found no minimum, or `wanted` returned false
/// in the meantime.
///
/// Groups are fitted in parallel, one thread per fit: the same rows give the same bits on every
/// machine.
pub fn cross_validate(
    rows: &[TrainingRow],
    folds: usize,
    seed: u64,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Result<CrossValidation, NoModel> {
    let queries: BTreeSet<usize> = rows.iter().map(|row| row.query).collect();
    let folds = folds.min(queries.len());
    if folds < 2 {
        return Err(NoModel::TooFewQueries);
    }
    let mut order: Vec<usize> = queries.into_iter().collect();
    SeededRng::new(seed, &["student folds"]).shuffle(&mut order);
    let fold_of: BTreeMap<usize, usize> = order
        .into_iter()
        .enumerate()
        .map(|(at, query)| (query, at % folds))
        .collect();
    let fold = |row: &TrainingRow| fold_of.get(&row.query).copied().unwrap_or_default();
    let groups = Groups {
        rows,
        table: TrainingTable::new(rows).ok_or(NoModel::NotFitted)?,
        group: rows.iter().map(fold).collect(),
        wanted,
    };
    let each: Vec<usize> = (0..folds).collect();
    let left_out = in_order(&each, |group| groups.left_out(*group));
    let left_out = left_out.into_iter().collect::<Result<Vec<_>, _>>()?;
    let loss = |at: &usize| -> f64 { left_out.iter().map(|found| found[*at].1).sum() };
    let best = (0..PRECISIONS.len()).min_by(|x, y| loss(x).total_cmp(&loss(y)));
    let best = best.ok_or(NoModel::NotFitted)?;
    let precision = PRECISIONS[best];
    let models: Vec<&StudentModel> = left_out.iter().map(|found| &found[best].0).collect();
    // Models without a group and one other: the calibration on the other group has not seen the
    // first, not even through the starting point of a fit.
    let all = std::iter::once(Vec::new());
    // With two groups, nothing is left to calibrate on.
    let others = |out: usize| (0..folds).filter(move |other| folds > 2 && *other != out);
    let two = (0..folds).flat_map(|out| others(out).map(move |other| vec![out, other]));
    let jobs: Vec<Vec<usize>> = all.chain(two).collect();
    let near = |without: &[usize]| models.get(without.first().copied().unwrap_or_default());
    let fitted = in_order(&jobs, |without| {
        groups.fit(without, precision, near(without).copied())
    });
    let fitted = jobs.iter().map(Vec::as_slice).zip(fitted);
    let mut fitted: BTreeMap<&[usize], StudentModel> = fitted
        .map(|(without, model)| Ok((without, model?)))
        .collect::<Result<_, _>>()?;
    let model = fitted.remove(&[][..]).ok_or(NoModel::NotFitted)?;
    if !wanted() {
        return Err(NoModel::NotWanted);
    }
    // The last calibration is that of the model of all rows.
    let jobs: Vec<Option<usize>> = (0..folds).map(Some).chain([None]).collect();
    let mut calibrations = in_order(&jobs, |out| {
        let model = |group: usize| match out {
            Some(out) => fitted.get(&[*out, group][..]),
            None => models.get(group).copied(),
        };
        let parts = (0..folds).filter_map(|group| Some(groups.scored(model(group)?, group)));
        calibrate(&parts.collect::<Vec<_>>())
    });
    let calibration = calibrations.pop().ok_or(NoModel::NotFitted)?;
    let without: Vec<StudentModel> = models
        .into_iter()
        .zip(calibrations)
        .map(|(model, calibration)| calibrated(model.clone(), calibration))
        .collect();
    let predicted = rows.iter().zip(&groups.group);
    let predicted = predicted.map(|(row, group)| without[*group].predict(&row.features));
    Ok(CrossValidation {
        predicted: predicted.collect(),
        model: calibrated(model, calibration),
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

/// The calibration for some groups: isotonic if its cross-validated cross entropy over the groups
/// is lower than that of a temperature.
fn calibrate(parts: &[Vec<ScoredLogits>]) -> Calibration {
    let by_temperature = Calibration::of_temperature(parts.iter().flatten(), 1.0);
    let predictions = parts.iter().enumerate().flat_map(|(part, rows)| {
        rows.iter().map(move |((eta, tau), score, weight)| {
            let target = OutcomeProbabilities::soft_target(*score);
            (probabilities(*eta, *tau), target, *weight, part)
        })
    });
    let sorted = SortedPredictions::new(predictions);
    let Some(curves) = sorted.curves(None) else {
        return by_temperature;
    };
    let (mut of_temperature, mut of_curves) = (0.0, 0.0);
    for (out, part) in parts.iter().enumerate() {
        let Some(curves) = sorted.curves(Some(out)) else {
            return by_temperature;
        };
        let others = parts.iter().enumerate().filter(|(other, _)| *other != out);
        let others = others.flat_map(|(_, rows)| rows);
        let near = by_temperature.temperature;
        of_temperature += Calibration::of_temperature(others, near).loss(part);
        of_curves += Calibration::of_curves(curves).loss(part);
    }
    if of_curves < of_temperature {
        Calibration::of_curves(curves)
    } else {
        by_temperature
    }
}
