//! Adjudication screen: judges' picks compared with the benchmark's labels, and the items to rule
//! on.

pub(crate) mod jobs;
mod tables;
pub(crate) mod update;
mod view;

use super::spec::{Find, ScreenSpec, Undoable};
use crate::tui::model::Model;
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "adjudication",
    returned: Model::read_overview,
    find: Find::Rows(|model| {
        let screen = &mut model.adjudication;
        (&mut screen.cursor, &mut screen.filter)
    }),
    filtered: update::read_titles,
    undoes: Undoable::Ruling,
    copy: update::copy,
    offers: update::offers,
    exports: ExportSubject::Labels,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
pub(in crate::tui::screens) mod tests;
