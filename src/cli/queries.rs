//! `overrule queries`: one row a query.

use super::command::{CommandContext, CommandResult};
use super::output::{self, clean};
use crate::app::status::summaries;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  overrule queries --json | jq '.[] | select(.cyclic > 0) | .query'"
)]
pub(super) struct QueriesCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QueriesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let rows = summaries(&store)?;
        if self.json {
            let rows: Vec<_> = rows
                .iter()
                .map(|(info, summary)| {
                    let mut row = json!({ "query": info.id, "text": info.text });
                    if let (Some(row), Ok(serde_json::Value::Object(summary))) =
                        (row.as_object_mut(), serde_json::to_value(summary))
                    {
                        row.extend(summary);
                    }
                    row
                })
                .collect();
            return output::json(&rows);
        }
        let header = [
            "query",
            ">K",
            ">battles",
            ">votes missing",
            ">failed",
            ">consensus",
            ">cycles",
            ">widest rank interval",
            ">verdicts",
            "text",
        ];
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|(info, summary)| {
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
                        .map_or("–".to_owned(), |ranks| format!("{ranks} ranks")),
                    summary.verdicts.to_string(),
                    clean(&info.text).chars().take(70).collect(),
                ]
            })
            .collect();
        output::text(&output::table(&header, &rows))
    }
}
