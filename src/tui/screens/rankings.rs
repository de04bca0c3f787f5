//! Rankings screen: the baseline's and a method's ranking of one query side by side.

pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "rerankers",
    ..ScreenSpec::new(view::view, update::update)
};
