//! The judges of the run as a table for the clipboard.

use crate::app::annotate::progress::RunProgress;
use crate::store::last_run::LastRun;
use crate::tui::clipboard::ClipboardTable;

pub(super) fn table(progress: &RunProgress) -> ClipboardTable {
    let columns = ["judge", "votes", "calls", "failed", "retries", "spent_usd"];
    let rows = progress.judges.iter().map(|judge| {
        [
            judge.name.clone(),
            judge.votes.to_string(),
            judge.total.to_string(),
            judge.failures.to_string(),
            judge.retries.to_string(),
            format!("{:.6}", judge.spend.usd()),
        ]
    });
    ClipboardTable::new("judge", columns, rows)
}

/// The judges of an earlier run; how often they were asked is not known.
pub(super) fn table_of_last(run: &LastRun) -> ClipboardTable {
    let rows = run.judges.iter().map(|judge| {
        [
            judge.name.clone(),
            judge.votes.to_string(),
            judge.failures.to_string(),
            format!("{:.6}", judge.spend.usd()),
        ]
    });
    ClipboardTable::new("judge", ["judge", "votes", "failed", "spent_usd"], rows)
}
