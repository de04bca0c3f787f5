//! Judges screen: the quality of each judge, and the agreement between them.

mod details;
mod jobs;
mod kappas;
mod table;
pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "judge-report",
    offers: update::offers,
    exports: ExportSubject::Votes,
    ..ScreenSpec::new(view::view, update::update)
};
