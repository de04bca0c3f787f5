//! `overrule student import`: imports another model's predictions into the project.

use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::features::student::app::import_student;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
FILE has one prediction per line, as JSON, or is a CSV with the columns query, a, b, p_a, p_b and,
optionally, p_tie (default: 1 − p_a − p_b) and step (a checkpoint). p_a is the probability that
document a is better when a is shown first. A file may contain both orders of a pair; both are
kept.

Either the whole file is stored or nothing. Nothing is ever removed: for each name and step the
latest file counts, and importing the same file again changes nothing. A student does not affect
scores unless you set its weight with `overrule config project --student NAME --student-weight
auto` (or a number).

Examples:
  overrule student import predictions.jsonl --name llama-8b
  overrule student import at-500.csv --name llama-8b --step 500
  overrule student report --student llama-8b")]
pub(super) struct ImportCommand {
    /// Predictions as JSON lines or CSV
    file: PathBuf,
    /// Name of the student
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Checkpoint of the predictions, if the lines have none
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ImportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let annotator = context.annotator();
        let import = import_student(&store, &self.file, &self.name, self.step, &annotator)?;
        if self.json {
            return output::json(&import);
        }
        output::message(&import.to_string());
        Ok(())
    }
}
