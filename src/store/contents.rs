//! Which kinds of rows a project contains.

use super::{Db, Result};
use crate::registry;

/// Whether a project has rows of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectContents {
    pub votes: bool,
    pub failures: bool,
    /// Verdicts that were not undone.
    pub verdicts: bool,
    pub labels: bool,
    /// Rulings that were not undone.
    pub rulings: bool,
    pub picks: bool,
    /// Whether a student counts in the scores.
    pub student: bool,
}

impl Db {
    /// Which kinds of rows the project contains. Each query stops at the first row.
    pub fn contents(&self) -> Result<ProjectContents> {
        let student = registry::named_opinion(self)?;
        let student = student.is_some_and(|student| student.in_force() > 0.0);
        Ok(self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM vote), EXISTS (SELECT 1 FROM failure),
                 EXISTS (SELECT 1 FROM verdict
                     WHERE NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)),
                 EXISTS (SELECT 1 FROM label),
                 EXISTS (SELECT 1 FROM ruling
                     WHERE NOT EXISTS (SELECT 1 FROM ruling_undo
                     WHERE ruling_undo.ruling = ruling.uid)),
                 EXISTS (SELECT 1 FROM pick)",
            [],
            |row| {
                Ok(ProjectContents {
                    votes: row.get(0)?,
                    failures: row.get(1)?,
                    verdicts: row.get(2)?,
                    labels: row.get(3)?,
                    rulings: row.get(4)?,
                    picks: row.get(5)?,
                    student,
                })
            },
        )?)
    }
}
