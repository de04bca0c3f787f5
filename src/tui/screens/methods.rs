//! Methods screen: compares the quality and cost of reranking methods, and where each wins and
//! loses.

mod jobs;
mod plane;
mod table;
pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "rerankers",
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};
