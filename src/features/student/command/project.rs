//! Options of `overrule config project` for the project's student.

use crate::cli::command::{CommandResult, usage};
use crate::domain::ranking::OpinionWeight;
use crate::features::student::app::naming::name_student;
use crate::store::Store;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct StudentOptions {
    /// Student of the project, or - for none
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    student: Option<String>,
    /// Weight of the student in scores, in battles per document; auto estimates it from the votes
    /// [default: 0]
    #[arg(long, value_name = "auto|NUMBER", allow_hyphen_values = true)]
    student_weight: Option<OpinionWeight>,
}

impl StudentOptions {
    /// Whether one of the options is given.
    pub(crate) fn is_set(&self) -> bool {
        self.student.is_some() || self.student_weight.is_some()
    }

    /// Sets the student or changes its weight, if requested.
    pub(crate) fn apply(&self, store: &Store) -> CommandResult {
        if !self.is_set() {
            return Ok(());
        }
        let before = store.read_blocking(|db| db.named_student())?;
        let choice = match (self.student.as_deref(), &before) {
            (Some("-"), _) => None,
            (Some(name), _) => {
                let weight = self.student_weight.unwrap_or(OpinionWeight::Set(0.0));
                Some((name.to_owned(), weight))
            }
            (None, Some(named)) => {
                let weight = self.student_weight.unwrap_or(named.weight);
                Some((named.name.clone(), weight))
            }
            (None, None) => {
                return Err(usage!(
                    "--student-weight: the project has no student; name one with --student NAME"
                ));
            }
        };
        name_student(store, choice, || true)?;
        Ok(())
    }
}
