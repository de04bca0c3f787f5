//! The pair of documents on screen.

use super::{Model, cycles};
use crate::tui::screens::Screen;

impl Model {
    /// The two documents that the topmost screen is about, A first; on the diagonal of the matrix,
    /// they are the same.
    pub(crate) fn pair_on_screen(&self) -> Option<(usize, usize)> {
        let open = self.open.as_ref()?;
        match self.screen() {
            Screen::Matrix => {
                let order = self.matrix_order();
                let (row, column) = self.matrix.heat.clamped(order.len());
                Some((*order.get(row)?, *order.get(column)?))
            }
            Screen::Comparison => Some((self.comparison.a, self.comparison.b)),
            Screen::Battle => Some((self.battle.a, self.battle.b)),
            Screen::Cycles => {
                let rows = cycles::rows(open);
                let at = self.cycles.cursor.min(rows.len().checked_sub(1)?);
                Some(rows.get(at)?.weakest())
            }
            _ => None,
        }
    }
}
