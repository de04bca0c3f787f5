//! `overrule import lists`: imports list calls of another copy of the project.

use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::features::lists::app::import_lists;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "FILE was written by `overrule export lists`. A line is imported only if the project \
has the same texts: the hashes of the judge and of everything that it was sent are computed again. \
Either the whole file is stored or nothing, and importing it again changes nothing. Calls keep their \
IDs, so that a later `overrule merge` counts their cost once. Imported answers are not bought \
again. Whether a judge has qualified is not imported: `overrule lists qualify` decides it from the \
probes, without further calls if all are there.

Examples:
  overrule import lists lists.jsonl --dry-run
  overrule import lists lists.jsonl --json"
)]
pub(crate) struct ImportListsCommand {
    /// List calls as JSON lines
    file: PathBuf,
    /// Check the file and report what would be added
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ImportListsCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let import = import_lists(&store, &self.file, &context.annotator(), self.dry_run)?;
        if self.json {
            let mut row = json!(import);
            row["dry_run"] = json!(self.dry_run);
            return output::json(&row);
        }
        if self.dry_run {
            output::text("no problems found; this would be imported:\n")?;
        }
        output::text(&format!("{import}\n"))
    }
}
