//! Lists the students of a project, with a report on one of them.

use super::judged_pairs::JudgedPairs;
use super::predictions::Predictions;
use super::report::{StudentReport, report_predictions, stored_report};
use super::sample::all_judged;
use super::train::{TrainOptions, TrainedStudent, train};
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::store::Store;

/// Name of the built-in student.
pub const BUILT_IN: &str = "built-in";

/// Number of folds for cross-validation of the built-in student.
const FOLDS: usize = 5;

#[derive(Clone, Debug)]
pub struct StudentsFound {
    pub names: Vec<String>,
    /// On the requested student.
    pub report: Option<StudentReport>,
}

/// The students of a project, with the built-in one first, and the report on one of them by name;
/// the first one for `None` and for an unknown name.
///
/// The built-in student is fitted again on the current votes.
pub fn students_found(store: &Store, name: Option<&str>) -> Result<StudentsFound, AppError> {
    let stored = store.read_blocking(|db| db.latest_checkpoints())?;
    let names: Vec<String> = std::iter::once(BUILT_IN.to_owned())
        .chain(stored.into_keys())
        .collect();
    let known = name.filter(|name| names.iter().any(|known| known == name));
    let report = match known.filter(|name| *name != BUILT_IN) {
        Some(name) => stored_report(store, name)?,
        None => built_in_report(store)?,
    };
    Ok(StudentsFound { names, report })
}

fn built_in_report(store: &Store) -> Result<Option<StudentReport>, AppError> {
    let options = TrainOptions {
        other_battles: false,
        folds: FOLDS,
        seed: 0,
        all_pairs: false,
    };
    let trained = train(store, options)?;
    let judged = all_judged(store)?;
    let predictions = left_out(&trained, &judged)?;
    let mut report = report_predictions(BUILT_IN.to_owned(), &predictions, &judged);
    if let Some(report) = &mut report {
        report.notes.push(format!(
            "predictions of each query are of a model that never saw it: {FOLDS} groups of queries \
             are left out in turn"
        ));
    }
    Ok(report)
}

/// A student's predictions for the judged pairs, each from a model that never saw the pair's query.
fn left_out(trained: &TrainedStudent, judged: &JudgedPairs) -> Result<Predictions, AppError> {
    let mut found = Predictions::default();
    let step = found.steps.entry(None).or_default();
    trained.each_query(|pool, predictions| {
        for (pair, predicted) in predictions {
            let names = pool.names(pair).map(|names| names.map(DocId::new));
            let place = names.and_then(|[a, b]| judged.find(&pool.id, &a, &b));
            let place = place.and_then(|(query, a, b)| Some((query, Pair::new(a, b)?)));
            step.extend(place.map(|place| (place, predicted)));
        }
        Ok(())
    })?;
    Ok(found)
}
