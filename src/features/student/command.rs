//! `overrule student`: a cheap model of pairs that learns from the ensemble.

mod export;
mod import;
pub mod judges;
mod list;
pub mod matrix;
pub mod predictions;
pub mod project;
mod report;
mod sample;
mod train;

use crate::cli::command::{CommandContext, CommandResult};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule student train --name own
  overrule student report --student own
  overrule student export --form sft --out train.jsonl")]
pub(crate) struct StudentCommand {
    #[command(subcommand)]
    action: StudentAction,
}

#[derive(Debug, Subcommand)]
enum StudentAction {
    /// Sample pairs to train and test on
    Sample(sample::SampleCommand),
    /// Export training data: prompts, preferences, pairs or scored documents
    Export(export::ExportCommand),
    /// Import the predictions of another model as a student
    Import(import::ImportCommand),
    /// Train the built-in student on the votes of the project
    Train(train::TrainCommand),
    /// List the students of the project
    List(list::ListCommand),
    /// Report the accuracy and calibration of a student
    Report(report::ReportCommand),
}

impl StudentCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            StudentAction::Sample(sample) => sample.run(context),
            StudentAction::Export(export) => export.run(context),
            StudentAction::Import(import) => import.run(context),
            StudentAction::List(list) => list.run(context),
            StudentAction::Train(train) => train.run(context),
            StudentAction::Report(report) => report.run(context),
        }
    }
}
