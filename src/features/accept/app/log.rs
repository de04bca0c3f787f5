//! Acceptances in the audit log.

use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::features::accept::store::StoredAcceptance;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// The acceptances that were started. They belong to no single query.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    if query.is_some() {
        return Ok(Vec::new());
    }
    let entry = |of: StoredAcceptance| {
        let event = FeatureEvent {
            name: "accept",
            who: Some(of.author),
            about: Some(format!(
                "at most {} of the accepted decisions wrong, {}",
                of.alpha,
                counted(of.battles, "battle")
            )),
            ..FeatureEvent::default()
        };
        LogEntry {
            when_ms: of.created_ms,
            uid: of.uid,
            event: LogEvent::Feature(Box::new(event)),
        }
    };
    Ok(db.acceptances()?.into_iter().map(entry).collect())
}
