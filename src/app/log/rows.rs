//! The audit log as a table, using the names of queries and documents.

use super::{LogEntry, LogEvent, log_entries};
use crate::app::text_format::{counted, duration, rfc_3339};
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::corpus::DocId;
use crate::domain::number_words::{count, usd};
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::store::corpus::QueryKey;
use crate::store::days::AskedDay;
use crate::store::{Db, Result};
use serde::Serialize;
use std::collections::HashMap;

/// Which entries to include.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    pub query: Option<String>,
    pub annotator: Option<String>,
    /// Maximum number of entries, latest first.
    pub limit: Option<usize>,
}

/// One entry. A ruling's document is in column `a`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LogRow {
    /// In RFC 3339 format, in UTC.
    pub when: String,
    pub event: &'static str,
    pub who: Option<String>,
    pub query: Option<String>,
    pub a: Option<DocId>,
    pub b: Option<DocId>,
    /// The annotator's earlier decision on the pair or document.
    pub before: Option<&'static str>,
    pub after: Option<&'static str>,
    pub confidence: Option<&'static str>,
    pub cause: Option<&'static str>,
    pub note: Option<String>,
    pub role: Option<String>,
    pub uid: String,
    /// The verdict or ruling that was undone or replaced, or a description of the import, run, duel
    /// or calls.
    pub about: Option<String>,
}

/// The log, earliest first.
pub fn log_rows(db: &Db, filter: &LogFilter) -> Result<Vec<LogRow>> {
    let query = filter.query.as_deref();
    let query = query.map(|id| db.find_query(id)).transpose()?;
    let mut entries = log_entries(db, query)?;
    if let Some(who) = &filter.annotator {
        entries.retain(|entry| entry.who() == Some(who.as_str()));
    }
    let limit = filter.limit.unwrap_or(entries.len());
    entries.drain(..entries.len().saturating_sub(limit));
    let mut names = DocumentNames {
        db,
        known: HashMap::new(),
    };
    entries.iter().map(|entry| row(&mut names, entry)).collect()
}

/// Names of queries and documents.
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

fn row(names: &mut DocumentNames<'_>, entry: &LogEntry) -> Result<LogRow> {
    let mut row = LogRow {
        when: rfc_3339(entry.when_ms),
        who: entry.who().map(str::to_owned),
        uid: entry.uid.clone(),
        ..LogRow::default()
    };
    if let Some((stored, change)) = entry.verdict() {
        let (query, documents) = names.of(stored.query)?;
        let verdict = &stored.verdict;
        row.query = Some(query.clone());
        row.a = documents.get(verdict.a).cloned();
        row.b = documents.get(verdict.b).cloned();
        row.before = change.before.map(Decision::name);
        row.after = change.after.map(Decision::name);
        row.confidence = stored.confidence.map(Confidence::name);
        row.cause = stored.cause.map(ErrorCause::name);
        row.note = verdict.note.clone();
        row.role = stored.role.clone();
        row.about = stored.replaces.clone();
    }
    if let Some((stored, change)) = entry.ruling() {
        let ruling = &stored.ruling;
        row.query = Some(ruling.query.to_string());
        row.a = Some(ruling.document.clone());
        row.before = change.before.map(Finding::name);
        row.after = change.after.map(Finding::name);
        row.cause = ruling.fault.map(DisagreementCause::name);
        row.note = ruling.note.clone();
        let role = |of| if of == 0 { "priority" } else { "control" };
        row.role = stored.about.control_of.map(|of| role(of).to_owned());
        row.about = stored.replaces.clone();
    }
    row.event = match &entry.event {
        LogEvent::Verdict(..) => "verdict",
        LogEvent::Undo { verdict, .. } => {
            row.about = Some(verdict.verdict.uid.clone());
            "undo"
        }
        LogEvent::Ruling(..) => "ruling",
        LogEvent::RulingUndo { ruling, .. } => {
            row.about = Some(ruling.ruling.uid.clone());
            "ruling undo"
        }
        LogEvent::Import(import) => {
            row.about = Some(import.told.clone());
            "import"
        }
        LogEvent::Setting(change) => {
            let (before, after) = (&change.before, &change.after);
            row.about = Some(format!("{}: {before} → {after}", change.setting));
            "setting"
        }
        LogEvent::RunBegun {
            seed,
            cycles,
            judges,
        } => {
            let judges = judges.join(", ");
            row.about = Some(format!("{cycles} cycles, seed {seed}, judges {judges}"));
            "run begun"
        }
        LogEvent::ModelChanged { judge, before, now } => {
            row.about = Some(format!("{judge} answers as {now}, before as {before}"));
            "model changed"
        }
        LogEvent::RunEnded(state) => {
            row.about = Some(state.clone());
            "run ended"
        }
        LogEvent::Picks(day) => {
            row.about = Some(asked(day));
            "picks"
        }
        LogEvent::Feature(event) => {
            row.query.clone_from(&event.query);
            row.a.clone_from(&event.document);
            row.note.clone_from(&event.note);
            row.role.clone_from(&event.role);
            row.about.clone_from(&event.about);
            event.name
        }
    };
    Ok(row)
}

/// Who was asked, how many calls that took, and their cost:
/// `gpt: 40 calls on 20 queries, 1 failed, $0.12, 35 s`.
pub fn asked(day: &AskedDay) -> String {
    let (calls, queries) = (counted(day.calls, "call"), counted(day.queries, "query"));
    let mut words = format!("{}: {calls} on {queries}", day.name);
    if day.failed > 0 {
        words += &format!(", {} failed", count(day.failed));
    }
    words += &match day.cost_usd {
        Some(cost) => format!(", {}", usd(cost)),
        None => ", price unknown".to_owned(),
    };
    if let Some(seconds) = day.seconds {
        words += &format!(", {}", duration(seconds));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_judges_were_asked_is_said_with_what_it_took() {
        let mut day = AskedDay {
            name: "gpt".to_owned(),
            calls: 1_200,
            failed: 0,
            queries: 1,
            cost_usd: Some(0.125),
            seconds: Some(185.0),
            last_ms: 0,
            uid: String::new(),
        };
        assert_eq!(
            asked(&day),
            "gpt: 1,200 calls on 1 query, $0.13, 3 min 05 s"
        );
        (day.failed, day.cost_usd, day.seconds) = (2, None, None);
        let words = "gpt: 1,200 calls on 1 query, 2 failed, price unknown";
        assert_eq!(asked(&day), words);
    }

    #[test]
    fn times_are_spelled_as_rfc_3339_has_it() {
        assert_eq!(rfc_3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc_3339(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(rfc_3339(i64::MAX), i64::MAX.to_string());
    }
}
