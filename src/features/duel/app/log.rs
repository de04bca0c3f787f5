//! Duels in the audit log.

use super::words::duel_name;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::features::duel::domain::{Action, DuelEvent};
use crate::features::duel::store::{DuelKey, StoredDuel};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

/// Events of duel participants that may affect the result, in each participant's order, and for the
/// whole project the creation of duels.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let name = query.map(|key| db.query(key)).transpose()?;
    let name = name.map(|info| info.id);
    let mut entries = Vec::new();
    for duel in db.duels()? {
        for act in db.duel_events(duel.key)? {
            if name.as_ref().is_none_or(|name| *name == act.query) {
                entries.extend(acted(duel.key, act));
            }
        }
        if query.is_none() {
            entries.push(made(duel));
        }
    }
    Ok(entries)
}

fn made(stored: StoredDuel) -> LogEntry {
    let event = FeatureEvent {
        name: "duel made",
        about: Some(format!(
            "{}, {}, seed {}",
            duel_name(&stored),
            counted(stored.duel.queries.len(), "query"),
            stored.duel.seed
        )),
        ..FeatureEvent::default()
    };
    LogEntry {
        when_ms: stored.created_ms,
        uid: stored.uid,
        event: LogEvent::Feature(Box::new(event)),
    }
}

/// The entry of a participant's event; `None` if it cannot affect the result.
fn acted(key: DuelKey, act: DuelEvent) -> Option<LogEntry> {
    let mut event = FeatureEvent {
        who: Some(act.participant),
        query: Some(act.query.to_string()),
        role: Some(act.kind.name().to_owned()),
        about: Some(format!("duel {}", key.0)),
        ..FeatureEvent::default()
    };
    event.name = match act.action {
        Action::Select { document, passage } => {
            event.document = document;
            event.note = passage.map(|of| format!("characters {} to {}", of.start, of.end));
            "duel chosen"
        }
        Action::Unselect { document } => {
            event.document = document;
            "duel choice removed"
        }
        Action::NoneServes => "duel none serves",
        Action::Prefer { step } => {
            event.note = Some(format!("step {step}, from -2 (left) to 2 (right)"));
            "duel preference"
        }
        Action::Finish => "duel task done",
        Action::Undo { of } => {
            event.about = Some(of);
            "duel undo"
        }
        Action::Reveal => "duel result seen",
        Action::Open { .. } | Action::Close { .. } | Action::Leave => return None,
    };
    Some(LogEntry {
        when_ms: act.created_ms,
        uid: act.uid,
        event: LogEvent::Feature(Box::new(event)),
    })
}
