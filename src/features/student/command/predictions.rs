//! Options of `overrule export` for predictions.

use crate::cli::command::{CommandResult, usage};
use crate::features::student::app::PredictionExport;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct PredictionOptions {
    /// For predictions: name of the student
    #[arg(long, value_name = "NAME", required_if_eq("kind", "predictions"))]
    student: Option<String>,
}

impl PredictionOptions {
    /// Rejects the options for another export.
    pub(crate) fn check_unused(&self) -> CommandResult {
        match self.student {
            Some(_) => Err(usage!("--student is for predictions")),
            None => Ok(()),
        }
    }

    pub(crate) fn export(&self) -> PredictionExport {
        PredictionExport(self.student.clone().unwrap_or_default())
    }
}
