//! Undo and redo of decisions; a new decision ends the possibility of redo.

use crate::app::review::undo::UndoLimit;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::duel;
use crate::tui::screens::registry::spec;
use crate::tui::screens::spec::Undoable;

/// Undoes the person's latest decision of the kind that the screen shows.
pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    match spec(model.screen()).undoes {
        Undoable::Verdict => vec![Effect::Undo(limit(model))],
        Undoable::Ruling => vec![Effect::UndoRuling(limit(model))],
        Undoable::Duel => duel::undo::undo(model),
    }
}

/// Limits undo to decisions made since the workbench was opened, plus one that was named at the
/// previous key press.
fn limit(model: &mut Model) -> UndoLimit {
    UndoLimit {
        since_ms: model.options.opened_ms,
        named: model.undo_named.take(),
    }
}

/// Undone decisions of the kind that the screen shows, latest last.
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

/// A new decision clears what could be redone.
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
