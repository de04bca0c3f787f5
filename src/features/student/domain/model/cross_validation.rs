//! Fits a model and cross-validates it: each query is predicted by models that never saw it.

use super::training::TrainingTable;
use super::{
    Calibration, ScoredGroup, StudentModel, TrainingQuery, isotonic, newton, probabilities,
};
use crate::domain::parallel::in_order;
use crate::domain::prediction::OutcomeProbabilities;
use crate::domain::sampling::SeededRng;
use crate::features::student::domain::features::PairFeatures;
use std::collections::{BTreeMap, BTreeSet};

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

/// Queries in groups; one or two groups are held out at a time.
struct Groups<'a> {
    table: TrainingTable<'a>,
    /// By query.
    group: Vec<usize>,
    /// By group: scores and weights of its pairs.
    targets: Vec<Vec<(f64, f64)>>,
    /// Called before each fit.
    wanted: &'a (dyn Fn() -> bool + Sync),
}

impl Groups<'_> {
    /// The indexes of the queries whose group is wanted.
    fn queries_of(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let groups = self.group.iter().enumerate();
        let found = groups.filter(|(_, group)| wanted(**group));
        found.map(|(at, _)| at).collect()
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
        StudentModel::of_table(self.table, &queries, precision, near).ok_or(NoModel::NotFitted)
    }

    /// The pairs of a group with a model's logits.
    fn scored(&self, model: &StudentModel, group: usize) -> ScoredGroup<'_> {
        let targets = self.targets.get(group).map_or(&[][..], Vec::as_slice);
        let mut logits = Vec::with_capacity(targets.len());
        let mut pair = PairFeatures::default();
        for query in self.table.at(&self.queries_of(|other| other == group)) {
            for at in 0..query.pairs.len() {
                query.read(at, &mut pair);
                logits.push(model.logits(&pair));
            }
        }
        ScoredGroup { logits, targets }
    }

    /// For each precision, the model without a group, and its cross entropy on that group.
    fn left_out(&self, group: usize) -> Result<Vec<(StudentModel, f64)>, NoModel> {
        let mut found: Vec<(StudentModel, f64)> = Vec::new();
        for precision in PRECISIONS {
            let near = found.last().map(|(model, _)| model);
            let model = self.fit(&[group], precision, near)?;
            let scored = self.scored(&model, group);
            let loss = scored
                .rows()
                .map(|((eta, tau), score, weight)| weight * newton::cross_entropy(eta, tau, score));
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
    pairs: &[TrainingQuery<'_>],
    folds: usize,
    seed: u64,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Result<CrossValidation, NoModel> {
    let queries: BTreeSet<usize> = pairs.iter().map(|query| query.query).collect();
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
    let fold = |query: &TrainingQuery<'_>| fold_of.get(&query.query).copied().unwrap_or_default();
    let targets = |group: usize| -> Vec<(f64, f64)> {
        let queries = pairs.iter().filter(|query| fold(query) == group);
        let pairs = queries.flat_map(|query| query.pairs);
        pairs.map(|pair| (pair.score, pair.weight)).collect()
    };
    let groups = Groups {
        table: TrainingTable::new(pairs).ok_or(NoModel::NotFitted)?,
        group: pairs.iter().map(fold).collect(),
        targets: (0..folds).map(targets).collect(),
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
    let mut predicted = Vec::with_capacity(groups.targets.iter().map(Vec::len).sum());
    let mut features = PairFeatures::default();
    for (query, group) in pairs.iter().zip(&groups.group) {
        for at in 0..query.pairs.len() {
            query.read(at, &mut features);
            predicted.push(without[*group].predict(&features));
        }
    }
    Ok(CrossValidation {
        predicted,
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
fn calibrate(parts: &[ScoredGroup<'_>]) -> Calibration {
    let rows = parts.iter().flat_map(ScoredGroup::rows);
    let by_temperature = Calibration::of_temperature(rows, 1.0);
    let curves: Option<Vec<_>> = isotonic::curves(parts, |(eta, tau)| probabilities(eta, tau))
        .into_iter()
        .collect();
    let Some(mut curves) = curves else {
        return by_temperature;
    };
    let curves_without = curves.split_off(1);
    let (mut of_temperature, mut of_curves) = (0.0, 0.0);
    for ((out, part), curves) in parts.iter().enumerate().zip(curves_without) {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != out);
        let others = others.flat_map(|(_, part)| part.rows());
        let near = by_temperature.temperature;
        of_temperature += Calibration::of_temperature(others, near).loss(part.rows());
        of_curves += Calibration::of_curves(curves).loss(part.rows());
    }
    match curves.pop() {
        Some(curves) if of_curves < of_temperature => Calibration::of_curves(curves),
        _ => by_temperature,
    }
}
