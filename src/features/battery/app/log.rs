//! Batteries in the audit log.

use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// The batteries that were started. They belong to no single query.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    if query.is_some() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    for battery in db.batteries()? {
        let pairs = counted(db.battery_pairs(&battery.uid)?.len(), "pair");
        let event = FeatureEvent {
            name: "battery",
            who: Some(battery.author),
            about: Some(format!("manipulated texts to {} on {pairs}", battery.judge)),
            ..FeatureEvent::default()
        };
        entries.push(LogEntry {
            when_ms: battery.created_ms,
            uid: format!("battery:{}", battery.uid),
            event: LogEvent::Feature(Box::new(event)),
        });
    }
    Ok(entries)
}
