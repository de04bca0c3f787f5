//! Ruling screen: a document on which pick and label disagree, blind first, then with label and
//! picks visible.

pub(crate) mod jobs;
mod panel;
pub(crate) mod update;
mod view;

use super::spec::{Find, ScreenSpec, Undoable};
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "adjudication",
    find: Find::Texts(update::texts),
    reveal: update::reveal,
    obstacle: update::obstacle,
    offers: update::offers,
    leave: update::leave,
    closed: update::close,
    reason: update::note,
    undoes: Undoable::Ruling,
    copy: update::copy,
    exports: ExportSubject::Labels,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
pub(crate) mod tests;
