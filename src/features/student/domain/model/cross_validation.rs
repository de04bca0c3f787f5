//! Fits a model and cross-validates it: each query is predicted by models that never saw it.

use super::{
    Calibration, LastStep, ScoredGroup, ScoredLogits, StudentModel, TrainingPairs, isotonic,
    newton, probabilities,
};
use crate::domain::parallel::{both, in_order};
use crate::domain::prediction::OutcomeProbabilities;
use crate::domain::sampling::SeededRng;
use crate::features::student::domain::features::PairFeatures;
use crate::features::student::domain::spool::{Scratch, Spool, SpoolError};
use std::collections::{BTreeMap, BTreeSet};

/// Candidate precisions of the penalty.
const PRECISIONS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1_000.0];

/// Why no model could be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    #[error("a student needs judged pairs of at least two queries")]
    TooFewQueries,
    /// The rows are inconsistent, or no minimum was found.
    #[error("the student's fit has no minimum")]
    NotFitted,
    #[error("nobody waits for the student any more")]
    NotWanted,
    #[error(transparent)]
    Spool(#[from] SpoolError),
}

/// A fitted model, with those that make its out-of-sample predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// Fitted to all rows, with the calibration of all predictions together.
    pub model: StudentModel,
    /// Precision of its penalty: the one with the lowest cross entropy on held-out queries.
    pub precision: f64,
    /// Number of groups of queries.
    pub folds: usize,
    /// By group, fitted and calibrated without its queries.
    without: Vec<StudentModel>,
    fold_of: BTreeMap<usize, usize>,
}

impl CrossValidation {
    /// Predicts a pair of a query by the model and calibration that were fitted without the query;
    /// by the model of all rows if the query has no rows. Only the precision is shared: it is chosen
    /// using all groups, including the held-out one.
    pub fn predict(&self, query: usize, pair: &PairFeatures) -> OutcomeProbabilities {
        let fold = self.fold_of.get(&query);
        let model = fold.and_then(|fold| self.without.get(*fold));
        model.unwrap_or(&self.model).predict(pair)
    }
}

/// Queries in groups; one or two groups are held out at a time.
struct Groups<'a> {
    pairs: &'a TrainingPairs,
    /// By query with pairs: its place and its group.
    groups: Vec<(usize, usize)>,
    scratch: &'a dyn Scratch,
    /// Called before each fit.
    wanted: &'a (dyn Fn() -> bool + Sync),
}

impl Groups<'_> {
    /// The places of the queries whose group is wanted.
    fn queries_of(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let found = self.groups.iter().filter(|(_, group)| wanted(*group));
        found.map(|(place, _)| *place).collect()
    }

    /// The model of all queries except those of some groups, starting from a nearby model.
    fn fit(
        &self,
        without: &[usize],
        precision: f64,
        near: Option<&StudentModel>,
    ) -> Result<StudentModel, NoModel> {
        if !(self.wanted)() {
            return Err(NoModel::NotWanted);
        }
        let queries = self.queries_of(|group| !without.contains(&group));
        let model = StudentModel::of_pairs(self.pairs, &queries, precision, near)?;
        model.ok_or(NoModel::NotFitted)
    }

    /// Visits the pairs of a group with a model's logits.
    fn each_scored(
        &self,
        model: &StudentModel,
        group: usize,
        mut visit: impl FnMut(ScoredLogits),
    ) -> Result<(), SpoolError> {
        let mut pair = PairFeatures::default();
        let queries = self.queries_of(|other| other == group);
        self.pairs.each_at(&queries, |query| {
            for (at, target) in query.pairs.iter().enumerate() {
                query.read(at, &mut pair);
                visit((model.logits(&pair), target.score, target.weight));
            }
        })
    }

    /// The pairs of a group with a model's logits.
    fn scored(&self, model: &StudentModel, group: usize) -> Result<ScoredGroup, SpoolError> {
        let mut rows = Spool::new(self.scratch)?;
        let mut result = Ok(());
        self.each_scored(model, group, |((eta, tau), score, weight)| {
            if result.is_ok() {
                result = rows.push([eta, tau, score, weight]);
            }
        })?;
        result?;
        Ok(ScoredGroup { rows })
    }

    /// For each precision, the model without a group, and its cross entropy on that group.
    fn left_out(&self, group: usize) -> Result<Vec<(StudentModel, f64)>, NoModel> {
        let mut found: Vec<(StudentModel, f64)> = Vec::new();
        for precision in PRECISIONS {
            let near = found.last().map(|(model, _)| model);
            let model = self.fit(&[group], precision, near)?;
            let mut loss = 0.0;
            self.each_scored(&model, group, |((eta, tau), score, weight)| {
                loss += weight * newton::cross_entropy(eta, tau, score);
            })?;
            found.push((model, loss));
        }
        Ok(found)
    }
}

