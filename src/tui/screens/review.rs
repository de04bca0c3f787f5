//! Review screen: a pair is judged blind first, then again with everything visible.

pub(crate) mod panel;
mod session;
pub(crate) mod update;
pub(crate) mod view;

use super::battle;
use super::spec::{Find, ScreenSpec};
use crate::tui::requests;
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "review",
    loaded: |model| {
        update::ready(model);
        update::reapply(model);
        requests::pair(model)
    },
    find: Find::Texts(battle::update::texts),
    reveal: battle::update::reveal,
    obstacle: update::obstacle,
    offers: update::offers,
    leave: update::leave,
    closed: update::close,
    reason: update::note,
    copy: update::copy,
    exports: ExportSubject::Verdicts,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
pub(crate) mod tests;
