//! `overrule report`: writes a page to share.

use crate::app::output_file::write_whole;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, ProgressPace};
use crate::features::report::app::{PageFormat, read_report, report_text};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "The HTML page is one file without scripts. It loads nothing, and can be read \
offline, printed and sent by mail. It shows what was judged, by whom and at what cost, one sentence \
about each judge, each query in both orders, the pairs that people decided with texts and reasons, \
and the results of methods, measurements, duels and `overrule accept`.

Up to 20 queries have a section, those with verdicts first; --query names others. The result of a \
duel in which you still have tasks is left out.

Examples:
  overrule report --html report.html
  overrule report --html one.html --query scifact-641
  overrule report --md report.md"
)]
pub(crate) struct ReportCommand {
    /// Write an HTML page
    #[arg(long, value_name = "FILE", required_unless_present = "md")]
    html: Option<PathBuf>,
    /// Write Markdown, without pictures and document texts
    #[arg(long, value_name = "FILE")]
    md: Option<PathBuf>,
    /// Write a section for this query only (repeatable)
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
}

impl ReportCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let files: Vec<(&Path, PageFormat)> = [
            (self.html.as_deref(), PageFormat::Html),
            (self.md.as_deref(), PageFormat::Markdown),
        ]
        .into_iter()
        .filter_map(|(path, format)| Some((path?, format)))
        .collect();
        context.check_targets(files.iter().map(|(path, _)| *path), &[], None)?;
        if self.html.is_some() && self.html == self.md {
            return Err(usage!("--html and --md name the same file"));
        }
        let store = context.open()?;
        let named = self.named(&store)?;
        let mut pace = ProgressPace::new();
        let mut progress = |done: usize, all: usize| {
            if pace.is_due() {
                output::message(&format!("reading queries: {done} of {all}"));
            }
        };
        let annotator = context.annotator();
        let report = read_report(&store, named.as_deref(), &annotator, &mut progress)?;
        for (path, format) in files {
            let text = report_text(&report, format)?;
            write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?;
            output::wrote(path);
        }
        Ok(())
    }

    /// The named queries, each once; `None` if none is named.
    fn named(&self, store: &Store) -> Result<Option<Vec<QueryKey>>, CommandFailure> {
        if self.query.is_empty() {
            return Ok(None);
        }
        let names = self.query.clone();
        let mut keys = store.read_blocking(move |db| {
            let keys = names.iter().map(|name| db.find_query(name));
            keys.collect::<Result<Vec<_>, _>>()
        })?;
        let mut seen = Vec::new();
        keys.retain(|key| {
            let is_new = !seen.contains(key);
            seen.push(*key);
            is_new
        });
        Ok(Some(keys))
    }
}
