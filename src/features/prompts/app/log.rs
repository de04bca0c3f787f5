//! Prompts and looks at the held-out part in the audit log.

use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::features::prompts::domain::p_words;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// The prompts that people wrote, and the looks. Both belong to no query.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    if query.is_some() {
        return Ok(Vec::new());
    }
    let written = db
        .stored_prompts()?
        .into_iter()
        .filter(|stored| stored.author.is_some());
    let mut entries: Vec<LogEntry> = written
        .map(|stored| {
            let hash = stored.prompt.hash;
            let about = match &stored.parent {
                Some(parent) => format!("prompt {hash}, made from {parent}"),
                None => format!("prompt {hash}"),
            };
            let event = FeatureEvent {
                name: "prompt",
                who: stored.author,
                note: stored.note,
                about: Some(about),
                ..FeatureEvent::default()
            };
            LogEntry {
                when_ms: stored.created_ms,
                uid: format!("prompt:{hash}"),
                event: LogEvent::Feature(Box::new(event)),
            }
        })
        .collect();
    entries.extend(db.prompt_looks()?.into_iter().map(|look| {
        let about = format!(
            "{} with prompt {} on {} held out, p = {}",
            look.judge,
            look.hash,
            counted(look.pairs, "pair"),
            p_words(look.p)
        );
        let event = FeatureEvent {
            name: "look",
            who: Some(look.author),
            about: Some(about),
            ..FeatureEvent::default()
        };
        LogEntry {
            when_ms: look.created_ms,
            uid: look.uid,
            event: LogEvent::Feature(Box::new(event)),
        }
    }));
    Ok(entries)
}
