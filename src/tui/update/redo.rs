//! Undo and redo of decisions.

use crate::app::review::undo::UndoLimit;
use crate::features::duel::screen as duel;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::registry::spec;
use crate::tui::screens::spec::Undoable;

/// Undoes the person's latest decision of the kind that the screen shows.
pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    match spec(model.screen()).undoes {
        Undoable::Verdict => {
            let limit = limit(model);
            vec![model.undo_verdict(limit)]
        }
        Undoable::Ruling => {
            let limit = limit(model);
            vec![model.undo_ruling(limit)]
        }
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
    let redone = match spec(model.screen()).undoes {
        Undoable::Verdict => {
            let last = model.undone_verdicts.pop();
            last.map(|uid| model.redo_verdict(uid))
        }
        Undoable::Ruling => {
            let last = model.undone_rulings.pop();
            last.map(|uid| model.redo_ruling(uid))
        }
        Undoable::Duel => return duel::undo::redo(model),
    };
    if redone.is_none() {
        model.inform("nothing to redo");
    }
    redone.into_iter().collect()
}
