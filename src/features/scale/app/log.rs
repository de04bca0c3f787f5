//! Judges' answers for score calibration in the audit log.

use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// Grades of anchors and answers to links, one entry per judge and day, at the time of the last
/// answer.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let info = query.map(|key| db.query(key)).transpose()?;
    let name = info.as_ref().map(|info| info.id.as_str());
    let anchors = db.anchor_days(query)?.into_iter().map(|day| {
        let about = format!(
            "{} graded {} of {}",
            day.judge,
            counted(day.answers, "document"),
            counted(day.queries, "query")
        );
        entry("anchors", about, day.last_ms, day.uid)
    });
    let links = db.link_days(name)?.into_iter().map(|day| {
        let about = format!(
            "{} answered {} between {}",
            day.judge,
            counted(day.answers, "link"),
            counted(day.queries, "query")
        );
        entry("links", about, day.last_ms, day.uid)
    });
    Ok(anchors.chain(links).collect())
}

fn entry(name: &'static str, about: String, when_ms: i64, uid: String) -> LogEntry {
    let event = FeatureEvent {
        name,
        about: Some(about),
        ..FeatureEvent::default()
    };
    LogEntry {
        when_ms,
        uid,
        event: LogEvent::Feature(Box::new(event)),
    }
}
