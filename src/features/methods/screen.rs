//! Methods screen: compares the quality and cost of reranking methods, and where each wins and
//! loses.

mod jobs;
mod plane;
pub mod state;
mod table;
pub(crate) mod update;
mod view;

use crate::tui::screens::spec::ScreenSpec;

pub(crate) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "rerankers",
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};
