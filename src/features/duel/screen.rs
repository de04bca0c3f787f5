//! Duel screen: documents of two rankings, or both rankings, for a person who does not know which
//! is which.

pub(crate) mod choice;
pub(crate) mod chooser;
mod grid;
mod jobs;
mod lists;
pub(crate) mod moving;
pub(crate) mod record;
pub mod state;
mod summary;
mod tasks;
pub(crate) mod undo;
pub(crate) mod update;
pub(crate) mod view;

use crate::tui::screens::spec::{Copied, ScreenSpec, Undoable};

pub(crate) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "duel",
    returned: update::returned,
    leave: update::leave,
    closed: update::closed,
    closes: update::closes,
    obstacle: update::obstacle,
    offers: update::offers,
    labels: update::labels,
    undoes: Undoable::Duel,
    copy: |_| Copied::Hidden,
    click: update::click,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
pub(crate) mod tests;
