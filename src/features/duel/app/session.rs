//! A participant's session in a duel: the tasks, earlier events and new ones.

use crate::domain::corpus::DocId;
use crate::features::duel::domain::{Content, Duel, DuelEvent, Task, schedule};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeMap, BTreeSet};

/// A duel from the point of view of one participant.
#[derive(Clone, Debug)]
pub struct DuelSession {
    pub key: DuelKey,
    pub duel: Duel,
    pub annotator: String,
    /// Number of the participant, from 0.
    pub number: usize,
    /// In presentation order.
    pub tasks: Vec<Task>,
    /// The participant's events, ordered by identifier.
    pub events: Vec<DuelEvent>,
}

/// The texts of a task as stored in the project; sanitize them before display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTexts {
    pub query: String,
    /// Offsets of passages count characters of these texts.
    pub texts: BTreeMap<DocId, String>,
    /// Of documents that have one.
    pub titles: BTreeMap<DocId, String>,
}

/// Lets a participant join a duel, by default the latest, or resume it; `None` if the project has
/// no duel.
///
/// # Errors
/// The duel does not exist, or the participant is new and the project is read-only.
pub fn open_duel(
    db: &Db,
    key: Option<DuelKey>,
    annotator: &str,
    now_ms: i64,
) -> Result<Option<DuelSession>> {
    let Some(key) = key.map_or_else(|| db.latest_duel(), |key| Ok(Some(key)))? else {
        return Ok(None);
    };
    let duel = db.duel(key)?.duel;
    let number = db.join_duel(key, annotator, now_ms)?;
    let events = db.duel_events_by_participant(key)?.remove(annotator);
    Ok(Some(DuelSession {
        tasks: schedule(&duel, number),
        key,
        duel,
        annotator: annotator.to_owned(),
        number,
        events: events.unwrap_or_default(),
    }))
}

/// The texts of everything that a task shows.
pub fn task_texts(db: &Db, task: &Task) -> Result<TaskTexts> {
    let query = db.find_query(task.key.query.as_str())?;
    let wanted: BTreeSet<DocId> = match &task.content {
        Content::Places(places) => places
            .iter()
            .filter_map(|place| place.document.clone())
            .collect(),
        Content::Lists { lists, .. } => lists.iter().flatten().cloned().collect(),
    };
    texts_of(db, query, &wanted)
}

/// The texts of some documents of a query.
fn texts_of(db: &Db, query: QueryKey, wanted: &BTreeSet<DocId>) -> Result<TaskTexts> {
    let mut texts = TaskTexts {
        query: db.query(query)?.text,
        ..TaskTexts::default()
    };
    for (position, document) in db.documents(query)?.into_iter().enumerate() {
        if wanted.contains(&document.id) {
            let text = db.document_text(query, position)?.to_string();
            texts.texts.insert(document.id.clone(), text);
            let title = document.title.map(|title| (document.id, title));
            texts.titles.extend(title);
        }
    }
    Ok(texts)
}

/// Stores an event of a participant and returns the stored form.
pub fn record(db: &Db, key: DuelKey, new: NewDuelEvent) -> Result<DuelEvent> {
    let uid = db.add_duel_event(key, &new)?;
    Ok(DuelEvent {
        uid,
        participant: new.annotator,
        kind: new.kind,
        query: new.query,
        action: new.action,
        active_ms: new.active_ms,
        created_ms: new.created_ms,
    })
}
