//! `overrule log`: lists who did what, when, and what it changed.

use crate::app::log::rows::{LogFilter, LogRow, log_rows};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::domain::corpus::DocId;
use crate::formats::safe_stdout::SafeStdout;
use crate::formats::table_file::{Column, TableFormat, TableWriter};
use clap::Args;

const COLUMNS: [Column; 14] = [
    Column::text("when"),
    Column::text("event"),
    Column::text("who").or_null(),
    Column::text("query").or_null(),
    Column::text("a").or_null(),
    Column::text("b").or_null(),
    Column::text("before").or_null(),
    Column::text("after").or_null(),
    Column::text("confidence").or_null(),
    Column::text("cause").or_null(),
    Column::text("note").or_null(),
    Column::text("role").or_null(),
    Column::text("uid"),
    Column::text("about").or_null(),
];

#[derive(Debug, Args)]
#[command(after_help = "The log contains:

  - verdicts and undos, with the annotator's opinion of the pair before and after
  - rulings on labels (the document is in column a), and choices in duels
  - imported files, changed settings, new duels, prompts, looks at held-out pairs, runs, and changes
    of the model behind a judge (not with --query)
  - calls for picks, rerankings, anchors and links, summed by judge or method and day, with cost and
    time (not with --annotator)

Events are never changed or deleted. Times are in UTC. `about` is the verdict or ruling that was \
undone or replaced, or describes the import, run, duel or calls.

Examples:
  overrule log
  overrule log --annotator ada --limit 20
  overrule log --csv > audit.csv
  overrule log --json | jq '.[] | select(.event == \"undo\")'")]
pub(super) struct LogCommand {
    /// Show only this query
    #[arg(long)]
    query: Option<String>,
    /// Show only the latest N events
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl LogCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let filter = LogFilter {
            query: self.query,
            annotator: context.named_annotator.clone(),
            limit: self.limit,
        };
        let rows = store.read_blocking(move |db| log_rows(db, &filter))?;
        if self.json {
            return output::json(&rows);
        }
        if self.csv {
            let mut out = SafeStdout::default();
            let mut table = TableWriter::new(&COLUMNS, TableFormat::Csv, &mut out)?;
            for row in &rows {
                table.write(serde_json::to_value(row)?)?;
            }
            return Ok(table.finish()?);
        }
        let rows: Vec<Vec<String>> = rows.iter().map(words).collect();
        let header = [
            "when", "who", "event", "query", "a", "b", "before", "after", "why",
        ];
        output::text(&output::table(&header, &rows))
    }
}

/// A row of the table.
fn words(row: &LogRow) -> Vec<String> {
    let plain = |text: Option<&str>| text.map_or_else(String::new, clean);
    let decision = |name: Option<&str>| match row.query {
        Some(_) => or_dash(name, clean),
        None => plain(name),
    };
    let why = match row.query {
        None => plain(row.about.as_deref()),
        Some(_) => [
            row.about
                .as_deref()
                .filter(|about| about.starts_with("duel ")),
            row.confidence,
            row.cause,
            row.note.as_deref(),
        ]
        .map(plain)
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("; "),
    };
    vec![
        clean(&row.when),
        plain(row.who.as_deref()),
        clean(row.event),
        plain(row.query.as_deref()),
        plain(row.a.as_ref().map(DocId::as_str)),
        plain(row.b.as_ref().map(DocId::as_str)),
        decision(row.before),
        decision(row.after),
        why,
    ]
}
