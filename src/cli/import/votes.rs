//! `overrule import votes`: imports pairwise judgments of other systems vote by vote.

use super::answers::AnswerArgs;
use crate::app::import::votes::PairOptions;
use crate::app::import::{QueryMatch, VotesImport, log_import, votes};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::formats::pairs::PairFormat;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The main format, before the others are listed.
const VOTES: &str = r#"One vote per line:
  {"query":{"id":"q1","query":"…"},"a":{"id":"d1","content":"…"},"b":{"id":"d2","content":"…"},
   "by":"gpt-4o","kind":"llm","score":-0.5,"shown":"ab","reasoning":"…"}
The score is in -1..1; it is negative if a is better. shown says which document was shown first:
ab (the default) or ba. kind is llm or human. A text can be omitted if the project or an earlier
line contains it. reasoning and created_ms are optional; other fields are ignored.

Votes of models become votes of judges. A judge who saw a pair in both orders has two votes. Votes
of people become verdicts: a, b or tie; the strength of their scores is not used. Votes that the
project already contains are not added again.

Other formats, recognized by their content:
"#;

const NOTES_AND_EXAMPLES: &str = r#"
Their choices become verdicts on the queries and documents of the project, which are found
by their ids or texts (`overrule manual formats`). Import one such file at a time.

Examples:
  overrule import votes judgments.jsonl
  overrule import votes judgments.jsonl --dry-run
  overrule import votes judgments.jsonl --json
  overrule import votes tasks.json --fields query=prompt,a=answer1,b=answer2
                                             comparisons of an annotation tool"#;

fn after_help() -> String {
    format!("{VOTES}{}{NOTES_AND_EXAMPLES}", PairFormat::help_lines())
}

#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct ImportVotesCommand {
    /// Files of votes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Format of the files [default: recognized from their content]
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    format: Option<PairFormat>,
    /// How an annotation tool's export names the queries of the project [default: by id or by text,
    /// whichever fits]
    #[arg(long = "match", value_enum, value_name = "BY")]
    query_match: Option<QueryMatch>,
    #[command(flatten)]
    answers: AnswerArgs,
    /// State that people saw no predictions, suggestions or votes before they chose; for exports of
    /// annotation tools and arenas
    #[arg(long)]
    blind: bool,
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
        let options = PairOptions {
            format: self.format,
            query_match: self.query_match,
            answers: self.answers.options(false)?,
            blind: self.blind,
        };
        votes::refuse_several(&self.paths, &options)?;
        let mut texts = votes::TextsByQuery::new();
        for path in &self.paths {
            let checked = votes::check(path, project.as_ref(), &options, &mut texts)?;
            if self.skip_bad {
                output::problems(&checked.problems)
            } else {
                checked.problems.refuse(crate::app::import::REFUSED)?
            }
            if let Some(sample) = checked.sample {
                output::message(&sample.to_string());
            }
            for note in checked.notes {
                output::message(&format!("note: {note}"));
            }
        }
        drop(texts);
        let mut imports = Vec::new();
        if self.dry_run {
            imports = votes::rehearse(&self.paths, project.as_ref(), &options)?;
        } else {
            drop(project);
            let store = context.open_or_create()?;
            for path in &self.paths {
                let import = votes::import(&store, path, &options)?;
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
