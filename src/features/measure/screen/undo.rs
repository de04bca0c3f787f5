//! Undoes and redoes rulings on drawn documents.

use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::decisions::{Decisions, Rulings};

/// Rulings, after which the measurement is read again.
pub(super) struct MeasureRulings;

impl Decisions for MeasureRulings {
    fn undo(&self, model: &mut Model) -> Vec<Effect> {
        let mut effects = Rulings.undo(model);
        effects.push(model.read_measurement());
        effects
    }

    fn redo(&self, model: &mut Model) -> Vec<Effect> {
        let mut effects = Rulings.redo(model);
        effects.push(model.read_measurement());
        effects
    }

    fn can_undo(&self, model: &Model) -> bool {
        let ruled = model
            .measure()
            .report()
            .is_some_and(|report| report.ruled > 0);
        ruled || Rulings.can_undo(model)
    }

    fn can_redo(&self, model: &Model) -> bool {
        Rulings.can_redo(model)
    }
}
