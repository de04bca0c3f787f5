//! `overrule student import`: imports another model's predictions into the project.

use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::features::student::app::import_student;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "FILE has a prediction a line, as JSON or in the columns of a CSV: query, a, b, \
                  p_a, p_b and perhaps p_tie (else what is left of 1)
and step (a checkpoint). p_a is the probability that document a is better; a was shown first. Both \
orders of a pair may be there, and
both are kept. The whole file is stored, or nothing of it. Nothing is ever removed: of a name and \
step the latest file counts, and the
same file again changes nothing. A student does not count in scores, unless `overrule config \
project --student NAME --student-weight auto`
or a number says so.

Examples:
  overrule student import predictions.jsonl --name llama-8b
  overrule student import at-500.csv --name llama-8b --step 500
  overrule student report --student llama-8b"
)]
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
