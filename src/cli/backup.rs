//! `overrule backup`: copies the project to a single file, even while it is in use.

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output;
use super::signals;
use crate::app::output_file::ProtectedFiles;
use crate::app::text_format::counted;
use crate::store::Store;
use crate::store::backup::{BackupCounts, back_up, part_of};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is consistent and checked, even if a run or the workbench is writing \
                  to the project. Copying overrule.db
with other programs can miss the latest changes, which are in overrule.db-wal.

Examples:
  overrule backup before-merge.db
  overrule --project both.db backup /mnt/backup/both.db"
)]
pub(super) struct BackupCommand {
    /// File to write; existing files are never overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl BackupCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let (project, target) = (context.project().to_owned(), self.file.clone());
        if !Store::may_exist(&project) {
            return Err(usage!("{}: no such project", project.display()));
        }
        if Store::may_exist(&target) {
            return Err(usage!(
                "{}: exists already, and a backup never overwrites a file; name another one",
                target.display()
            ));
        }
        let protected = ProtectedFiles {
            project: &project,
            configuration: context.config_file.as_deref(),
        };
        protected.check_target(&target, &[])?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut stops = runtime.block_on(async { signals::stops() })?;
        let (send, done) = tokio::sync::oneshot::channel();
        std::thread::Builder::new()
            .name("backup".to_owned())
            .spawn(move || drop(send.send(back_up(&project, &target))))?;
        let counts = runtime.block_on(async {
            tokio::select! {
                counts = done => Some(counts),
                _ = stops.recv() => None,
            }
        });
        match counts {
            Some(counts) => self.print(&counts.map_err(anyhow::Error::from)??),
            None => {
                drop(std::fs::remove_file(part_of(&self.file)));
                Err(CommandFailure::interrupted())
            }
        }
    }

    fn print(&self, counts: &BackupCounts) -> CommandResult {
        let file = output::clean(self.file.display().to_string());
        if self.json {
            return output::json(&json!({
                "file": self.file.display().to_string(),
                "queries": counts.queries,
                "votes": counts.votes,
                "verdicts": counts.verdicts,
                "bytes": counts.bytes,
            }));
        }
        output::text(&format!(
            "{file}: {}, {} and {}, {:.1} MB, checked\n",
            counted(counts.queries, "query"),
            counted(counts.votes, "vote"),
            counted(counts.verdicts, "verdict"),
            counts.bytes as f64 / 1e6
        ))
    }
}
