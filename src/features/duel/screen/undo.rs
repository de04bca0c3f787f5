//! Undo and redo of answers, one at a time.

use super::moving::show_task;
use super::record::record;
use crate::features::duel::domain::Action;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::decisions::Decisions;
use crate::tui::widgets::toast::Level;

/// Whether nothing can be undone now because the duel is paused or something is being written;
/// reports that.
fn waits(model: &mut Model) -> bool {
    let open = model.duel().open();
    if open.is_some_and(|open| open.paused) {
        model.inform("the duel is paused");
        return true;
    }
    let waits = open.is_some_and(|open| !open.pending.is_empty());
    if waits {
        model.inform("the last answer is still being stored; press the key again");
    }
    waits
}

/// Answers in a duel.
pub(crate) struct Answers;

impl Decisions for Answers {
    fn undo(&self, model: &mut Model) -> Vec<Effect> {
        undo(model)
    }

    fn redo(&self, model: &mut Model) -> Vec<Effect> {
        redo(model)
    }

    fn can_undo(&self, model: &Model) -> bool {
        let duel = model.duel().open();
        duel.is_some_and(|duel| !duel.session.events.is_empty() || !duel.pending.is_empty())
    }

    fn can_redo(&self, model: &Model) -> bool {
        let duel = model.duel().open();
        duel.is_some_and(|duel| !duel.undone.is_empty())
    }
}

/// Undoes the latest answer and shows its task.
fn undo(model: &mut Model) -> Vec<Effect> {
    if waits(model) {
        return Vec::new();
    }
    let last = model.duel().open().and_then(|open| open.last_decision());
    let Some(last) = last.cloned() else {
        model.inform("no answer of yours to undo");
        return Vec::new();
    };
    let mut effects = show_task(model, &last.task());
    effects.extend(record(
        model,
        Action::Undo {
            of: last.uid.clone(),
        },
    ));
    model.say(Level::Good, &format!("undone: {}", words(&last.action)));
    effects
}

/// Redoes the answer that was undone last.
fn redo(model: &mut Model) -> Vec<Effect> {
    if waits(model) {
        return Vec::new();
    }
    let found = model.duel().open().and_then(|open| {
        let last = open.undone.last()?;
        let undo = open
            .session
            .events
            .iter()
            .find(|event| event.uid == *last)?;
        let Action::Undo { of } = &undo.action else {
            return None;
        };
        let first = open.session.events.iter().find(|event| event.uid == *of)?;
        Some((undo.clone(), first.clone()))
    });
    let Some((undo, first)) = found else {
        model.inform("nothing to redo");
        return Vec::new();
    };
    let mut effects = show_task(model, &undo.task());
    effects.extend(record(model, Action::Undo { of: undo.uid }));
    model.say(Level::Good, &format!("redone: {}", words(&first.action)));
    effects
}

fn words(action: &Action) -> &'static str {
    match action {
        Action::Select { .. } => "a choice",
        Action::Unselect { .. } => "the removal of a choice",
        Action::NoneServes => "the answer that none serves",
        Action::Prefer { .. } => "a preference",
        Action::Finish => "that the task is done",
        Action::Open { .. }
        | Action::Close { .. }
        | Action::Leave
        | Action::Reveal
        | Action::Undo { .. } => "nothing",
    }
}
