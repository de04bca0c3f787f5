//! Sets the project's student and its weight in the scores.

use super::stored::known_student;
use crate::app::error::AppError;
use crate::domain::ranking::{NamedOpinion, OpinionWeight};
use crate::store::{Db, Result as StoreResult, Store};

/// The students that can be chosen, and the current one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudentChoice {
    pub names: Vec<String>,
    pub named: Option<(String, OpinionWeight)>,
}

impl StudentChoice {
    pub fn read(db: &Db) -> StoreResult<Self> {
        let mut names: Vec<String> = db
            .students()?
            .into_iter()
            .map(|student| student.name)
            .collect();
        names.dedup();
        let named = db.named_student()?;
        Ok(Self {
            names,
            named: named.map(|student| (student.name, student.weight)),
        })
    }
}

/// Sets the project's student and its weight, or removes it, which changes the numbers of every
/// query. Returns the student. Nothing is written if the choice is no longer `wanted` because the
/// user has chosen again.
pub fn name_student(
    store: &Store,
    choice: Option<(String, OpinionWeight)>,
    wanted: impl Fn() -> bool + Send + 'static,
) -> Result<Option<NamedOpinion>, AppError> {
    let named = match choice {
        None => None,
        Some((name, weight)) => {
            known_student(store, &name)?;
            // Estimate before the write, since it fits many queries while other writers would wait.
            Some(store.read_blocking(move |db| db.estimated_student(&name, weight))?)
        }
    };
    let kept = named.clone();
    store.write_blocking(move |db| {
        if wanted() {
            db.name_student(kept.as_ref())
        } else {
            Ok(())
        }
    })?;
    Ok(named)
}
