//! `overrule merge`: copies what this project lacks from another analyst's file.

use crate::app::merge::{added_counts, merge_into, notes, taken_over};
use crate::app::run_lock::RunLock;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::domain::number_words;
use crate::domain::sanitize;
use crate::store::merge::{MergeCounts, Snapshot};
use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "\
Queries and documents are matched by name and must have the same texts. Votes are matched by
judge, pair and the order of its documents; judges by model, prompt and parameters; verdicts,
undos and answers in duels by their globally unique IDs. Nothing is replaced: if a judge has voted
differently on the same pair in the same order, the vote of this project stays. A merge can be
repeated, and it is all or nothing. The other file is read from a private copy and never written
to. Settings are not merged.

Examples:
  overrule merge ../ada/overrule.db
  overrule merge ../ada/overrule.db --dry-run
  overrule --project both.db merge eve.db --json")]
pub(super) struct MergeCommand {
    /// Project to merge into this one
    #[arg(value_name = "OTHER.db")]
    other: PathBuf,
    /// Report what would be added and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl MergeCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let real = |path: &Path| path.canonicalize().ok();
        if real(&self.other).is_some() && real(&self.other) == real(context.project()) {
            return Err(usage!(
                "{}: is this project itself; name another one",
                self.other.display()
            ));
        }
        let keep = !self.dry_run;
        // Otherwise a run could pay for votes that are being merged at the same time.
        let _lock = keep.then(|| RunLock::take(context.project())).transpose()?;
        let snapshot = Snapshot::of(&self.other)?;
        let merged = merge_into(&store, snapshot, keep)
            .with_context(|| format!("{}: nothing is merged", self.other.display()))?;
        if self.json {
            output::json(&self.as_json(&merged))?;
        } else {
            output::text(&self.words(&merged))?;
        }
        for note in notes(&merged) {
            output::message(&format!("note: {note}"));
        }
        for (query, reason) in &merged.refused {
            let query = sanitize::line(query);
            output::message(&format!("skipped query {query:?}: {reason}"));
        }
        if merged.refused.is_empty() {
            Ok(())
        } else {
            Err(CommandFailure::incomplete())
        }
    }

    fn as_json(&self, merged: &MergeCounts) -> serde_json::Value {
        let refused: Vec<_> = merged
            .refused
            .iter()
            .map(|(query, reason)| json!({ "query": query, "reason": reason }))
            .collect();
        let mut counts = json!({
            "other": self.other.display().to_string(),
            "dry_run": self.dry_run,
            "queries_added": merged.queries_added,
            "documents_added": merged.documents_added,
            "metadata_clashes": merged.metadata_clashes,
            "battles": merged.battles,
            "votes": merged.votes,
            "vote_clashes": merged.vote_clashes,
            "failures": merged.failures,
            "spent_usd": merged.spent_usd,
            "assumed_usd": merged.assumed_usd,
            "verdicts": merged.verdicts,
            "undos": merged.undos,
            "gold": merged.gold,
            "gold_clashes": merged.gold_clashes,
            "labels": merged.labels,
            "label_clashes": merged.label_clashes,
            "rankings": merged.rankings,
            "picks": merged.picks,
            "rulings": merged.rulings,
            "queries_keeping_their_judges": merged.keep_their_judges,
            "conflicts": merged.conflicts,
            "namesakes": merged.namesakes,
            "calls_pending": merged.calls_pending,
            "refused": refused,
        });
        for of in added_counts() {
            counts[of.name] = json!(merged.counted(of));
        }
        counts
    }

    fn words(&self, merged: &MergeCounts) -> String {
        let other = sanitize::line(&self.other.display().to_string()).into_owned();
        let Some(new) = taken_over(merged) else {
            return format!("{other}: contains nothing new\n");
        };
        let what = if self.dry_run {
            "would be added"
        } else {
            "added"
        };
        let spent = if merged.spent_usd > 0.0 {
            format!("; they had cost {}", number_words::usd(merged.spent_usd))
        } else {
            String::new()
        };
        let assumed = if merged.assumed_usd > 0.0 {
            format!(
                "; at most {} more were assumed",
                number_words::usd(merged.assumed_usd)
            )
        } else {
            String::new()
        };
        format!("{other}: {what}: {new}{spent}{assumed}\n")
    }
}
