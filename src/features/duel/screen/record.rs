//! Writes a person's actions to disk immediately, and shows them as stored once they are.

use super::summary;
use crate::features::duel::domain::{Action, DuelEvent, TaskKey};
use crate::features::duel::store::NewDuelEvent;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::widgets::toast::Level;

/// Sends an action in the current task to the disk.
pub(crate) fn record(model: &mut Model, action: Action) -> Vec<Effect> {
    let serial = model.duel().serial + 1;
    let Some(open) = model.duel_mut().open_mut() else {
        return Vec::new();
    };
    let Some(TaskKey { kind, query }) = open.current().map(|task| task.key.clone()) else {
        return Vec::new();
    };
    if action.decides() {
        open.undone.clear();
    }
    let new = NewDuelEvent {
        annotator: open.session.annotator.clone(),
        kind,
        query,
        action,
        active_ms: open.clock.take(),
        created_ms: 0,
    };
    open.pending.push((
        serial,
        DuelEvent {
            // Greater than all identifiers assigned by the store.
            uid: format!("~{serial:020}"),
            participant: new.annotator.clone(),
            kind: new.kind,
            query: new.query.clone(),
            action: new.action.clone(),
            active_ms: new.active_ms,
            created_ms: new.created_ms,
        },
    ));
    open.refresh();
    let key = open.session.key;
    model.duel_mut().serial = serial;
    vec![model.store_duel_event(key, serial, new)]
}

/// An event is on disk.
pub(crate) fn recorded(model: &mut Model, serial: u64, event: DuelEvent) {
    let Some(open) = model.duel_mut().open_mut() else {
        return;
    };
    let Some(at) = open.pending.iter().position(|(known, _)| *known == serial) else {
        return;
    };
    open.pending.remove(at);
    if let Action::Undo { of } = &event.action {
        let mut known = open.session.events.iter();
        let undo = |known: &&DuelEvent| known.uid == *of;
        if known.find(undo).is_some_and(|known| known.action.decides()) {
            open.undone.push(event.uid.clone())
        } else {
            open.undone.retain(|uid| uid != of)
        }
    }
    let finished = event.action == Action::Finish;
    let events = &mut open.session.events;
    let place = events.partition_point(|known| known.uid < event.uid);
    events.insert(place, event);
    open.refresh();
    if finished && open.all_done() {
        summary::show(model);
    }
}

/// An event could not be stored, so it is no longer shown.
pub(crate) fn not_recorded(model: &mut Model, serial: u64, error: &str) {
    if let Some(open) = model.duel_mut().open_mut() {
        open.pending.retain(|(known, _)| *known != serial);
        open.refresh();
    }
    model.say(Level::Error, &format!("this was not stored: {error}"));
}
