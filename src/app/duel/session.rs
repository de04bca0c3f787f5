//! One participant at a duel: the tasks, what was done so far, and what is done now.

use crate::domain::corpus::DocId;
use crate::domain::duel::{Content, Duel, DuelEvent, Task, schedule};
use crate::store::corpus::QueryKey;
use crate::store::duels::{DuelKey, NewDuelEvent};
use crate::store::{Db, Result};
use std::collections::{BTreeMap, BTreeSet};

/// A duel as one participant has it.
#[derive(Clone, Debug)]
pub struct DuelSession {
    pub key: DuelKey,
    pub duel: Duel,
    pub annotator: String,
    /// The participant's number, from 0.
    pub number: usize,
    /// In the order in which they are offered.
    pub tasks: Vec<Task>,
    /// What the participant did, in the order of the identifiers.
    pub events: Vec<DuelEvent>,
}

/// The texts of a task, as the project holds them: to be sanitised before they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTexts {
    pub query: String,
    /// Passages are counted in the characters of these.
    pub texts: BTreeMap<DocId, String>,
    /// Of documents that have one.
    pub titles: BTreeMap<DocId, String>,
}

/// Has a participant begin a duel, the latest by default, or go on with it; `None` where the project has no duel.
///
/// # Errors
/// The duel is not there, or the participant is new and the project cannot be written.
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
        Content::Places(places) => {
            let documents = places.iter().filter_map(|place| place.document.clone());
            documents.collect()
        }
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

/// Stores what a participant did, and returns it as it is stored.
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
