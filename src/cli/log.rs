//! `overrule log`: who did what, when, and what it changed.

use crate::app::export::rows::{RowFormat, RowWriter};
use crate::app::log::{LogEntry, LogEvent, log_entries};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::output::clean;
use crate::domain::corpus::DocId;
use crate::domain::verdict::Decision;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;

const COLUMNS: [&str; 14] = [
    "when",
    "event",
    "who",
    "query",
    "a",
    "b",
    "before",
    "after",
    "confidence",
    "cause",
    "note",
    "role",
    "uid",
    "about",
];

#[derive(Debug, Args)]
#[command(
    after_help = "Every verdict and every one taken back, with what its annotator said of the pair before and after; rulings on labels, whose
document stands under a; files taken in and runs too, unless
--query or --annotator asks for less. Nothing in the log can be changed: rows are only ever added.
Times are UTC. `about` is the verdict that was taken back or replaced, or what an import or a run did.

Examples:
  overrule log --annotator ada --limit 20
  overrule log --csv > audit.csv
  overrule log --json | jq '.[] | select(.event == \"undo\")'"
)]
pub(super) struct LogCommand {
    /// Only this query
    #[arg(long)]
    query: Option<String>,
    /// Only the latest so many
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
        let (query, who, limit) = (
            self.query.clone(),
            context.named_annotator.clone(),
            self.limit,
        );
        let rows = store.read_blocking(move |db| {
            let query = query.map(|id| db.find_query(&id)).transpose()?;
            let mut entries = log_entries(db, query)?;
            if let Some(who) = &who {
                entries.retain(|entry| entry.who() == Some(who.as_str()));
            }
            let skip = limit.map_or(0, |limit| entries.len().saturating_sub(limit));
            entries.drain(..skip);
            let mut names = DocumentNames {
                db,
                known: HashMap::new(),
            };
            entries.iter().map(|entry| row(&mut names, entry)).collect()
        })?;
        let rows: Vec<Value> = rows;
        if self.json {
            return output::json(&rows);
        }
        if self.csv {
            let mut out = io::stdout().lock();
            let mut table = RowWriter::new(COLUMNS, RowFormat::Csv, &mut out)?;
            rows.iter().try_for_each(|row| table.write(row))?;
            return Ok(table.finish()?);
        }
        let rows: Vec<Vec<String>> = rows.iter().map(words).collect();
        let header = [
            "when", "who", "event", "query", "a", "b", "before", "after", "why",
        ];
        output::text(&output::table(&header, &rows))
    }
}

/// What queries and documents are called.
struct DocumentNames<'a> {
    db: &'a Db,
    known: HashMap<QueryKey, (String, Vec<DocId>)>,
}

impl DocumentNames<'_> {
    fn of(&mut self, query: QueryKey) -> Result<&(String, Vec<DocId>)> {
        if !self.known.contains_key(&query) {
            let documents = self.db.documents(query)?.into_iter();
            let named = (
                self.db.query(query)?.id.to_string(),
                documents.map(|document| document.id).collect(),
            );
            self.known.insert(query, named);
        }
        Ok(&self.known[&query])
    }
}

fn row(names: &mut DocumentNames<'_>, entry: &LogEntry) -> Result<Value> {
    let event = match &entry.event {
        LogEvent::Verdict(..) => "verdict",
        LogEvent::Undo { .. } => "undo",
        LogEvent::Ruling(..) => "ruling",
        LogEvent::RulingUndo { .. } => "ruling undo",
        LogEvent::Import(_) => "import",
        LogEvent::RunBegun { .. } => "run begun",
        LogEvent::RunEnded(_) => "run ended",
    };
    let mut row = json!({
        "when": moment(entry.when_ms),
        "event": event,
        "who": entry.who(),
        "query": null, "a": null, "b": null,
        "before": null, "after": null,
        "confidence": null, "cause": null, "note": null, "role": null,
        "uid": entry.uid,
        "about": null,
    });
    if let Some((stored, change)) = entry.verdict() {
        let (query, documents) = names.of(stored.query)?;
        let verdict = &stored.verdict;
        row["query"] = json!(query);
        row["a"] = json!(documents.get(verdict.a));
        row["b"] = json!(documents.get(verdict.b));
        row["before"] = json!(change.before.map(Decision::name));
        row["after"] = json!(change.after.map(Decision::name));
        row["confidence"] = json!(stored.confidence);
        row["cause"] = json!(stored.cause);
        row["note"] = json!(verdict.note);
        row["role"] = json!(stored.role);
        row["about"] = match &entry.event {
            LogEvent::Undo { .. } => json!(verdict.uid),
            _ => json!(stored.replaces),
        };
    }
    if let Some((stored, change)) = entry.ruling() {
        let ruling = &stored.ruling;
        row["query"] = json!(ruling.query);
        row["a"] = json!(ruling.document);
        row["before"] = json!(change.before);
        row["after"] = json!(change.after);
        row["cause"] = json!(ruling.fault);
        row["note"] = json!(ruling.note);
        row["role"] = json!(stored.about.control_of.map(|of| match of {
            0 => "priority",
            _ => "control",
        }));
        row["about"] = json!(stored.replaces);
        if let LogEvent::RulingUndo { .. } = &entry.event {
            row["about"] = json!(ruling.uid);
        }
    }
    match &entry.event {
        LogEvent::RunBegun {
            seed,
            cycles,
            judges,
        } => {
            let judges = judges.join(", ");
            row["about"] = json!(format!("{cycles} cycles, seed {seed}, judges {judges}"));
        }
        LogEvent::Import(import) => row["about"] = json!(import.told),
        LogEvent::RunEnded(state) => row["about"] = json!(state),
        _ => {}
    }
    Ok(row)
}

/// A row of the table.
fn words(row: &Value) -> Vec<String> {
    let plain = |name: &str| match &row[name] {
        Value::String(text) => clean(text),
        _ => String::new(),
    };
    let said = |name: &str| match &row[name] {
        Value::String(text) => clean(text),
        _ if row["query"].is_null() => String::new(),
        _ => "–".to_owned(),
    };
    let why = match row["query"].is_null() {
        true => plain("about"),
        false => ["confidence", "cause", "note"]
            .map(plain)
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
    };
    vec![
        plain("when"),
        plain("who"),
        plain("event"),
        plain("query"),
        plain("a"),
        plain("b"),
        said("before"),
        said("after"),
        why,
    ]
}

/// RFC 3339 in UTC, to the millisecond; the number itself where no calendar has it.
fn moment(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => ms.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled_as_rfc_3339_has_it() {
        assert_eq!(moment(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(moment(i64::MAX), i64::MAX.to_string());
    }
}
