//! Undo and redo of a person's decisions, by kind.

use crate::app::review::undo::UndoLimit;
use crate::tui::message::Effect;
use crate::tui::model::Model;

/// Decisions of one kind.
pub(crate) trait Decisions {
    /// Undoes the person's latest decision.
    fn undo(&self, model: &mut Model) -> Vec<Effect>;

    /// Redoes the decision that was undone last.
    fn redo(&self, model: &mut Model) -> Vec<Effect>;

    /// Whether the project may contain one that an undo can remove.
    fn can_undo(&self, model: &Model) -> bool;

    fn can_redo(&self, model: &Model) -> bool;
}

/// Verdicts on battles.
pub(crate) struct Verdicts;

impl Decisions for Verdicts {
    fn undo(&self, model: &mut Model) -> Vec<Effect> {
        let limit = limit(model);
        vec![model.undo_verdict(limit)]
    }

    fn redo(&self, model: &mut Model) -> Vec<Effect> {
        match model.undone_verdicts.pop() {
            Some(uid) => vec![model.redo_verdict(uid)],
            None => nothing_to_redo(model),
        }
    }

    /// Also true while a query has no counts yet.
    fn can_undo(&self, model: &Model) -> bool {
        let totals = model.queries.totals();
        totals.verdicts > 0 || totals.counted < model.queries.rows().len()
    }

    fn can_redo(&self, model: &Model) -> bool {
        !model.undone_verdicts.is_empty()
    }
}

/// Rulings on documents.
pub(crate) struct Rulings;

impl Decisions for Rulings {
    fn undo(&self, model: &mut Model) -> Vec<Effect> {
        let limit = limit(model);
        vec![model.undo_ruling(limit)]
    }

    fn redo(&self, model: &mut Model) -> Vec<Effect> {
        match model.undone_rulings.pop() {
            Some(uid) => vec![model.redo_ruling(uid)],
            None => nothing_to_redo(model),
        }
    }

    fn can_undo(&self, model: &Model) -> bool {
        let overview = model.adjudication.overview.as_ref();
        let ruled = overview.is_some_and(|overview| overview.ruled > 0);
        ruled || !model.adjudication.ruled_since.is_empty()
    }

    fn can_redo(&self, model: &Model) -> bool {
        !model.undone_rulings.is_empty()
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

fn nothing_to_redo(model: &mut Model) -> Vec<Effect> {
    model.inform("nothing to redo");
    Vec::new()
}
