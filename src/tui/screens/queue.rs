//! Queue screen: the pairs to judge, in order of priority.

pub(crate) mod jobs;
pub(crate) mod update;
pub(crate) mod view;

use super::spec::{Copied, Find, ScreenSpec};
use crate::tui::widgets::export_dialog::ExportSubject;

/// Maximum number of listed queue items.
const LISTED: usize = 1_000;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "review",
    returned: update::returned,
    find: Find::Rows(|model| (&mut model.queue.cursor, &mut model.queue.filter)),
    filtered: update::filtered,
    copy: |model| match model.open {
        Some(_) => Copied::Hidden,
        None => Copied::SelectedQuery,
    },
    exports: ExportSubject::Verdicts,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
