//! `overrule undo`: undoes the latest verdict or ruling.

use super::command::{CommandContext, CommandResult};
use super::output::{self, clean};
use crate::app::review::undo::{undo_ruling, undo_verdict};
use crate::store::Store;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule undo
  overrule undo --ruling --json")]
pub(super) struct UndoCommand {
    /// Undo your latest ruling on a label instead of your latest verdict on a pair
    #[arg(long)]
    ruling: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl UndoCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let (store, annotator) = (context.open()?, context.annotator());
        if self.ruling {
            return self.ruling(&store, &annotator);
        }
        let undone = undo_verdict(&store, &annotator)?;
        if self.json {
            let (verdict, (a, b)) = (&undone.verdict, &undone.documents);
            return output::json(&json!({
                "uid": verdict.uid, "query": undone.query, "a": a, "b": b, "verdict": verdict.decision.name(),
            }));
        }
        let query = clean(undone.query.as_str());
        output::text(&format!("{query}: {}\n", clean(&undone.text)))
    }

    fn ruling(&self, store: &Store, annotator: &str) -> CommandResult {
        let ruling = undo_ruling(store, annotator)?.ruling;
        if self.json {
            return output::json(&json!({
                "uid": ruling.uid, "query": ruling.query, "document": ruling.document, "ruling": ruling.finding,
            }));
        }
        output::text(&format!(
            "query {}, document {}: undone: {}\n",
            clean(ruling.query.as_str()),
            clean(ruling.document.as_str()),
            ruling.finding.words()
        ))
    }
}
