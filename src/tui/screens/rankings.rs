//! Two rankings of one query side by side: the baseline's and a method's.

pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "rerankers",
    ..ScreenSpec::new(view::view, update::update)
};
