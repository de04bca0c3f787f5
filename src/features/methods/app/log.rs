//! Calls of reranking methods in the audit log.

use crate::app::log::rows::asked;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// Calls for reranking, one entry per method and day, at the time of the last call.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let days = db.rerank_days(query)?.into_iter();
    Ok(days
        .map(|day| LogEntry {
            when_ms: day.last_ms,
            event: LogEvent::Feature(Box::new(FeatureEvent {
                name: "rerank",
                about: Some(asked(&day)),
                ..FeatureEvent::default()
            })),
            uid: day.uid,
        })
        .collect())
}
