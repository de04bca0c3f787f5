//! `overrule student list`: lists the students stored in a project.

use crate::app::text_format::moment_words;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::features::student::store::StoredStudent;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule student list
  overrule student list --json | jq '.[] | select(.student == \"llama-8b\").step'")]
pub(super) struct ListCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ListCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let students = store.read_blocking(|db| db.students())?;
        if self.json {
            return output::json(
                &students
                    .iter()
                    .map(as_json)
                    .collect::<Result<Vec<_>, _>>()?,
            );
        }
        if students.is_empty() {
            output::message(
                "the project has no student: `overrule student train --name NAME` and `overrule \
                 student import FILE --name NAME` store one",
            );
            return Ok(());
        }
        let rows: Vec<Vec<String>> = students.iter().map(row).collect();
        let header = [
            "student",
            "#step",
            ">queries",
            ">pairs",
            ">in both orders",
            "from",
            "by",
            "when",
        ];
        output::text(&output::table(&header, &rows))
    }
}

fn row(of: &StoredStudent) -> Vec<String> {
    vec![
        clean(&of.name),
        or_dash(of.step, |step| step.to_string()),
        of.queries.to_string(),
        of.pairs.to_string(),
        of.both.to_string(),
        clean(&of.source),
        clean(&of.annotator),
        moment_words(of.created_ms),
    ]
}

fn as_json(of: &StoredStudent) -> serde_json::Result<Value> {
    let model: Option<Value> = of.model.as_deref().map(serde_json::from_str).transpose()?;
    Ok(json!({
        "student": of.name,
        "step": of.step,
        "queries": of.queries,
        "pairs": of.pairs,
        "pairs_in_both_orders": of.both,
        "source": of.source,
        "by": of.annotator,
        "created_ms": of.created_ms,
        "model": model,
    }))
}
