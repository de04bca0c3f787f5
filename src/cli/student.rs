//! `overrule student`: a cheap model of pairs that learns from the ensemble.

mod export;
mod import;
mod list;
mod report;
mod sample;
mod train;

use super::command::{CommandContext, CommandResult};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(super) struct StudentCommand {
    #[command(subcommand)]
    action: StudentAction,
}

#[derive(Debug, Subcommand)]
enum StudentAction {
    /// Pairs to learn from and to test on: even over queries, no document twice
    Sample(sample::SampleCommand),
    /// What a student learns from: prompts, preferences, pairs, documents with scores
    Export(export::ExportCommand),
    /// Predictions of another model, as a student of the project
    Import(import::ImportCommand),
    /// The built-in student, fitted to the project's own votes in seconds
    Train(train::TrainCommand),
    /// The students of the project
    List(list::ListCommand),
    /// How far a student's probabilities can be believed: accuracy, calibration, yield, segments
    Report(report::ReportCommand),
}

impl StudentCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
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
