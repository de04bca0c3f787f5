//! The students stored in a project.

use super::judged_pairs::JudgedPairs;
use super::predictions::Predictions;
use crate::app::error::{AppError, invalid};
use crate::app::text_format::first_names;
use crate::domain::named::did_you_mean;
use crate::domain::prediction::QueryPredictions;
use crate::features::student::store::StoredStudent;
use crate::store::{Store, StoreError};

/// The checkpoints of a student by step, or an error with the remedy if the project has no such
/// student.
pub fn known_student(store: &Store, name: &str) -> Result<Vec<StoredStudent>, AppError> {
    let students = store.read_blocking(|db| db.students())?;
    let mut names: Vec<&str> = students.iter().map(|of| of.name.as_str()).collect();
    names.dedup();
    if !names.contains(&name) {
        return Err(if names.is_empty() {
            invalid!(
                "no student {name:?}: the project has none; `overrule student train --name NAME` \
                 and `overrule student import FILE --name NAME` store one"
            )
        } else {
            invalid!(
                "no student {name:?} in the project{}; it has {}",
                did_you_mean(name, &names),
                first_names(&names)
            )
        });
    }
    Ok(students.into_iter().filter(|of| of.name == name).collect())
}

/// The predictions of a student of the project, with all checkpoints, for the queries of `judged`.
pub(super) fn stored_predictions(
    store: &Store,
    name: &str,
    judged: &JudgedPairs,
) -> Result<Predictions, AppError> {
    let mut found = Predictions::default();
    for student in known_student(store, name)? {
        let step = found.steps.entry(student.step).or_default();
        let predicted: Vec<(String, QueryPredictions)> = store.read_blocking(move |db| {
            let queries = db.predicted_queries(student.key)?.into_iter();
            let of = |query| {
                let name = db.query(query)?.id.as_str().to_owned();
                Ok((name, db.predictions_of(student.key, query)?))
            };
            queries.map(of).collect::<Result<_, StoreError>>()
        })?;
        for (query, pairs) in predicted {
            let Some(place) = judged.query_place(&query) else {
                found.foreign += pairs.len();
                continue;
            };
            step.extend(pairs.into_iter().map(|(pair, of)| ((place, pair), of)));
        }
    }
    Ok(found)
}
