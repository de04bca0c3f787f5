//! The data of the selected query: read ahead when the cursor is on it, so that its matrix also
//! opens at once.

use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;

/// The selected query, if it has been read.
pub(super) fn selected(model: &Model) -> Option<&OpenQuery> {
    let (info, _) = model.queries.selected()?;
    [&model.open, &model.prefetched]
        .into_iter()
        .flatten()
        .find(|open| open.info.key == info.key)
}

/// Reads the selected query unless it is known.
pub(super) fn read(model: &mut Model) -> Vec<Effect> {
    if model.screen() != Screen::QUERIES || selected(model).is_some() {
        return Vec::new();
    }
    let selected = model.queries.selected().map(|(info, _)| info.key);
    selected
        .map(|key| model.prefetch(key, Vec::new()))
        .into_iter()
        .collect()
}

/// Reads it again, because the numbers may have changed.
pub(super) fn read_anew(model: &mut Model) -> Vec<Effect> {
    if model.screen() == Screen::QUERIES {
        model.forget_prefetched();
    }
    read(model)
}
