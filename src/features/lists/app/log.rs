//! List calls in the audit log.

use super::answered::PROBE;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::text_format::counted;
use crate::features::lists::store::StoredCounting;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::BTreeMap;

/// The rounds in which list calls were planned, for one query or all. All lists of one judge,
/// plan and round of a query are one entry. Also the decisions on whether list calls count.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let query = query.map(|key| db.query(key)).transpose()?;
    let mut rounds: BTreeMap<_, (usize, i64, String)> = BTreeMap::new();
    for list in db.list_calls(query.as_ref().map(|query| &query.id))? {
        let place = (
            list.query.as_str().to_owned(),
            list.judge,
            list.plan,
            list.round,
        );
        let round = rounds
            .entry(place)
            .or_insert((0, list.created_ms, list.uid));
        round.0 += 1;
    }
    let entries = rounds
        .into_iter()
        .map(|((query, judge, plan, round), (lists, when_ms, uid))| {
            let what = if plan == PROBE { "probe" } else { "list call" };
            let lists = counted(lists, what);
            let event = FeatureEvent {
                name: "lists",
                who: Some(judge),
                query: Some(query.clone()),
                about: Some(format!("{lists} of round {} about {query}", round + 1)),
                ..FeatureEvent::default()
            };
            LogEntry {
                when_ms,
                uid: format!("lists:{uid}"),
                event: LogEvent::Feature(Box::new(event)),
            }
        });
    let mut entries: Vec<LogEntry> = entries.collect();
    if query.is_none() {
        entries.extend(db.list_countings()?.into_iter().map(counting_entry));
    }
    Ok(entries)
}

fn counting_entry(of: StoredCounting) -> LogEntry {
    let about = of.model.map_or_else(
        || "list calls do not count in scores".to_owned(),
        |model| format!("list calls count in scores: {}", model.words()),
    );
    let event = FeatureEvent {
        name: "lists",
        who: Some(of.author),
        about: Some(about),
        ..FeatureEvent::default()
    };
    LogEntry {
        when_ms: of.created_ms,
        uid: format!("lists:{}", of.uid),
        event: LogEvent::Feature(Box::new(event)),
    }
}
