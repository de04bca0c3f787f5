//! Run screen: progress, cost and controls of the current run.

pub(crate) mod ask_pair;
pub(crate) mod begin;
mod failures;
mod judge_table;
mod last;
mod questions;
pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;
use crate::tui::widgets::export_dialog::ExportSubject;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "providers",
    offers: update::offers,
    exports: ExportSubject::Votes,
    labels: |model| {
        if model.run.running {
            &[("start", "resume")]
        } else {
            &[]
        }
    },
    ..ScreenSpec::new(view::view, update::update)
};
