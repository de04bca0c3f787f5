//! Battle screen: two documents side by side, the judges' reasoning, and the person's verdict.

pub(crate) mod calls;
mod judges;
pub(crate) mod numbers;
pub(crate) mod panel;
mod rank_changes;
pub(crate) mod texts;
pub(crate) mod update;
pub(crate) mod verdict;
pub(crate) mod view;

use super::spec::{Find, ScreenSpec};
use crate::tui::requests;
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "review",
    crumb: Some(|model, open| {
        let (a, b) = (open.name(model.battle.a), open.name(model.battle.b));
        format!("{a} × {b}")
    }),
    loaded: requests::pair,
    find: Find::Texts(update::texts),
    reveal: update::reveal,
    obstacle: update::obstacle,
    offers: update::offers,
    reason: verdict::explain,
    copy: update::copy,
    exports: ExportSubject::Verdicts,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
