//! `overrule merge`: copies what this project lacks from another analyst's file.

use crate::app::merge::{added_counts, finish_merges, merge_rows, notes, taken_over};
use crate::app::run_lock::RunLock;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::domain::number_words;
use crate::domain::sanitize;
use crate::store::Store;
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
repeated, and it is all or nothing for each file. The other files are read from private copies and
never written to. Settings are not merged.

With several files and --json, there is one line of JSON per file. With several files, --dry-run
compares each of them with this project as it is.

Examples:
  overrule merge ../ada/overrule.db
  overrule merge ../ada/overrule.db --dry-run
  overrule --project both.db merge eve.db --json
  overrule --project all.db merge shard-*.db")]
pub(super) struct MergeCommand {
    /// Projects to merge into this one
    #[arg(value_name = "OTHER.db", required = true)]
    others: Vec<PathBuf>,
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
        let project = real(context.project());
        let is_project = |other: &&PathBuf| project.is_some() && real(other) == project;
        if let Some(other) = self.others.iter().find(is_project) {
            return Err(usage!(
                "{}: is this project itself; name another one",
                other.display()
            ));
        }
        let keep = !self.dry_run;
        // Otherwise a run could pay for votes that are being merged at the same time.
        let _lock = keep.then(|| RunLock::take(context.project())).transpose()?;
        let mut any_refused = false;
        let merged = self.others.iter().try_for_each(|other| {
            any_refused |= self.merge(&store, other)?;
            Ok::<(), CommandFailure>(())
        });
        if keep {
            finish_merges(&store)?;
        }
        merged?;
        if any_refused {
            Err(CommandFailure::incomplete())
        } else {
            Ok(())
        }
    }

    /// Merges a project, and returns whether any of its queries was skipped.
    fn merge(&self, store: &Store, other: &Path) -> Result<bool, CommandFailure> {
        let merged = Snapshot::of(other).and_then(|from| merge_rows(store, from, !self.dry_run));
        let merged = merged.with_context(|| format!("{}: nothing is merged", other.display()))?;
        let counts = || self.as_json(other, &merged);
        match (self.json, &self.others[..]) {
            (true, [_]) => output::json(&counts())?,
            (true, _) => output::json_line(&counts())?,
            (false, _) => output::text(&self.words(other, &merged))?,
        }
        for note in notes(&merged) {
            output::message(&format!("note: {note}"));
        }
        for (query, reason) in &merged.refused {
            let query = sanitize::line(query);
            output::message(&format!("skipped query {query:?}: {reason}"));
        }
        Ok(!merged.refused.is_empty())
    }

    fn as_json(&self, other: &Path, merged: &MergeCounts) -> serde_json::Value {
        let refused: Vec<_> = merged
            .refused
            .iter()
            .map(|(query, reason)| json!({ "query": query, "reason": reason }))
            .collect();
        let mut counts = json!({
            "other": other.display().to_string(),
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

    fn words(&self, other: &Path, merged: &MergeCounts) -> String {
        let other = sanitize::line(&other.display().to_string()).into_owned();
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
