//! `overrule queries`: prints one row per query.

use super::command::{CommandContext, CommandResult};
use super::output::{JsonArray, TableColumns, clean, shortened, terminal_width};
use crate::app::status::each_summary;
use crate::app::text_format::counted;
use crate::formats::safe_stdout::SafeStdout;
use crate::registry::project_scale;
use crate::store::StoreError;
use crate::store::corpus::QueryInfo;
use crate::store::summary_cache::QuerySummary;
use clap::Args;
use serde_json::json;
use std::io::{self, Write as _};

#[derive(Debug, Args)]
#[command(
    after_help = "If anchors were graded (`overrule scale run`), a column has the expected number \
                  of relevant documents of each query.\n\nExamples:\n  overrule queries\n  \
                  overrule queries --json | jq '.[] | select(.cyclic > 0) | .query'"
)]
pub(super) struct QueriesCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QueriesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let scale = project_scale(&store)?;
        let expected = |info: &QueryInfo| scale.as_ref()?.expected_relevant(&info.id);
        if self.json {
            let mut rows = JsonArray::new();
            each_summary(&store, |info, summary| {
                let mut row = json!({ "query": info.id, "text": info.text });
                if let (Some(row), Ok(serde_json::Value::Object(summary))) =
                    (row.as_object_mut(), serde_json::to_value(summary))
                {
                    row.extend(summary);
                    if scale.is_some() {
                        row.insert("expected_relevant".to_owned(), json!(expected(&info)));
                    }
                }
                rows.push(&row)
            })?;
            return rows.end();
        }
        let mut header = vec![
            "query",
            ">K",
            ">battles",
            ">votes missing",
            ">failed",
            ">consensus",
            ">cycles",
            ">widest rank interval",
            ">verdicts",
        ];
        if scale.is_some() {
            header.push(">expected relevant");
        }
        header.push("text");
        let mut columns = TableColumns::new(&header);
        let mut rows: Vec<String> = Vec::new();
        each_summary(&store, |info, summary| {
            let mut row = cells(&info, &summary);
            if scale.is_some() {
                let relevant = expected(&info).map_or("–".to_owned(), |of| format!("{of:.1}"));
                row.push(relevant);
            }
            row.push(clean(&info.text).chars().take(MOST).collect());
            columns.make_room(&row);
            rows.push(row.join(BETWEEN));
            Ok::<_, StoreError>(())
        })?;
        let room = terminal_width().map_or(TEXT, |line| columns.left_for_last(line).max(LEAST));
        let mut out = io::BufWriter::new(SafeStdout::default());
        out.write_all(columns.header().as_bytes())?;
        for row in rows {
            let mut row: Vec<&str> = row.split(BETWEEN).collect();
            let text = row.pop().unwrap_or_default();
            let text = shortened(text, room);
            row.push(&text);
            out.write_all(columns.line(&row).as_bytes())?;
        }
        Ok(out.flush()?)
    }
}

/// Columns of a query's text if stdout is not a terminal, or on a narrow one.
const TEXT: usize = 70;
const LEAST: usize = 12;
/// Maximum number of characters of a text kept for the table.
const MOST: usize = 400;

/// Separates the cells of a row that waits to be printed; no cell contains it.
const BETWEEN: &str = "\u{1f}";

fn cells(info: &QueryInfo, summary: &QuerySummary) -> Vec<String> {
    vec![
        clean(info.id.as_str()),
        summary.documents.to_string(),
        format!("{}/{}", summary.fought, summary.battles),
        summary.missing.to_string(),
        summary.failures.to_string(),
        match summary.judged {
            0 => "–".to_owned(),
            judged => {
                format!("{:.0} %", 100.0 * summary.unanimous as f64 / judged as f64)
            }
        },
        match summary.triads {
            0 => "–".to_owned(),
            triads => format!("{}/{triads}", summary.cyclic),
        },
        summary
            .widest
            .filter(|_| summary.judged > 0)
            .map_or("–".to_owned(), |ranks| counted(ranks, "rank")),
        summary.verdicts.to_string(),
    ]
}
