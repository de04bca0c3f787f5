//! State of the two orders: the order in which the cursor moves. The cursor is that of the matrix.

use crate::domain::ranking::{DocumentOrder, OrderComparison};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;

#[derive(Debug, Default)]
pub(crate) struct TwoOrdersState {
    /// The order of the list, in which the cursor moves.
    pub(super) order: DocumentOrder,
    /// Whether a narrow screen shows a matrix instead of the list.
    pub(super) shows_matrix: bool,
}

impl Model {
    pub(super) fn two_orders(&self) -> &TwoOrdersState {
        self.state()
    }

    pub(super) fn two_orders_mut(&mut self) -> &mut TwoOrdersState {
        self.state_mut()
    }
}

pub(super) fn is_scored(open: &OpenQuery) -> bool {
    open.view
        .entered()
        .first()
        .is_some_and(|document| open.standing(*document).is_some())
}

pub(super) fn comparison(open: &OpenQuery) -> Option<OrderComparison> {
    OrderComparison::of(&open.view, open.top())
}
