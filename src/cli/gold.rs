//! `overrule gold`: imports or lists gold pairs, which have a known answer for checking annotators.

use crate::app::gold::{GoldReport, NamedGoldItem, import_gold};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::clean;
use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

/// Maximum number of problems printed; the rest are only counted.
const SHOWN: usize = 50;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule gold import gold.csv
  overrule gold list")]
pub(super) struct GoldCommand {
    #[command(subcommand)]
    action: GoldAction,
}

#[derive(Debug, Subcommand)]
enum GoldAction {
    /// Import gold pairs
    Import(GoldImportCommand),
    /// List gold pairs, and how people answered them
    List(GoldListCommand),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The file contains JSON lines or is a table with a header. Its fields are query, a, b, \
decision and, optionally, note. The decision is a, b, tie, much-a or much-b. Queries and documents \
must be in the project. A file with errors changes nothing.

Examples:
  overrule gold import gold.csv
  echo '{\"query\":\"q1\",\"a\":\"d1\",\"b\":\"d2\",\"decision\":\"a\",\"note\":\"from the guideline\"}' > g.jsonl && overrule gold import g.jsonl"
)]
struct GoldImportCommand {
    /// CSV or JSON lines
    path: PathBuf,
    /// Replace existing answers
    #[arg(long)]
    replace: bool,
    /// Check the file and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  overrule gold list\n  overrule gold list --json | jq .people")]
struct GoldListCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl GoldCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            GoldAction::Import(import) => import.run(context),
            GoldAction::List(list) => list.run(context),
        }
    }
}

impl GoldImportCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let name = self.path.display().to_string();
        let added = import_gold(&store, &self.path, self.replace, self.dry_run)?;
        for problem in added.problems.iter().take(SHOWN) {
            output::message(&problem.to_string());
        }
        if !added.problems.is_empty() {
            return Err(usage!(
                "{name}: {}, nothing imported; correct the file",
                counted(added.problems.len(), "problem")
            ));
        }
        if self.json {
            return output::json(&json!({
                "file": name,
                "added": added.new,
                "unchanged": added.same,
                "replaced": added.replaced,
                "dry_run": self.dry_run,
            }));
        }
        let what = if self.dry_run {
            "would be added"
        } else {
            "added"
        };
        output::text(&format!(
            "{}: {} {what}, {} replaced, {} already there\n",
            sanitize::line(&name),
            counted(added.new, "gold item"),
            added.replaced,
            added.same
        ))
    }
}

impl GoldListCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let GoldReport { items, people } = store.read_blocking(|db| GoldReport::read(db))?;
        if self.json {
            let items: Vec<_> = items
                .iter()
                .map(|NamedGoldItem { query, a, b, item }| {
                    json!({ "query": query, "a": a, "b": b, "decision": item.decision.name(), "note": item.note })
                })
                .collect();
            let people: Vec<_> = people
                .iter()
                .map(|(annotator, score)| {
                    json!({
                        "annotator": annotator,
                        "right": score.right,
                        "judged": score.judged,
                        "cannot_tell": score.cannot_tell,
                        "share": score.share.map(|share| share.value),
                        "interval_95": score.share.map(|share| (share.interval.low, share.interval.high)),
                    })
                })
                .collect();
            return output::json(&json!({ "items": items, "people": people }));
        }
        let plain = |id: &Option<DocId>| {
            id.as_ref()
                .map_or_else(String::new, |id| clean(id.as_str()))
        };
        let rows: Vec<Vec<String>> = items
            .iter()
            .map(|NamedGoldItem { query, a, b, item }| {
                vec![
                    clean(query.as_str()),
                    plain(a),
                    plain(b),
                    item.decision.to_string(),
                    clean(item.note.as_deref().unwrap_or_default()),
                ]
            })
            .collect();
        let mut text = output::table(&["query", "a", "b", "decision", "note"], &rows);
        for (annotator, score) in &people {
            let share = match score.share {
                Some(share) => format!(
                    "{} of {} right: {:.1} % (95 %: {:.1}–{:.1} %)",
                    score.right,
                    score.judged,
                    100.0 * share.value,
                    100.0 * share.interval.low,
                    100.0 * share.interval.high
                ),
                None => "no gold item judged".to_owned(),
            };
            let unsure = match score.cannot_tell {
                0 => String::new(),
                items => format!(", cannot tell on {items}"),
            };
            text.push_str(&format!("{}: {share}{unsure}\n", sanitize::line(annotator)));
        }
        output::text(&text)
    }
}
