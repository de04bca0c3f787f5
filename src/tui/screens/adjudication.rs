//! Adjudication: judges' picks against the benchmark's labels, and what is to be ruled on.

mod tables;
pub(crate) mod update;
mod view;

use super::spec::{Find, ScreenSpec};
use crate::tui::message::Effect;
use crate::tui::requests;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "adjudication",
    returned: requests::disagreements,
    find: Find::Rows(|model| {
        let screen = &mut model.adjudication;
        (&mut screen.cursor, &mut screen.filter)
    }),
    undo: || Effect::UndoRuling,
    copy: update::copy,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
pub(in crate::tui::screens) mod tests;
