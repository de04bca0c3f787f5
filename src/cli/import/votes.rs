//! `overrule import votes`: imports pairwise judgments of other systems vote by vote.

use crate::app::import::{VotesImport, log_import, votes};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "One vote per line:
  {\"query\":{\"id\":\"q1\",\"query\":\"…\"},\"a\":{\"id\":\"d1\",\"content\":\"…\"},\"b\":{\"id\":\"d2\",\"content\":\"…\"},
   \"by\":\"gpt-4o\",\"kind\":\"llm\",\"score\":-0.5,\"shown\":\"ab\",\"reasoning\":\"…\"}
The score is in -1..1; it is negative if a is better. shown says which document was shown first:
ab (the default) or ba. kind is llm or human. A text can be omitted if the project or an earlier
line contains it. reasoning and created_ms are optional; other fields are ignored.

Votes of models become votes of judges. A judge who saw a pair in both orders has two votes. Votes
of people become verdicts: a, b or tie; the strength of their scores is not used. Votes that the
project already contains are not added again.

Examples:
  overrule import votes judgments.jsonl
  overrule import votes judgments.jsonl --dry-run
  overrule import votes judgments.jsonl --json")]
pub(super) struct ImportVotesCommand {
    /// Files of votes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Skip invalid lines
    #[arg(long)]
    skip_bad: bool,
    /// Check the files and report what would be added
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ImportVotesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let project = if context.has_project() {
            Some(context.open()?)
        } else {
            None
        };
        let mut texts = votes::TextsByQuery::new();
        for path in &self.paths {
            let checked = votes::check(path, project.as_ref(), &mut texts)?;
            if self.skip_bad {
                output::problems(&checked.problems)
            } else {
                checked.problems.refuse(crate::app::import::REFUSED)?
            }
            if let Some(sample) = checked.sample {
                output::message(&sample.to_string());
            }
        }
        drop(texts);
        let mut imports = Vec::new();
        if self.dry_run {
            imports = votes::rehearse(&self.paths, project.as_ref())?;
        } else {
            drop(project);
            let store = context.open_or_create()?;
            for path in &self.paths {
                let import = votes::import(&store, path)?;
                log_import(&store, &context.annotator(), &import.to_string())?;
                imports.push(import);
            }
        }
        if self.json {
            let row = |import: &VotesImport| {
                let mut row = json!(import);
                row["dry_run"] = json!(self.dry_run);
                row
            };
            return output::json(&imports.iter().map(row).collect::<Vec<Value>>());
        }
        if self.dry_run {
            output::text("no problems found; this would be imported:\n")?;
        }
        for import in &imports {
            output::text(&format!("{import}\n"))?;
            for note in import.notes() {
                output::message(&format!("note: {note}"));
            }
        }
        Ok(())
    }
}