/// Fits a model to all pairs, and for each group of queries one without it.
///
/// # Errors
/// If the pairs come from fewer than two queries, a fit found no minimum, `wanted` returned false
/// in the meantime, or a scratch file cannot be used.
///
/// Groups are fitted in parallel, one thread per fit: the same rows give the same bits on every
/// machine.
pub fn cross_validate(
    pairs: &TrainingPairs,
    folds: usize,
    seed: u64,
    scratch: &dyn Scratch,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Result<CrossValidation, NoModel> {
    let queries: BTreeSet<usize> = pairs.judged().map(|(_, query)| query).collect();
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
    let fold = |query: usize| fold_of.get(&query).copied().unwrap_or_default();
    let judged = pairs.judged();
    let groups = Groups {
        pairs,
        groups: judged.map(|(place, query)| (place, fold(query))).collect(),
        scratch,
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
        .collect::<Result<_, NoModel>>()?;
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
        calibrate(&parts.collect::<Result<Vec<_>, _>>()?, scratch)
    })
    .into_iter()
    .collect::<Result<Vec<_>, SpoolError>>()?;
    let calibration = calibrations.pop().ok_or(NoModel::NotFitted)?;
    let without: Vec<StudentModel> = models
        .into_iter()
        .zip(calibrations)
        .map(|(model, calibration)| calibrated(model.clone(), calibration))
        .collect();
    Ok(CrossValidation {
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
fn calibrate(parts: &[ScoredGroup], scratch: &dyn Scratch) -> Result<Calibration, SpoolError> {
    let (by_temperature, by_curves) =
        both(|| with_temperature(parts), || with_curves(parts, scratch));
    let (by_temperature, of_temperature) = by_temperature?;
    Ok(match by_curves? {
        Some((by_curves, of_curves)) if of_curves < of_temperature => by_curves,
        _ => by_temperature,
    })
}

/// The temperature for some groups, with its cross-validated cross entropy.
fn with_temperature(parts: &[ScoredGroup]) -> Result<(Calibration, f64), SpoolError> {
    let all: Vec<&ScoredGroup> = parts.iter().collect();
    let found = Calibration::of_temperature(&all, 1.0, LastStep::EXACT)?;
    let mut loss = 0.0;
    for (out, part) in parts.iter().enumerate() {
        let mut others = all.clone();
        others.remove(out);
        let near = found.temperature;
        loss += Calibration::of_temperature(&others, near, LastStep::EXACT_LOSS)?.loss(part)?;
    }
    Ok((found, loss))
}

/// The isotonic curves for some groups, with their cross-validated cross entropy; `None` if there
/// are too few rows.
fn with_curves(
    parts: &[ScoredGroup],
    scratch: &dyn Scratch,
) -> Result<Option<(Calibration, f64)>, SpoolError> {
    let curves = isotonic::curves(parts, |(eta, tau)| probabilities(eta, tau), scratch)?;
    let curves: Option<Vec<_>> = curves.into_iter().collect();
    let mut curves = curves.into_iter().flatten().map(Calibration::of_curves);
    let Some(of_all) = curves.next() else {
        return Ok(None);
    };
    let mut loss = 0.0;
    for (part, without) in parts.iter().zip(curves) {
        loss += without.loss(part)?;
    }
    Ok(Some((of_all, loss)))
}
