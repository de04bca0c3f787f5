//! Checks of judges in the audit log.

use super::rounds::REFERENCE_ROUNDS;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// The rounds in which judges were asked about frozen pairs. They belong to no single query. The two
/// rounds at the start are one entry.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    if query.is_some() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for set in db.drift_sets()? {
        let pairs = counted(db.drift_pairs(&set.uid)?.len(), "pair");
        for round in db.drift_rounds(&set.uid)? {
            let what = match round.number {
                0 => "reference answers",
                1..REFERENCE_ROUNDS => continue,
                _ => "check",
            };
            let event = FeatureEvent {
                name: "drift",
                who: Some(round.author),
                about: Some(format!("{what} of {} on {pairs}", set.judge)),
                ..FeatureEvent::default()
            };
            entries.push(LogEntry {
                when_ms: round.created_ms,
                uid: format!("drift:{}:{}", set.uid, round.number),
                event: LogEvent::Feature(Box::new(event)),
            });
        }
    }
    Ok(entries)
}
