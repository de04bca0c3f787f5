//! State of the slices: the fields of the open query, and the slices by the chosen one.

use crate::app::slices::{by_field, fields};
use crate::domain::ranking::Slice;
use crate::tui::model::Model;

#[derive(Debug, Default)]
pub(crate) struct SlicesState {
    /// The chosen field; it stays chosen for other queries that have it.
    pub(super) field: String,
    /// All fields of the open query.
    pub(super) fields: Vec<String>,
    pub(super) slices: Vec<Slice>,
    pub(super) cursor: usize,
}

impl SlicesState {
    pub(super) fn selected(&self) -> Option<&Slice> {
        let last = self.slices.len().checked_sub(1)?;
        self.slices.get(self.cursor.min(last))
    }
}

impl Model {
    pub(super) fn slices(&self) -> &SlicesState {
        self.state()
    }

    pub(super) fn slices_mut(&mut self) -> &mut SlicesState {
        self.state_mut()
    }
}

/// Computes the slices of the open query by the chosen field or, if it has no such field, by its
/// first one.
pub(super) fn compute(model: &mut Model) {
    let Some(open) = &model.open else {
        return;
    };
    let fields = fields(&open.documents);
    let wanted = &model.slices().field;
    let field = if fields.contains(wanted) {
        wanted.clone()
    } else {
        fields.first().cloned().unwrap_or_default()
    };
    let slices = if fields.is_empty() {
        Vec::new()
    } else {
        by_field(&open.view, &open.documents, &field, open.top())
    };
    let state = model.slices_mut();
    (state.field, state.fields, state.slices) = (field, fields, slices);
}
