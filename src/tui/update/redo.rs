//! What was decided last is taken back; what was taken back can be given again, until something else is decided.

use crate::app::review::undo::UndoLimit;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::duel;
use crate::tui::screens::registry::spec;
use crate::tui::screens::spec::Undoable;

/// Takes back what the person decided last, of what the screen is about.
pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    match spec(model.screen()).undoes {
        Undoable::Verdict => vec![Effect::Undo(limit(model))],
        Undoable::Ruling => vec![Effect::UndoRuling(limit(model))],
        Undoable::Duel => duel::undo::undo(model),
    }
}

/// What was given since the workbench was opened, and what was named when the key was pressed.
fn limit(model: &mut Model) -> UndoLimit {
    UndoLimit {
        since_ms: model.options.opened_ms,
        named: model.undo_named.take(),
    }
}

/// What was taken back, the latest last, of what the screen is about.
pub(super) fn stack(model: &Model) -> &[String] {
    match spec(model.screen()).undoes {
        Undoable::Verdict => &model.undone_verdicts,
        Undoable::Ruling => &model.undone_rulings,
        Undoable::Duel => model.duel.open().map_or(&[], |open| &open.undone),
    }
}

pub(super) fn redo(model: &mut Model) -> Vec<Effect> {
    let last = match spec(model.screen()).undoes {
        Undoable::Verdict => model.undone_verdicts.pop().map(Effect::Redo),
        Undoable::Ruling => model.undone_rulings.pop().map(Effect::RedoRuling),
        Undoable::Duel => return duel::undo::redo(model),
    };
    match last {
        Some(effect) => vec![effect],
        None => {
            model.inform("nothing to redo");
            Vec::new()
        }
    }
}

/// A new decision ends what could be given again.
pub(super) fn forget(model: &mut Model, effects: &[Effect]) {
    if effects
        .iter()
        .any(|effect| matches!(effect, Effect::Save(_)))
    {
        model.undone_verdicts.clear();
    }
    if effects
        .iter()
        .any(|effect| matches!(effect, Effect::Rule(_)))
    {
        model.undone_rulings.clear();
    }
}
