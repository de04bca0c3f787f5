//! Students in the status of a project.

use crate::app::status::FeatureStatus;
use crate::app::text_format::{counted, first_names};
use crate::store::{Db, Result};
use serde_json::{Value, json};

/// The current students, with an entry for each checkpoint.
pub fn status(db: &Db) -> Result<FeatureStatus> {
    let students = db.students()?;
    let mut names: Vec<&str> = students.iter().map(|of| of.name.as_str()).collect();
    names.dedup();
    let line = format!(
        "students      {}, {} (`overrule student list`)",
        first_names(&names),
        counted(students.len(), "checkpoint")
    );
    let told = students.iter().map(|of| {
        json!({
            "student": of.name, "step": of.step, "queries": of.queries, "pairs": of.pairs,
        })
    });
    Ok(FeatureStatus {
        key: "students",
        json: told.collect::<Vec<Value>>().into(),
        lines: (!students.is_empty()).then_some(line).into_iter().collect(),
    })
}
