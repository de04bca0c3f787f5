//! The data of the selected query: read ahead when the cursor is on it, so that its matrix also
//! opens at once.

use crate::store::corpus::QueryKey;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;

/// A query, if it has been read.
pub(super) fn read_already(model: &Model, key: QueryKey) -> Option<&OpenQuery> {
    [&model.open, &model.prefetched]
        .into_iter()
        .flatten()
        .find(|open| open.info.key == key)
}

/// Reads the selected query unless it is known.
pub(super) fn read(model: &mut Model) -> Vec<Effect> {
    if model.screen() != Screen::QUERIES {
        return Vec::new();
    }
    let selected = model.queries.selected().map(|(info, _)| info.key);
    match selected {
        Some(key) if read_already(model, key).is_none() => vec![model.prefetch(key, Vec::new())],
        _ => Vec::new(),
    }
}

/// Reads it again, because the numbers may have changed.
pub(super) fn read_anew(model: &mut Model) -> Vec<Effect> {
    if model.screen() == Screen::QUERIES {
        model.forget_prefetched();
    }
    read(model)
}
