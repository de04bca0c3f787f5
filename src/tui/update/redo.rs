//! What was taken back can be given again, until something else is decided.

use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::registry::spec;

/// Verdicts or rulings that were taken back, the latest last, as the screen has them.
pub(super) fn stack(model: &Model) -> &Vec<String> {
    match (spec(model.screen()).undo)() {
        Effect::UndoRuling => &model.undone_rulings,
        _ => &model.undone_verdicts,
    }
}

pub(super) fn redo(model: &mut Model) -> Vec<Effect> {
    let rulings = (spec(model.screen()).undo)() == Effect::UndoRuling;
    let last = match rulings {
        true => model.undone_rulings.pop(),
        false => model.undone_verdicts.pop(),
    };
    match (last, rulings) {
        (Some(uid), true) => vec![Effect::RedoRuling(uid)],
        (Some(uid), false) => vec![Effect::Redo(uid)],
        (None, _) => {
            model.inform("nothing was taken back that could be given again");
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
